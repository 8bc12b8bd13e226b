from __future__ import annotations

import random
from typing import Any, AsyncIterator, Awaitable, Callable, Generic, Protocol, TypeVar, Union

from .._requests import ListPage, Request, place_of
from ..errors import HeraldConnectionError, HeraldError
from .support import AsyncStop, pause, settled
from .transport import AsyncTransport

T = TypeVar("T")
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


class AsyncPages(Generic[T]):
    """All items, one request a page; `page` reads one page alone. Leave the loop when you have enough: no further page is read."""

    def __init__(self, read: Callable[[Union[str, None]], Awaitable[ListPage[T]]]) -> None:
        self._read = read
        self._items: AsyncIterator[T] | None = None

    async def page(self, cursor: str | None = None) -> ListPage[T]:
        """The page behind `cursor`, the `next` of the page before; without it the first one. `limit` of the filter says how many."""
        return await self._read(cursor)

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._items is None:
            self._items = self._every()
        return await self._items.__anext__()

    async def _every(self) -> AsyncIterator[T]:
        page = await self._read(None)
        while True:
            for item in page.items:
                yield item
            if page.next is None:
                return
            page = await self._read(page.next)


def every_item(transport: AsyncTransport, path: str, query: Any) -> AsyncPages[Any]:
    """A list, newest first."""

    async def read(cursor: str | None) -> ListPage[Any]:
        answer = await transport.send(Request("GET", path, {**(query or {}), **place_of(cursor)}))
        place = answer["pagination"]
        before, before_id = place["next_before"], place["next_before_id"]
        return ListPage(answer["data"], None if before is None or before_id is None else f"{before}~{before_id}")

    return AsyncPages(read)


class AsyncCursorStore(Protocol):
    """Where a reader of events keeps its place, so that it goes on there after a restart."""

    def load(self) -> Union[str, None, Awaitable[Union[str, None]]]:
        """None before the first event."""

    def save(self, cursor: str) -> Any:
        """Called once your loop has asked for the next event: what `load` returns was handled."""


async def every_event(
    read: Callable[[Union[str, None]], Awaitable[Any]],
    after: str | None,
    every: float | None,
    stop: AsyncStop | None,
    store: AsyncCursorStore | None,
    on_interruption: Callable[[Union[HeraldError, HeraldConnectionError]], None] | None,
) -> AsyncIterator[Any]:
    """Events in their order, what is there and then what comes, after interruptions too."""
    if store is not None:
        after = (await settled(store.load())) or after
    seconds = FIRST_PAUSE
    while stop is None or not stop.is_set():
        try:
            page = await read(after)
        except (HeraldError, HeraldConnectionError) as error:
            if isinstance(error, HeraldError) and error.status < 500 and error.status != 429:
                raise
            if on_interruption is not None:
                on_interruption(error)
            asked = error.retry_after if isinstance(error, HeraldError) else None
            # Up to half of it at random, so that readers do not come back together.
            await pause(max(asked or 0.0, seconds * (1 + random.random() / 2)), stop)
            seconds = min(LONGEST_PAUSE, seconds * 2)
            continue
        seconds = FIRST_PAUSE
        for event in page["data"]:
            if stop is not None and stop.is_set():
                return
            yield event
            if store is not None:
                await settled(store.save(event["cursor"]))
        # The same place again: what follows is stored, and not given yet.
        rests = page["done"] or page["next"] == after
        after = page["next"]
        # Without `every` the server has waited already.
        if rests and every is not None:
            await pause(every, stop)
