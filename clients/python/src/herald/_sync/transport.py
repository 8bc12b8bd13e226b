# Generated from _async/transport.py by `npm run generate`.
from __future__ import annotations

import json
import time
from typing import Any, Tuple, Union

import httpx

from .._requests import Options, Request, pause_before
from ..errors import HeraldConnectionError, HeraldError, error_of
from .support import HttpClient, pause


class Transport:
    """Sends requests, and repeats what may be repeated."""

    def __init__(self, base: str, key: str, options: Options, http_client: HttpClient | None) -> None:
        self._base = base
        self._headers = {"authorization": f"Bearer {key}"}
        self._options = options
        self._is_own = http_client is None
        self._http = http_client or HttpClient()

    def close(self) -> None:
        """Ends the connections, unless the caller made the httpx client."""
        if self._is_own:
            self._http.close()

    def data(self, request: Request) -> Any:
        """The `data` of the answer."""
        return (self.send(request))["data"]

    def send(self, request: Request) -> Any:
        """The whole answer; None where it has no body."""
        attempt = 1
        while True:
            outcome = self._attempt(request)
            if not isinstance(outcome, Exception):
                return outcome[0]
            refusal = outcome if isinstance(outcome, HeraldError) else None
            asked, status = (refusal.retry_after, refusal.status) if refusal is not None else (None, None)
            seconds = pause_before(asked, attempt, self._options.max_pause)
            is_last = attempt >= self._options.max_attempts or seconds > self._options.max_pause
            if is_last or not request.may_repeat(status):
                raise outcome
            pause(seconds)
            attempt += 1

    def _attempt(self, request: Request) -> Union[Tuple[Any], HeraldError, HeraldConnectionError]:
        """The answer, or why there is none."""
        try:
            response, content = self._exchange(request)
        except (httpx.RequestError, TimeoutError) as cause:
            failure = HeraldConnectionError(f"no answer from {request.method} {self._base}{request.path}")
            failure.__cause__ = cause
            return failure
        if not response.is_success:
            return error_of(response, content)
        try:
            return (json.loads(content) if content else None,)
        except ValueError:
            return error_of(response, content)

    def _exchange(self, request: Request) -> Tuple[httpx.Response, bytes]:
        headers = dict(self._headers)
        timeout = max(self._options.timeout, request.least_timeout)
        if request.key is not None:
            headers["idempotency-key"] = request.key
        if request.file is not None and not isinstance(request.file[1], bytes):
            request.file[1].seek(0)
        sent = self._http.build_request(
            request.method,
            self._base + request.path,
            params={name: value for name, value in request.query.items() if value is not None},
            headers=headers,
            # The fields of a form come first: Herald decides by them while the file comes in.
            data=dict(request.form) if request.form is not None else None,
            files={"file": request.file} if request.file is not None else None,
            json=request.body,
            timeout=timeout,
        )
        # httpx limits each wait; the whole try is limited here.
        deadline = time.monotonic() + timeout
        response = self._http.send(sent, stream=True)
        try:
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if time.monotonic() > deadline:
                    raise TimeoutError
            return response, bytes(content)
        finally:
            response.close()
