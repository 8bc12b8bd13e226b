# Generated from _async/pages.py by `npm run generate`.
from __future__ import annotations

import random
from typing import Any, Iterator, Callable, Generic, Protocol, TypeVar, Union

from .._requests import ListPage, Request, place_of
from ..errors import HeraldConnectionError, HeraldError
from .support import Stop, pause, settled
from .transport import Transport

T = TypeVar("T")
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


class Pages(Generic[T]):
    """All items, one request a page; `page` reads one page alone. Leave the loop when you have enough: no further page is read."""

    def __init__(self, read: Callable[[Union[str, None]], ListPage[T]]) -> None:
        self._read = read
        self._items: Iterator[T] | None = None

    def page(self, cursor: str | None = None) -> ListPage[T]:
        """The page behind `cursor`, the `next` of the page before; without it the first one. `limit` of the filter says how many."""
        return self._read(cursor)

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._items is None:
            self._items = self._every()
        return self._items.__next__()

    def _every(self) -> Iterator[T]:
        page = self._read(None)
        while True:
            for item in page.items:
                yield item
            if page.next is None:
                return
            page = self._read(page.next)


def every_item(transport: Transport, path: str, query: Any) -> Pages[Any]:
    """A list, newest first."""

    def read(cursor: str | None) -> ListPage[Any]:
        answer = transport.send(Request("GET", path, {**(query or {}), **place_of(cursor)}))
        place = answer["pagination"]
        before, before_id = place["next_before"], place["next_before_id"]
        return ListPage(answer["data"], None if before is None or before_id is None else f"{before}~{before_id}")

    return Pages(read)


class CursorStore(Protocol):
    """Where a reader of events keeps its place, so that it goes on there after a restart."""

    def load(self) -> Union[str, None, Union[str, None]]:
        """None before the first event."""

    def save(self, cursor: str) -> Any:
        """Called once your loop has asked for the next event: what `load` returns was handled."""


def every_event(
    read: Callable[[Union[str, None]], Any],
    after: str | None,
    every: float | None,
    stop: Stop | None,
    store: CursorStore | None,
    on_interruption: Callable[[Union[HeraldError, HeraldConnectionError]], None] | None,
) -> Iterator[Any]:
    """Events in their order, what is there and then what comes, after interruptions too."""
    if store is not None:
        after = (settled(store.load())) or after
    seconds = FIRST_PAUSE
    while stop is None or not stop.is_set():
        try:
            page = read(after)
        except (HeraldError, HeraldConnectionError) as error:
            if isinstance(error, HeraldError) and error.status < 500 and error.status != 429:
                raise
            if on_interruption is not None:
                on_interruption(error)
            asked = error.retry_after if isinstance(error, HeraldError) else None
            # Up to half of it at random, so that readers do not come back together.
            pause(max(asked or 0.0, seconds * (1 + random.random() / 2)), stop)
            seconds = min(LONGEST_PAUSE, seconds * 2)
            continue
        seconds = FIRST_PAUSE
        for event in page["data"]:
            if stop is not None and stop.is_set():
                return
            yield event
            if store is not None:
                settled(store.save(event["cursor"]))
        # The same place again: what follows is stored, and not given yet.
        rests = page["done"] or page["next"] == after
        after = page["next"]
        # Without `every` the server has waited already.
        if rests and every is not None:
            pause(every, stop)
