"""What a model call costs, by the price table in the settings. Money of the shop's bill, not of customers."""

from django.conf import settings

from agent.usage import OFFLINE_SCRIPT

MILLION = 1_000_000


def asked_model() -> str:
    """Whose name stands on a request until its answer says who has answered."""
    return OFFLINE_SCRIPT if settings.AGENT_IS_STAND_IN else str(settings.AGENT_MODEL)[:60]


def cost_micro(*, model: str, fresh: int, written: int, cached: int, output: int) -> int:
    """Millionths of a US dollar, rounded up, for tokens read afresh, written to and read from the cache, and written.

    `settings.MODEL_PRICES` gives micro-dollars per million tokens by the beginning of a model's id; the longest
    beginning counts, and `*` is for whatever else answers: the stand-in too, which is not charged, so that limits and
    measurements work without a key.
    """
    prices = _prices(model)
    total = fresh * prices["input"] + written * prices["cache_write"] + cached * prices["cache_read"]
    return -(-(total + output * prices["output"]) // MILLION)


def _prices(model: str) -> dict[str, int]:
    table: dict[str, dict[str, int]] = settings.MODEL_PRICES
    known = [start for start in table if start != "*" and model.startswith(start)]
    return table[max(known, key=len)] if known else table["*"]
