"""Pieces that the English patterns share. See `agent/claim_forms.py`."""

from typing import Final

# Any sign of the clause.
SIGN: Final = r"[^,;:.?!]"
ADVERBS: Final = (
    r"(?: (?:now|already|just|also|successfully|fully|completely|gone|went|ahead|and|been|both|all|recently|then|"
    r"today|officially|finally|indeed|safely|even)){0,4}"
)
WE_HAVE: Final = rf"\b(?:i|we|our team|the shop|the system)(?:'ve|'d| have| had| has)?{ADVERBS} "
IT_IS: Final = rf"(?:\b(?:has|have|had|was|were|is|are|been|got)|'s|'ve|'re){ADVERBS} "
