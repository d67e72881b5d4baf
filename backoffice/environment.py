"""Reads settings from the environment, each through one function that says what a value must be.

Every function raises `ImproperlyConfigured` with one sentence that names the variable.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(str(BASE_DIR / ".env"))

T = TypeVar("T")


def read(name: str, cast: Callable[..., T], *, expected: str, **default: Any) -> T:
    """The environment variable `name` through one of environ's casts; `expected` completes the error sentence."""
    try:
        return cast(name, **default)
    except ImproperlyConfigured:
        raise ImproperlyConfigured(f"{name} is not set: it must be {expected}.") from None
    except (ValueError, TypeError):
        raise ImproperlyConfigured(f"{name} has a value that cannot be used: it must be {expected}.") from None


def number(name: str, default: int, *, lowest: int = 0) -> int:
    value: int = read(name, env.int, expected=f"a whole number of at least {lowest}", default=default)
    if value < lowest:
        raise ImproperlyConfigured(f"{name} is {value}: it must be a whole number of at least {lowest}.")
    return value


def boolean(name: str, default: bool) -> bool:
    value = env.str(name, default=str(default)).strip().lower()
    if value not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name} is {value!r}: it must be true or false.")
    return value in {"true", "1", "yes", "on"}


def text(name: str, default: str, *, expected: str) -> str:
    """A text that may not be empty; `expected` completes the error sentence."""
    value: str = env.str(name, default=default).strip()
    if not value:
        raise ImproperlyConfigured(f"{name} is empty: it must be {expected}.")
    return value


def address(name: str, schemes: tuple[str, ...], **default: Any) -> str:
    """An address that must start with one of `schemes`; empty where the default is."""
    expected = f"an address that starts with {' or '.join(schemes)} and names a host"
    value: str = read(name, env.str, expected=expected, **default)
    if not (usable_address(value, schemes) or value == default.get("default")):
        raise ImproperlyConfigured(f"{name} has a value that cannot be used: it must be {expected}.")
    return value


def parsed(name: str, default: str, parse: Callable[[str], T], *, expected: str) -> T:
    """A text that `parse` makes something of; it raises ValueError for what cannot be used."""
    return read(name, lambda variable: parse(env.str(variable, default=default)), expected=expected)


def addresses(name: str, schemes: tuple[str, ...]) -> list[str]:
    values: list[str] = env.list(name, default=[])
    for value in values:
        if not usable_address(value, schemes):
            raise ImproperlyConfigured(
                f"{name} holds {value!r}: each must be an address that starts with {' or '.join(schemes)}."
            )
    return values


def usable_address(value: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(value)
        named = bool(parts.hostname) and parts.port != 0  # reading the port raises ValueError where it is no number
    except ValueError:
        return False
    return value.startswith(schemes) and (named or (parts.scheme == "unix" and bool(parts.path)))
