"""What was used and what it cost, as people read it."""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _

from orders.prose import aside

MICRO: Final = 1_000_000
# The name under which the stand-in answers, whatever model it was asked for.
OFFLINE_SCRIPT: Final = "offline-script"


def dollars(micro: int) -> str:
    """Millionths of a US dollar as people read them: US$0.0042, to a hundredth of a cent, rounded up.

    What has cost something never reads as nothing.
    """
    hundredths_of_a_cent = -(-micro * 10_000 // MICRO)
    return f"US${hundredths_of_a_cent // 10_000}.{hundredths_of_a_cent % 10_000:04}"


def cost_words(micro: int, models: Iterable[str]) -> str:
    """What these models' answers have cost, by the price table; of a script, that nobody is charged. Empty: nothing."""
    if not micro:
        return ""
    return aside(dollars(micro), _("a script, not charged") if OFFLINE_SCRIPT in models else "")


def model_words(model: str) -> str:
    return aside(model, _("a script, no model") if model == OFFLINE_SCRIPT else "")


def cached_share(*, afresh: int, cached: int) -> str:
    """How much of what the model read came from its cache: 83%. `afresh` is all the rest. Empty: it read nothing."""
    read = afresh + cached
    return f"{cached * 100 // read}%" if read else ""
