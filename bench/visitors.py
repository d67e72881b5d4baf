"""The load: customers with an open page each, who write and read. Plain sockets, so that it weighs little itself."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

CSRF = "c" * 32  # cookie and header must be the same; Django asks for nothing else without https
KEPT_ALIVE_SECONDS = 3  # the server closes a connection that says nothing for five
OVER = frozenset({"done", "failed", "waiting"})


@dataclass(frozen=True, slots=True)
class Account:
    """Who visits which order with which session, and the newest event their page was drawn with."""

    number: str
    session: str
    order_id: int


@dataclass
class Turn:
    """What one message led to, in seconds after its POST was begun."""

    posted: float = 0.0
    first_text: float | None = None
    over: float | None = None


@dataclass
class Visitor:
    """One page: `turns` measured, `events` received (id, kind, data), `faults` against order and wholeness."""

    account: Account
    port: int
    turns: list[Turn] = field(default_factory=list)
    durable: list[tuple[str, str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    drafts: dict[str, str] = field(default_factory=dict)
    listening: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Open the page's stream and the connection for posting. Raises ConnectionError if either is refused."""
        reader, self._ear = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        self._ear.write(self._head("GET", "events", "Accept: text/event-stream\r\n"))
        status = await _head_of(reader)
        if " 200 " not in status:
            raise ConnectionError(status)
        self._listening = asyncio.ensure_future(self._listen(reader))
        await asyncio.wait_for(self.listening.wait(), 30)
        self._answers, self._mouth = await asyncio.open_connection("127.0.0.1", self.port)

    async def close(self) -> None:
        self._listening.cancel()
        self._ear.close()
        self._mouth.close()

    async def say(self, text: str) -> None:
        """Write, and return once the turn is over. Raises ConnectionError, TimeoutError."""
        self.over.clear()
        turn = Turn(posted=time.monotonic())
        if self.turns and turn.posted - self.turns[-1].posted > KEPT_ALIVE_SECONDS:
            self._mouth.close()
            self._answers, self._mouth = await asyncio.open_connection("127.0.0.1", self.port)
        self.turns.append(turn)
        body = urlencode({"text": text}).encode()
        extra = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        self._mouth.write(self._head("POST", "messages", f"Accept: application/json\r\n{extra}") + body)
        status = await _head_of(self._answers)
        if " 202 " not in status:
            raise ConnectionError(status)
        await asyncio.wait_for(self.over.wait(), 60)

    def _head(self, method: str, what: str, extra: str) -> bytes:
        cookies = f"Cookie: sessionid={self.account.session}; csrftoken={CSRF}\r\nX-CSRFToken: {CSRF}\r\n"
        path = f"/orders/{self.account.number}/chat/{what}/"
        return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{cookies}{extra}\r\n".encode()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """The chunks of the stream, cut into frames."""
        waiting = b""
        while size := int(await reader.readline(), 16):
            waiting += (await reader.readexactly(size + 2))[:-2]
            *whole, waiting = waiting.split(b"\n\n")
            for frame in whole:
                self._take(frame.decode())
        self.faults.append("the stream ended")

    def _take(self, frame: str) -> None:
        if frame.startswith("retry:"):
            self.listening.set()
            return
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if not line.startswith(":"))
        if "event" not in fields:
            return
        kind, data = fields["event"], json.loads(fields["data"])
        if "id" in fields:
            self._take_durable(fields["id"], kind, data)
        else:
            self._take_piece(kind, data)

    def _take_durable(self, number: str, kind: str, data: Any) -> None:
        before = self.durable[-1][0] if self.durable else ""
        self.durable.append((number, kind, data))
        conversation, place = number.split("-")
        if before and before != f"{conversation}-{int(place) - 1}":
            self.faults.append(f"{number} after {before}")
        if kind == "message" and data["author"] == "agent":
            self._saw_text()
            if data["text"] != self.drafts.pop(data.get("draft", ""), data["text"]):
                self.faults.append(f"the pieces before {number} were not the beginning of its message")
        elif kind == "turn" and data["state"] in OVER and self.turns:
            self.turns[-1].over = time.monotonic() - self.turns[-1].posted
            self.over.set()

    def _take_piece(self, kind: str, data: Any) -> None:
        if kind == "delta":
            self._saw_text()
            have = self.drafts.get(data["draft"], "")
            if data["offset"] > len(have):
                self.faults.append(f"a piece for {data['offset']} where {len(have)} was next")
            self.drafts[data["draft"]] = have + data["text"][len(have) - data["offset"] :]
        elif kind == "draft":
            self.drafts[data["draft"]] = data["text"]

    def _saw_text(self) -> None:
        if self.turns and self.turns[-1].first_text is None:
            self.turns[-1].first_text = time.monotonic() - self.turns[-1].posted


async def _head_of(reader: asyncio.StreamReader) -> str:
    """Status line of an answer whose body, if it has a length, is read and thrown away."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            await reader.readexactly(int(value))
    return head.split("\r\n")[0]


async def wave(visitors: list[Visitor], *, rounds: int, spread: float) -> None:
    """Each round every visitor says something, evenly over `spread` seconds; the next begins when all are answered."""
    for number in range(rounds):
        begun = time.monotonic()

        async def one(place: int, visitor: Visitor, begun: float = begun, number: int = number) -> None:
            await asyncio.sleep(begun + spread * place / len(visitors) - time.monotonic())
            try:
                await visitor.say(f"請問客服的時間是幾點到幾點？（{number + 1}）")
            except (ConnectionError, TimeoutError, asyncio.IncompleteReadError) as error:
                visitor.faults.append(repr(error))

        await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))
