"""Runs the stand-in: in a thread for tests, or for good by `manage.py offline_model`."""

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn

from agent.offline.app import StandIn
from agent.offline.control import Control

# Stalled answers never end by themselves; they may not hold up the end of the server.
SECONDS_TO_END = 1
JOIN_SECONDS = 10
BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Who connects before the server runs waits for it.

    Raises OSError if the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def server_for(stand_in: StandIn) -> uvicorn.Server:
    config = uvicorn.Config(
        stand_in,
        lifespan="off",
        access_log=False,
        # uvicorn would report every answer that is cut off on purpose as a fault of the application.
        log_level="critical",
        timeout_graceful_shutdown=SECONDS_TO_END,
        timeout_keep_alive=30,
    )
    return uvicorn.Server(config)


class OfflineModel:
    """The stand-in for the length of a `with` block. `url` is what the SDK takes as `base_url`."""

    def __init__(
        self, *, port: int = 0, host: str = "127.0.0.1", first_token_ms: float = 0, tokens_per_second: float = 0
    ) -> None:
        self.stand_in = StandIn(first_token_ms=first_token_ms, tokens_per_second=tokens_per_second)
        self._socket = listen(host, port)
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        self._server = server_for(self.stand_in)
        self._thread = threading.Thread(target=self._run, name="offline-model", daemon=True)

    @property
    def control(self) -> Control:
        """To script answers, to misbehave, and to read what was asked, without HTTP."""
        return self.stand_in.control

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=JOIN_SECONDS)
        self._socket.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])
