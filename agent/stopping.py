"""A worker that is going down asks its turns to leave: the threads pool waits for them, and a model may talk long."""

import threading

from agent import client

requested = threading.Event()


def leave_if_asked() -> None:
    """Raises `client.Stopped` once the worker has been asked to go down."""
    if requested.is_set():
        raise client.Stopped


def pause(seconds: float) -> None:
    """Sleep; awake at once when the worker is asked to go down. Whoever has slept asks `leave_if_asked` next."""
    requested.wait(seconds)
