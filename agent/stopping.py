"""A worker that is going down asks its turns to leave: the threads pool waits for them, and a model may talk long."""

import threading

from agent import client

requested = threading.Event()


def leave_if_asked() -> None:
    """Raises `client.Stopped` once the worker has been asked to go down."""
    if requested.is_set():
        raise client.Stopped


def pause(seconds: float) -> None:
    """Sleep, and wake up at once to raise `client.Stopped` when the worker is asked to go down."""
    if requested.wait(seconds):
        raise client.Stopped
