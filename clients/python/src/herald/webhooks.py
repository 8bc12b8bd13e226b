"""Deliveries of a webhook, by Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, Iterable, List, Mapping, Sequence, Tuple, Union, cast

from .errors import WebhookVerificationError
from .models import WebhookEvent

TOLERANCE_SECONDS = 300
# Bytes of the longest delivery that is read; Herald's own are shorter.
LONGEST_BODY = 4_194_304
STATUSES = {204: "204 No Content", 401: "401 Unauthorized", 411: "411 Length Required", 413: "413 Content Too Large", 500: "500 Internal Server Error"}


def verify_webhook(raw_body: Union[bytes, str], headers: Mapping[str, str], *secrets: str) -> WebhookEvent:
    """
    The event of a delivery, once its signature was found right and its time not more than five minutes off.

    `raw_body` is the body as it came: parsed and written again it is another text, and its signature wrong. `secrets` are those
    of the webhook; while you change over, the new and the old one. Raises WebhookVerificationError where it is not from
    Herald: answer 401 and do nothing.
    """
    keys = [_key_of(secret) for secret in secrets]
    if not keys:
        raise ValueError("Give the secret of the webhook (whsec_...); is the environment variable set?")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    given = {name.lower(): value for name, value in headers.items()}
    identifier, seconds, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not identifier or not seconds or not signatures:
        raise WebhookVerificationError("webhook-id, webhook-timestamp or webhook-signature is missing")
    if re.fullmatch(r"\d{1,15}", seconds) is None:
        raise WebhookVerificationError("webhook-timestamp is no time")
    if abs(time.time() - int(seconds)) > TOLERANCE_SECONDS:
        raise WebhookVerificationError("webhook-timestamp is more than five minutes off")
    signed = f"{identifier}.{seconds}.".encode() + body
    right = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    for one in signatures.split(" "):
        version, _, signature = one.partition(",")
        if version == "v1" and any(hmac.compare_digest(signature.encode(), each) for each in right):
            try:
                return cast(WebhookEvent, json.loads(body))
            except ValueError:
                raise WebhookVerificationError("the body is no JSON") from None
    raise WebhookVerificationError("no signature is right")


def _key_of(secret: str) -> bytes:
    try:
        if secret and secret.strip():
            return base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except binascii.Error:
        pass
    raise ValueError("A secret of the webhook begins with whsec_; is the environment variable set?")


Application = Callable[[Mapping[str, Any], Callable[..., Any]], Iterable[bytes]]


def webhook_app(
    secrets: Sequence[str],
    on_event: Callable[[WebhookEvent], Any],
    on_error: Callable[[Exception], Any],
) -> Application:
    """
    A WSGI application, such as for gunicorn or `wsgiref`. It answers 204 once `on_event` has returned, 401 where the delivery is not
    from Herald, 413 where it is too long for that, and 500 where `on_event` raises; Herald then delivers the event again.

    Herald waits up to ten seconds, so store the event in `on_event` and work on it afterwards. It may come twice: remember
    `event["id"]`. `on_error` gets what `on_event` raised, for your log.
    """
    if isinstance(secrets, str) or not secrets:
        raise ValueError("secrets is a list of the webhook's secrets (whsec_...); while you change over, the new and the old one.")
    for secret in secrets:
        _key_of(secret)

    def status_for(environ: Mapping[str, Any]) -> int:
        headers, length = _headers_of(environ)
        if length is None:
            return 411
        if length > LONGEST_BODY:
            _skip(environ["wsgi.input"], length)
            return 413
        try:
            on_event(verify_webhook(environ["wsgi.input"].read(length), headers, *secrets))
            return 204
        except WebhookVerificationError:
            return 401
        except Exception as error:
            on_error(error)
            return 500

    def app(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(STATUSES[status_for(environ)], [] if environ.get("REQUEST_METHOD") == "HEAD" else [("Content-Length", "0")])
        return []

    return app


def _headers_of(environ: Mapping[str, Any]) -> Tuple[Mapping[str, str], Union[int, None]]:
    names: List[str] = ["id", "timestamp", "signature"]
    headers = {f"webhook-{name}": str(environ.get(f"HTTP_WEBHOOK_{name.upper()}", "")) for name in names}
    length = str(environ.get("CONTENT_LENGTH") or "")
    return headers, int(length) if length.isdigit() else None


def _skip(stream: Any, length: int) -> None:
    """Reads a body to its end: an answer before it would be lost with the connection."""
    while length > 0:
        chunk = stream.read(min(65_536, length))
        if not chunk:
            return
        length -= len(chunk)
