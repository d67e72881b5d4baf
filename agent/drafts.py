"""The text of a reply while it is being written: shown in pieces, worth nothing until the reply is whole."""

import time
from dataclasses import dataclass
from typing import Any

import redis

from agent import events
from agent.models import Conversation
from agent.save_points import reached
from agent.text import page_length

PIECES_GATHERED_SECONDS = 0.1
# Reading begins a little earlier; what has come by then is shown with the first word that has to be waited for.
READ_BEFORE_SECONDS = 0.02
DUE_SECONDS = PIECES_GATHERED_SECONDS - READ_BEFORE_SECONDS


@dataclass
class Draft:
    """`key` names it on the page; `kept` once a message has taken its place. `first_at`: clock of the first piece.

    `offered`: there was a way to Redis, so a page may show something. `shown`: how much Redis has taken for certain.
    """

    conversation: Conversation
    key: str
    waiting: str = ""
    offered: bool = False
    shown: int = 0
    shown_at: float = 0.0
    first_at: float | None = None
    kept: bool = False
    pieces: int = 0
    _line: "redis.Redis | None" = None

    def add(self, piece: str) -> None:
        self.first_at = self.first_at or time.time()
        self.waiting += piece
        if self._since_shown() >= (PIECES_GATHERED_SECONDS if self._in_gulps() else DUE_SECONDS):
            self.show()

    def show(self) -> None:
        if self.waiting:
            data = {"draft": self.key, "offset": self.shown, "text": self.waiting}
            self.shown_at = time.monotonic()
            if not self._tell("delta", data):
                # Whether it got there is not known: the next piece begins with this one; pages skip what they have.
                return
            reached("words_shown")
            self.shown += page_length(self.waiting)
            self.pieces += 1
            self.waiting = ""

    def rest(self) -> None:
        """All that had come is read. Show it where it is due, and wait until the next piece nearly is: to read a long
        reply word by word costs more than the words do.
        """
        if self._in_gulps():
            if self._since_shown() >= DUE_SECONDS:
                self.show()
            time.sleep(max(DUE_SECONDS - self._since_shown(), 0))

    def _in_gulps(self) -> bool:
        return self.pieces > 1

    def _since_shown(self) -> float:
        return time.monotonic() - self.shown_at

    def close(self) -> None:
        """What was shown and not kept may not stay on the page."""
        if self.offered and not self.kept:
            self._tell("draft_dropped", {"draft": self.key})
        if self._line is not None:
            self._line.close()

    def _tell(self, kind: str, data: dict[str, Any]) -> bool:
        return events.tell_now(self.conversation, kind, data, by=self._client)

    def _client(self) -> "redis.Redis":
        """One connection while the draft lasts: to get hold of one for every piece costs more than the piece."""
        self._line = self._line or events.carrier().client()  # type: ignore[no-untyped-call]
        self.offered = True
        return self._line
