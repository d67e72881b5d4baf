"""How the web process runs a request: middlewares and view in one visit to a thread."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import iscoroutinefunction
from django.core.handlers.asgi import ASGIHandler
from django.utils.decorators import sync_and_async_middleware
from pytest_django import Settings

from backoffice.asgi import OneThread

in_the_loop: list[bool] = []


@sync_and_async_middleware
def watching(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    in_the_loop.append(iscoroutinefunction(get_response))
    return get_response


@pytest.mark.parametrize(("handler", "between"), [(OneThread, False), (ASGIHandler, True)])
def test_no_middleware_goes_back_to_the_event_loop(settings: Settings, handler: type[Any], between: bool) -> None:
    place = f"{__name__}.watching"
    settings.MIDDLEWARE = [each for middleware in settings.MIDDLEWARE for each in (place, middleware)] + [place]
    in_the_loop.clear()
    handler()
    assert any(in_the_loop) is between
