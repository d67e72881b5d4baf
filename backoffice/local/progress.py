"""How far a long piece of work is: a bar that stays on its line at a terminal, plain lines elsewhere."""

import time
from typing import Final, Protocol

WIDTH: Final = 28
# Where nobody watches, a line every so often is enough.
SECONDS_BETWEEN_LINES: Final = 10.0


class Written(Protocol):
    def write(self, text: str) -> object: ...
    def flush(self) -> object: ...


class Progress:
    """`at(n)` says that `n` of `total` are there. `done` of them were there before, and say nothing of the speed."""

    def __init__(self, out: Written, total: int, *, done: int = 0, what: str, live: bool) -> None:
        self.out, self.total, self.before, self.what, self.live = out, total, done, what, live
        self.begun = self.told = time.monotonic()
        self.shown = ""

    def at(self, done: int) -> None:
        now = time.monotonic()
        if not self.live and now - self.told < SECONDS_BETWEEN_LINES and done < self.total:
            return
        self.told = now
        words = self.words(done, now - self.begun)
        if self.live:
            filled = WIDTH * done // self.total
            line = f"[{'█' * filled}{'·' * (WIDTH - filled)}] {words}"
            self.out.write("\r" + line.ljust(len(self.shown)))
            self.out.flush()
            self.shown = line
        else:
            self.out.write(words + "\n")

    def words(self, done: int, seconds: float) -> str:
        """“40,000 of 200,000 orders, 1,250 a second, 2:08 left”."""
        rate = (done - self.before) / seconds if seconds > 0 else 0.0
        said = f"{done:,} of {self.total:,} {self.what}, {rate:,.0f} a second"
        if not rate or done >= self.total:
            return said
        minutes, rest = divmod(round((self.total - done) / rate), 60)
        return f"{said}, {minutes}:{rest:02} left"

    def end(self) -> None:
        """Leave the line of the bar."""
        if self.live and self.shown:
            self.out.write("\n")
            self.shown = ""
