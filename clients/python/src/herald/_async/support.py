"""What is different where calls are awaited."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Awaitable, Protocol, TypeVar, Union

import httpx

HttpClient = httpx.AsyncClient
T = TypeVar("T")


class AsyncStop(Protocol):
    """Such as an `asyncio.Event`."""

    def is_set(self) -> bool: ...

    async def wait(self) -> Any: ...


async def pause(seconds: float, stop: AsyncStop | None = None) -> None:
    """Ends early where `stop` is set."""
    if stop is None:
        await asyncio.sleep(seconds)
        return
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except asyncio.TimeoutError:
        pass


async def settled(value: Union[T, Awaitable[T]]) -> T:
    """What a function of the caller returned, which may be one with `await`."""
    return await value if inspect.isawaitable(value) else value
