"""The stand-in as a bare ASGI application: the Messages API, and beside it the control door on loopback."""

import asyncio
import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent.offline import brain
from agent.offline.control import Control, ControlError
from agent.offline.errors import ApiError, invalid
from agent.offline.frames import Frame, frames_of
from agent.offline.misbehaviour import Delivery, plan_delivery
from agent.offline.replies import Reply, new_id
from agent.offline.request_rules import check_request
from agent.offline.usage import PromptCache, count_tokens, input_tokens
from agent.usage import OFFLINE_SCRIPT

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
PING_SECONDS = 0.05
LARGEST_BODY = 32 * 1024 * 1024


@dataclass
class StandIn:
    """One server's speed, cache and control. An instance is the ASGI application."""

    first_token_ms: float = 250
    tokens_per_second: float = 60
    control: Control = field(default_factory=Control)
    cache: PromptCache = field(default_factory=PromptCache)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(self, scope, receive, send)
        try:
            await exchange.run()
        except ApiError as error:
            await exchange.refuse(error)


class Exchange:
    """One request and its answer."""

    def __init__(self, stand_in: StandIn, scope: Scope, receive: Receive, send: Send) -> None:
        self.stand_in, self.scope, self.receive, self.send = stand_in, scope, receive, send
        self.request_id = new_id("req")
        self.entry: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(), "path": scope["path"], "status": 200, "error": None, "mode": None
        }  # fmt: skip

    async def run(self) -> None:
        method, path = self.scope["method"], self.scope["path"]
        if path in {"/", "/healthz"}:
            await self.answer({"status": "ok", "what": "stand-in for the Messages API"})
        elif path.startswith("/control"):
            await self.control(method, path)
        elif path not in {"/v1/messages", "/v1/messages/count_tokens"}:
            raise ApiError(404, "not_found_error", "Not Found")
        elif method != "POST":
            raise ApiError(405, "invalid_request_error", "Method Not Allowed")
        elif path == "/v1/messages":
            await self.messages()
        else:
            await self.count_tokens()

    # --- the Messages API ---

    async def messages(self) -> None:
        body = self.entry["body"] = await self.checked_body(counting=False)
        usage = self.stand_in.cache.usage(body)
        delivery = self.delivery(body)
        message = self.message(body, delivery, usage)
        self.entry |= {"stream": body.get("stream", False), "stop_reason": message["stop_reason"]}
        self.entry["usage"] = message["usage"]
        self.stand_in.control.note(self.entry)
        await self.pause(self.stand_in.first_token_ms / 1000 if delivery.before is None else delivery.before)
        if body.get("stream"):
            await self.stream(message, delivery)
        else:
            await self.whole(message, delivery)

    async def count_tokens(self) -> None:
        body = self.entry["body"] = await self.checked_body(counting=True)
        self.stand_in.control.note(self.entry)
        await self.answer({"input_tokens": input_tokens(body)})

    async def checked_body(self, *, counting: bool) -> dict[str, Any]:
        headers = self.headers()
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not key:
            raise ApiError(401, "authentication_error", "x-api-key header is required")
        if "anthropic-version" not in headers:
            raise invalid("anthropic-version: header is required")
        return check_request(await self.json(), counting=counting)

    def delivery(self, body: dict[str, Any]) -> Delivery:
        control = self.stand_in.control
        scripted = control.next_scripted(body)
        if scripted is not None:
            self.entry["mode"] = "script"
            return Delivery(scripted)
        plan = control.next_plan(body)
        if plan is None:
            return Delivery(brain.reply_to(body))
        self.entry["mode"] = plan.mode
        return plan_delivery(plan, body)

    def message(self, body: dict[str, Any], delivery: Delivery, usage: dict[str, Any]) -> dict[str, Any]:
        content = delivery.reply.content()
        content, stop_reason = _within(content, body["max_tokens"], delivery.reply)
        written = sum(count_tokens(json.dumps(block, ensure_ascii=False)) for block in content)
        details = {"type": "refusal", "category": None, "explanation": None} if stop_reason == "refusal" else None
        return {
            "id": new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": OFFLINE_SCRIPT,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "stop_details": details,
            "usage": {**usage, "output_tokens": max(written, 1)},
        }

    async def stream(self, message: dict[str, Any], delivery: Delivery) -> None:
        rate = self.rate(delivery)
        frames = frames_of(message, tokens_per_second=rate)
        if delivery.cut:
            frames = delivery.cut(frames)
        if delivery.last:
            frames.append(delivery.last)
        gone = asyncio.ensure_future(self.receive())  # resolves when the client hangs up
        try:
            await self.start(200, "text/event-stream; charset=utf-8")
            await self.send_frames(frames, rate, gone, event_lines=delivery.event_lines)
            if delivery.ending == "stall":
                await gone
            elif delivery.ending == "pings":
                await self.ping(gone)
            elif delivery.ending == "clean":
                await self.send({"type": "http.response.body", "body": b""})
            # Otherwise the answer is left without an end, and the server cuts the connection.
        finally:
            gone.cancel()

    async def send_frames(
        self, frames: list[Frame], rate: float, gone: "asyncio.Future[Any]", *, event_lines: bool
    ) -> None:
        """At `rate` tokens a second from the first frame on, whatever sending takes; 0 is as fast as it goes."""
        begun, tokens = time.monotonic(), 0
        for frame in frames:
            tokens += frame.tokens
            if rate and frame.tokens:
                await asyncio.wait({gone}, timeout=max(begun + tokens / rate - time.monotonic(), 0))
            if gone.done():
                return
            body = frame.encode(event_line=event_lines)
            await self.send({"type": "http.response.body", "body": body, "more_body": True})

    async def ping(self, gone: "asyncio.Future[Any]") -> None:
        while not gone.done():
            await self.send({"type": "http.response.body", "body": Frame({"type": "ping"}).encode(), "more_body": True})
            await asyncio.wait({gone}, timeout=PING_SECONDS)

    async def whole(self, message: dict[str, Any], delivery: Delivery) -> None:
        rate = self.rate(delivery)
        await self.pause(message["usage"]["output_tokens"] / rate if rate else 0)
        if delivery.ending == "stall":
            await self.receive()
        elif delivery.cut and delivery.ending == "clean" and message["stop_reason"] != "max_tokens":
            await self.answer({**message, "stop_reason": None, "content": message["content"][:1]})
        elif delivery.cut and delivery.ending == "cut":
            await self.start(200, "application/json")
            half = json.dumps(message, ensure_ascii=False).encode()[:40]
            await self.send({"type": "http.response.body", "body": half, "more_body": True})
        else:
            if message["stop_reason"] == "max_tokens":
                message["content"] = [
                    {**block, "input": {}} if "input" in block else block for block in message["content"]
                ]
            await self.answer(message)

    def rate(self, delivery: Delivery) -> float:
        given = delivery.tokens_per_second
        return self.stand_in.tokens_per_second if given is None else given

    async def pause(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(seconds)

    # --- the control door ---

    async def control(self, method: str, path: str) -> None:
        control = self.stand_in.control
        if not _is_loopback(self.scope.get("client")):
            raise ApiError(404, "not_found_error", "Not Found")
        if method == "DELETE" and path == "/control":
            control.reset()
            self.stand_in.cache.entries.clear()
            await self.answer({"status": "reset"})
        elif method == "GET" and path == "/control/log":
            await self.answer({"requests": control.requests()})
        elif method == "POST" and path in {"/control", "/control/script"}:
            await self.answer(self.order(path, await self.control_body()))
        else:
            raise ApiError(404, "not_found_error", "Not Found")

    async def control_body(self) -> dict[str, Any]:
        # A page in a browser can reach loopback, but cannot send this type without being asked first.
        if not self.headers().get("content-type", "").startswith("application/json"):
            raise ApiError(415, "invalid_request_error", "content-type: must be application/json")
        body = await self.json()
        if not isinstance(body, dict):
            raise invalid("must be an object")
        return body

    def order(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            if path == "/control/script":
                replies = body.get("replies")
                if not isinstance(replies, list):
                    raise ControlError("replies: must be a list")
                self.stand_in.control.script(replies)
                return {"scripted": len(replies)}
            plan = self.stand_in.control.misbehave(str(body.pop("mode", "")), **body)
            return {"mode": plan.mode, "times": plan.times}
        except (ControlError, TypeError) as error:
            raise invalid(str(error)) from None

    # --- HTTP ---

    def headers(self) -> dict[str, str]:
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.scope["headers"]}

    async def json(self) -> Any:
        chunks, size, more = [], 0, True
        while more:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise ApiError(400, "invalid_request_error", "The client went away.")
            size += len(event.get("body", b""))
            if size > LARGEST_BODY:
                raise ApiError(413, "request_too_large", "Request exceeds the maximum size")
            chunks.append(event.get("body", b""))
            more = event.get("more_body", False)
        try:
            return json.loads(b"".join(chunks))
        except (ValueError, RecursionError):
            raise invalid("The request body is not valid JSON") from None

    async def start(self, status: int, content_type: str, extra: dict[str, str] | None = None) -> None:
        headers = {"content-type": content_type, "request-id": self.request_id, "cache-control": "no-cache"}
        pairs = [(name.encode(), value.encode()) for name, value in (headers | (extra or {})).items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})

    async def answer(self, data: Any, *, status: int = 200, extra: dict[str, str] | None = None) -> None:
        body = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        await self.start(status, "application/json", {"content-length": str(len(body)), **(extra or {})})
        await self.send({"type": "http.response.body", "body": body if self.scope["method"] != "HEAD" else b""})

    async def refuse(self, error: ApiError) -> None:
        self.entry |= {"status": error.status, "error": error.message}
        if self.scope["path"].startswith("/v1/"):
            self.stand_in.control.note(self.entry)
        await self.answer(error.body(self.request_id), status=error.status, extra=error.headers)


def _within(content: list[dict[str, Any]], max_tokens: int, reply: Reply) -> tuple[list[dict[str, Any]], str]:
    """The content cut to `max_tokens`, as the API does it: words end where they are, a call in progress is dropped."""
    if reply.unbounded:
        return content, reply.ends_with
    kept: list[dict[str, Any]] = []
    left = max_tokens
    for block in content:
        size = count_tokens(block.get("text") or json.dumps(block.get("input"), ensure_ascii=False))
        if size > left:
            if block["type"] == "text" and left:
                kept.append({**block, "text": block["text"][:left]})
            return kept, "max_tokens"
        kept.append(block)
        left -= size
    return kept, reply.ends_with


def _is_loopback(client: Any) -> bool:
    try:
        return bool(client) and ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False
