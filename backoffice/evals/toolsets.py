"""What the toolsets are called. `task` is ours; the raw ones are seven calls straight from the API."""

from typing import Final

OURS, RAW, RAW_WITH_RULE = "task", "raw", "raw_with_rule"
TOOLSETS: Final = (OURS, RAW_WITH_RULE, RAW)
