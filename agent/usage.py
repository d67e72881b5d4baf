"""What was used and what it cost, as people read it."""

from typing import Final

MICRO: Final = 1_000_000


def dollars(micro: int) -> str:
    """Millionths of a US dollar as people read them: US$0.0042, to a hundredth of a cent, rounded up.

    What has cost something never reads as nothing.
    """
    hundredths_of_a_cent = -(-micro * 10_000 // MICRO)
    return f"US${hundredths_of_a_cent // 10_000}.{hundredths_of_a_cent % 10_000:04}"


def cached_share(*, afresh: int, cached: int) -> str:
    """How much of what the model read came from its cache: 83%. `afresh` is all the rest. Empty: it read nothing."""
    read = afresh + cached
    return f"{cached * 100 // read}%" if read else ""
