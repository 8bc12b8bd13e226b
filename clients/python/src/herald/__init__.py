"""A typed client of Herald's API: `Herald`, and `AsyncHerald` with the same methods to await."""

from ._async.admin import AsyncHeraldAdmin
from ._async.client import AsyncHerald
from ._async.pages import AsyncCursorStore, AsyncPages
from ._requests import ListPage
from ._sync.admin import HeraldAdmin
from ._sync.client import Herald
from ._sync.pages import CursorStore, Pages
from .errors import HeraldConnectionError, HeraldError, WebhookVerificationError, is_herald_error
from .models import WebhookEvent
from .received import Received, received_content
from .webhooks import verify_webhook, webhook_app

__all__ = [
    "AsyncCursorStore",
    "AsyncHerald",
    "AsyncHeraldAdmin",
    "AsyncPages",
    "CursorStore",
    "Herald",
    "HeraldAdmin",
    "HeraldConnectionError",
    "HeraldError",
    "ListPage",
    "Pages",
    "Received",
    "WebhookEvent",
    "WebhookVerificationError",
    "is_herald_error",
    "received_content",
    "verify_webhook",
    "webhook_app",
]
