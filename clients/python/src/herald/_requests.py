"""What the clients with and without `await` have in common: requests, and which of them may be repeated."""

from __future__ import annotations

import random
import re
import uuid
from dataclasses import dataclass, field
from typing import IO, Any, Generic, List, Mapping, Optional, Tuple, TypeVar, Union
from urllib.parse import quote, urlsplit

FileContent = Union[bytes, IO[bytes]]

# Each message of the body has its key, or nothing is sent.
KEYED_BODY = re.compile(r"/messages/(batch|check)$")
FIRST_PAUSE = 0.2


@dataclass(frozen=True)
class Options:
    max_attempts: int = 4
    """Tries in all; 1 never repeats."""
    max_pause: float = 10.0
    """Longest pause before a further try, in seconds; where Herald asks for more, the error is raised at once."""
    timeout: float = 15.0
    """For one try, in seconds."""


T = TypeVar("T")


@dataclass(frozen=True)
class ListPage(Generic[T]):
    """One page of a list."""

    items: List[T]
    next: Optional[str]
    """Of the page behind it; None on the last one."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    key: Optional[str] = None
    form: Optional[Mapping[str, str]] = None
    file: Optional[Tuple[str, FileContent]] = None
    least_timeout: float = 0.0
    """Of a call that may take longer than others."""

    def may_repeat(self, status: int | None) -> bool:
        """
        429 was not taken, so anything may be sent again. After 503 and without an answer (None) the outcome is unknown: reads
        and PUT do no harm twice, and an Idempotency-Key, or one of each message of a batch, makes the second the same as the
        first; nothing else is repeated.
        """
        if status is not None and status != 503:
            return status == 429
        return self.method in ("GET", "PUT") or self.key is not None or KEYED_BODY.search(self.path) is not None


def pause_before(asked: float | None, attempt: int, max_pause: float) -> float:
    """What Herald asks for, else twice as long each time with up to half of it at random, so that callers spread."""
    if asked is not None:
        return asked
    return min(max_pause, FIRST_PAUSE * 2.0 ** (attempt - 1) * (1 + random.random() / 2))


def path_of(*parts: str) -> str:
    """A path of segments; ids and names are escaped."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def new_key() -> str:
    return str(uuid.uuid4())


def base_of(base_url: str | None, key: str | None, name: str, form: str, suffixes: Tuple[str, ...]) -> str:
    """The address without the path of the API. What is missing is mostly an environment variable, so it is said in words."""
    parts = urlsplit(base_url or "")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        given = f"no address: {base_url}" if base_url else "missing"
        raise ValueError(f"base_url is {given}. Give the address of Herald, such as https://herald.example.com.")
    if not key or not key.strip():
        raise ValueError(f"{name} is missing. Give a key ({form}); is the environment variable set?")
    base = (base_url or "").rstrip("/")
    for suffix in suffixes:
        if base.endswith(suffix):
            return base[: -len(suffix)]
    return base


def place_of(cursor: str | None) -> Mapping[str, str]:
    """The query of the page behind a cursor of a list, newest first."""
    if cursor is None:
        return {}
    before, separator, before_id = cursor.partition("~")
    if not separator:
        raise ValueError("cursor is not the `next` of a page.")
    return {"before": before, "before_id": before_id}
