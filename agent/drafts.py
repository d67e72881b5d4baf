"""The text of a reply while it is being written: shown in pieces, worth nothing until the reply is whole."""

import time
from dataclasses import dataclass

from agent import events
from agent.models import Conversation
from agent.save_points import reached
from agent.text import page_length

PIECES_GATHERED_SECONDS = 0.1
# Reading begins a little earlier again, so that all that has come by then is shown together.
READ_BEFORE_SECONDS = 0.015


@dataclass
class Draft:
    """`key` names it on the page; `kept` once a message has taken its place. `first_at`: clock of the first piece."""

    conversation: Conversation
    key: str
    waiting: str = ""
    shown: int = 0
    shown_at: float = 0.0
    first_at: float | None = None
    kept: bool = False
    pieces: int = 0

    def add(self, piece: str) -> None:
        self.first_at = self.first_at or time.time()
        self.waiting += piece
        if time.monotonic() - self.shown_at >= PIECES_GATHERED_SECONDS:
            self.show()

    def show(self) -> None:
        if self.waiting:
            data = {"draft": self.key, "offset": self.shown, "text": self.waiting}
            self.shown_at = time.monotonic()
            if not events.tell_now(self.conversation, "delta", data):
                return  # a page can do nothing with what comes after a gap, so the next piece begins with this one
            reached("words_shown")
            self.shown += page_length(self.waiting)
            self.pieces += 1
            self.waiting = ""

    def rest(self) -> None:
        """Wait until the next piece is nearly due: to read a long reply word by word costs more than the words do."""
        if self.pieces > 1:
            due = self.shown_at + PIECES_GATHERED_SECONDS - READ_BEFORE_SECONDS
            time.sleep(max(due - time.monotonic(), 0))

    def drop_unless_kept(self) -> None:
        if self.shown and not self.kept:
            events.tell_now(self.conversation, "draft_dropped", {"draft": self.key})
