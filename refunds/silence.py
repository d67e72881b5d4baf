"""Rounds of work at payment providers: one that does not answer is soon left alone, and the others come first.

Each silence costs a whole time-out, and whatever comes after it waits for so long.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import structlog

from refunds import outcome
from refunds.models import GatewayAttempt
from refunds.states import AttemptOutcome

log = structlog.get_logger(__name__)
# A provider that was silent so often is left alone until the next round.
SILENCES_PER_ROUND: Final = 3


def in_turn(work: Mapping[str, Iterable[Callable[[], bool]]]) -> None:
    """Do what is to be done at each provider, in its order. A step says whether the provider was heard in time.

    Providers that have been silent least often in this round come first, and among those the ones whose earlier calls
    have an outcome. Each provider's steps are taken from `work` one by one, so they may be found on the way.
    """
    steps = {provider: iter(each) for provider, each in work.items()}
    owing, silences = _owing(), Counter[str]()
    while steps:
        provider = min(steps, key=lambda name: (silences[name], name in owing))
        step = next(steps[provider], None)
        if step is None:
            del steps[provider]
        elif not step():
            silences[provider] += 1
            if silences[provider] >= SILENCES_PER_ROUND:
                log.warning("provider.silent", provider=provider)
                del steps[provider]


def _owing() -> set[str]:
    """The providers that have not answered a call, nor said since what became of it. Pending is an answer."""
    unheard = GatewayAttempt.objects.filter(outcome=AttemptOutcome.UNKNOWN).exclude(code=outcome.PENDING)
    return set(unheard.values_list("provider", flat=True).distinct())
