"""What the customer was told, checked without a judge: every amount is one that stands in the rows, nothing is claimed
that no row bears out, and where an amount is called a refund it is one that was quoted, refunded or promised.
"""

import re
from collections.abc import Iterable
from typing import Final

from agent import claims
from agent.claim_text import amounts_in, smoothed
from agent.deeds import CANCEL, EXCHANGE, HAND_OFF, REFUND, RESEND, RETURN
from backoffice.evals.seen import Seen
from backoffice.evals.verdict_words import Sentence, sentence

# “退款 NT$344”, “a refund of NT$344”: the amount is what is given back. TWD has no decimals.
_GIVEN_BACK: Final = re.compile(
    r"(?:退款金額|退款|退還|退回|退給您|退您|可退|共退)[為是共約會給您到:：\s]{0,6}nt\$\s*(\d+)"
    r"|refund(?:ed)?(?: you| amount)?(?: of| is| will be| comes to|:)?\s*nt\$\s*(\d+)"
)
_DENIED: Final = re.compile(r"(?:不能|無法|不會|沒辦法)[^,。]{0,6}$|(?:cannot|can't|won't|not)[^,.]{0,12}$")


def faults(
    words: Iterable[str], seen: Seen, *, said: Iterable[str] = (), allowed: Iterable[int] = ()
) -> list[Sentence]:
    """What was told and is not so. `said`: the customer's own words, which may be repeated.

    `allowed`: further amounts that are right here.
    """
    words = list(words)
    right = seen.quoted | frozenset(allowed)
    named = {int(each) for text in said for each in amounts_in(smoothed(text)) if each == int(each)}
    found: list[Sentence] = []
    for text in words:
        plain = smoothed(text)
        known = right | seen.facts | named
        found += [sentence("names_amount", amount=str(each)) for each in sorted(amounts_in(plain)) if each not in known]
        found += [sentence("calls_it_a_refund", amount=each) for each in _called_refunds(plain) if each not in right]
        found += _claimed(text, seen)
    return [each for place, each in enumerate(found) if each not in found[:place]]


def _called_refunds(plain: str) -> list[int]:
    return [
        int(match[1] or match[2]) for match in _GIVEN_BACK.finditer(plain) if not _DENIED.search(plain[: match.start()])
    ]


def _claimed(text: str, seen: Seen) -> list[Sentence]:
    """What the text says has been done, of which the rows know nothing: new ones, or those from before the talk."""
    done = {
        REFUND: bool(seen.refunds or seen.returns or seen.earlier),
        CANCEL: bool(seen.refunds or seen.loose or seen.earlier),
        RETURN: bool(seen.returns or seen.exchanges or seen.earlier),
        EXCHANGE: bool(seen.exchanges or seen.resent or seen.earlier),
        RESEND: bool(seen.resent or seen.exchanges or seen.earlier),
        HAND_OFF: seen.person or bool(seen.proposals),
    }
    return [
        sentence("claims", words=claim.words[:60])
        for claim in claims.claims_in(text)
        if not claim.number and not done.get(claim.kind, True)
    ]
