"""What a call may raise."""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

if TYPE_CHECKING:
    import httpx

    from .admin_models import ErrorCode as AdminErrorCode
    from .models import ErrorCode as MessagingErrorCode
    from .models import ErrorDetail

    ErrorCode = Union[MessagingErrorCode, AdminErrorCode]


class HeraldError(Exception):
    """Herald refused the request, or could not take it. Decide by `code`; it never changes its meaning."""

    def __init__(self, response: httpx.Response, error: Mapping[str, Any]) -> None:
        self.status: int = response.status_code
        self.code: str = error["code"]
        self.text: str = error["message"]
        """What Herald says; `str(error)` has code, details and request id too."""
        self.request_id: str = error.get("request_id") or ""
        """Give it when you ask for help; it names the request in Herald's log."""
        self.doc_url: str | None = error.get("doc_url")
        """A page about the code: when it comes, and what to do."""
        self.details: Sequence[ErrorDetail] = error.get("details") or []
        """The invalid fields, where the request was invalid."""
        self.retry_after: float | None = seconds_in(response.headers.get("retry-after"))
        """Seconds to wait before the next try, where Herald said so."""
        self.fields: Mapping[str, Any] = dict(error)
        """Every field of the error, those of its code too: `window_expired_at`, `required_scope` and so on."""
        details = [detail["message"] for detail in self.details if detail["message"] not in self.text]
        request = f", request {self.request_id}" if self.request_id else ""
        super().__init__(f"{' '.join([self.text, *details])} ({self.code}{request})")


class HeraldConnectionError(Exception):
    """No answer came: the service is out of reach, or took too long. With an Idempotency-Key the request may be repeated."""


class WebhookVerificationError(Exception):
    """The delivery is not from Herald, or too old: answer 401 and do nothing."""


def is_herald_error(error: BaseException, *codes: ErrorCode) -> bool:
    """Whether it is an error of Herald, and, where codes are named, one of these."""
    return isinstance(error, HeraldError) and (not codes or error.code in codes)


def error_of(response: httpx.Response, body: bytes) -> HeraldError:
    """The error of an answer; a proxy in between may have answered with something else."""
    try:
        error = json.loads(body)["error"]
        if isinstance(error["code"], str) and isinstance(error["message"], str):
            return HeraldError(response, error)
    except (ValueError, KeyError, TypeError):
        pass
    return HeraldError(
        response,
        {
            "code": "SERVICE_UNAVAILABLE" if response.status_code >= 500 else "INVALID_REQUEST",
            "message": f"{response.url} answered {response.status_code} without a body of Herald; is base_url right?",
            "request_id": response.headers.get("x-request-id", ""),
        },
    )


def seconds_in(retry_after: str | None) -> float | None:
    """Herald's own is a number of seconds; a proxy in between may name a time. None where it is neither."""
    if retry_after is None:
        return None
    if re.fullmatch(r"\d+", retry_after):
        return float(retry_after)
    try:
        at = email.utils.parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return None
    return max(0.0, at.timestamp() - time.time())
