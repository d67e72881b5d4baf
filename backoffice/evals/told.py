"""What the customer was told, checked without a judge: every amount is one that stands in the rows, nothing is claimed
that no row bears out, and where an amount is called a refund it is one that was quoted, refunded or promised.
"""

import re
from collections.abc import Iterable
from typing import Final

from agent import claims
from agent.claim_text import amounts_in, smoothed
from agent.deeds import CANCEL, EXCHANGE, HAND_OFF, REFUND, RESEND, RETURN, Reach
from backoffice.evals.seen import Seen
from backoffice.evals.verdict_words import Sentence, sentence

# However an amount is written, TWD has no decimals: “380 元”, “新台幣 380 元”, “$380”, “TWD 380”.
_MONEY: Final = re.compile(
    r"(?:nt\s?\$|(?<![a-z¥])\$|新?[台臺]幣|ntd|twd)[ \t:]*(\d+)(?!\d*\.\d)(?:[ \t]*(?:元|塊錢?|圓|ntd|twd))?"
    r"|(?<![\d.$])(\d+)[ \t]*(?:元|塊錢?|圓|ntd|twd|dollars)"
)
# “rf_7jvtwd83kge5” names no TWD 83.
_NUMBER: Final = re.compile(r"\b[a-z]{1,8}_[a-z0-9]{4,}", re.IGNORECASE)
# “退款 NT$344”, “a refund of NT$344”: the amount that is given back stands behind the word…
_WORD_FIRST: Final = re.compile(
    r"(?:退款|退還|退回|退給|退到|退您|退你|退費|可退|應退|共退|全退|拿回|退(?=[ \t]*nt\$))"
    r"(?:金額|總額|總計|合計|全額|款項|[為是共約會給您你到:=的了 \t]){0,6}nt\$(\d+)"
    r"|(?:退款|退還)(?:金額|總額)[為是共約:= \t]{0,4}(\d{2,})(?!\d*[件個雙年月日/-])"
    r"|\brefund(?:s|ed|ing)?\b"
    r"(?: (?:you|to you|amount|total|comes?|is|of|for you|will|would|be|to|exactly|a|back|due))*"
    r"[ \t]?[:=]?[ \t]?nt\$(\d+)"
    r"|\b(?:get|pay|give|receive|credit|return)(?: you)?(?: back)? nt\$(\d+)(?= back)"
    r"|\b(?:get|getting|pay|give|send|transfer)(?: you)? back nt\$(\d+)"
    r"|\brefund\b[^,.;\d]{0,40} with nt\$(\d+)"
    r"|\breceive nt\$(\d+)(?! off)"
)
# …or before it: “NT$344 會退到您的信用卡”, “NT$344 will be refunded”. Then no other amount follows the word.
_AMOUNT_FIRST: Final = re.compile(
    r"nt\$(\d+)(?:的款項|的金額|[會將已經可以能全都再就給您你到在 \t]){0,6}"
    r"(?:退款(?!後|時|之後|前)|退還|退回|退給|退到|退至|退您|退你|入帳|匯回|刷退)(?![為是共約會給您你到: \t]{0,6}nt\$)"
    r"|nt\$(\d+)(?: (?:will|would|can|has|have|is|was|are|were|to|be|been|being|now|already|fully))*"
    r" (?:refunded|returned|given back|paid back|credited|back to|refund\b(?! of))(?! (?:of )?nt\$)"
)
_DENIED: Final = re.compile(
    r"(?:不能|無法|不會|沒辦法|不可|不是|沒有)[^,。]{0,6}$|(?:您|你)[^,。]{0,2}(?:想|要|希望|說|提到?)[^,。]{0,6}$"
    r"|(?:cannot|can't|won't|\bnot|n't|\bno)[^,.]{0,12}$|you (?:asked|want|wanted|would like)[^,.]{0,16}$"
)
_DENIED_AFTER: Final = re.compile(
    r"[^,。!?;\n]{0,6}(?:沒辦法|無法|不(?:能|可|行|會|了))|[^,.\n]{0,12}(?:not possible|cannot)"
)


def faults(
    words: Iterable[str], seen: Seen, *, said: Iterable[str] = (), allowed: Iterable[int] = ()
) -> list[Sentence]:
    """What was told and is not so. `said`: the customer's own words, which may be repeated.

    `allowed`: further amounts that may be called a refund here. Else only what was quoted, refunded or promised may.
    """
    words = [_NUMBER.sub("", text) for text in words]
    right = seen.quoted | frozenset(allowed)
    named = {int(each) for text in said for each in amounts_in(smoothed(text)) if each == int(each)}
    found: list[Sentence] = []
    for text in words:
        plain = smoothed(text)
        known = right | seen.facts | named
        found += [sentence("names_amount", amount=str(each)) for each in sorted(amounts_in(plain)) if each not in known]
        found += [sentence("calls_it_a_refund", amount=each) for each in called_refunds(text) if each not in right]
        found += _claimed(text, seen)
    return [each for place, each in enumerate(found) if each not in found[:place]]


def called_refunds(text: str) -> list[int]:
    """The amounts that a text says are or would be given back, by form and without a judge."""
    plain = _MONEY.sub(lambda found: f"nt${found[1] or found[2]}", smoothed(text))
    found = [*_WORD_FIRST.finditer(plain), *_AMOUNT_FIRST.finditer(plain)]
    told = {
        int(next(filter(None, match.groups())))
        for match in found
        if not (_DENIED.search(plain[: match.start()]) or _DENIED_AFTER.match(plain[match.end() :]))
    }
    return sorted(told)


def _claimed(text: str, seen: Seen) -> list[Sentence]:
    """What the text says has been done, of which the rows know nothing: new ones, or those from before the talk."""
    done = {
        REFUND: bool(seen.refunds or seen.returns or seen.earlier),
        CANCEL: bool(seen.refunds or seen.unpaid or seen.loose or seen.earlier),
        RETURN: bool(seen.returns or seen.exchanges or seen.earlier),
        EXCHANGE: bool(seen.exchanges or seen.resent or seen.earlier),
        RESEND: bool(seen.resent or seen.exchanges or seen.earlier),
        HAND_OFF: seen.person or bool(seen.proposals),
    }
    # What has been asked for may be said to be on its way, and not to have been paid.
    begun = {REFUND} if seen.unpaid else set()
    return [
        sentence("claims", words=claim.words[:60])
        for claim in claims.claims_in(text)
        if not claim.number
        and claim.reach > Reach.AHEAD
        and not done.get(claim.kind, True)
        and not (claim.kind in begun and claim.reach < Reach.DONE)
    ]
