"""What is different where nothing is awaited."""

from __future__ import annotations

import time
from typing import Any, Protocol, TypeVar

import httpx

HttpClient = httpx.Client
T = TypeVar("T")


class Stop(Protocol):
    """Such as a `threading.Event`."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> Any: ...


def pause(seconds: float, stop: Stop | None = None) -> None:
    """Ends early where `stop` is set."""
    if stop is None:
        time.sleep(seconds)
    else:
        stop.wait(seconds)


def settled(value: T) -> T:
    return value
