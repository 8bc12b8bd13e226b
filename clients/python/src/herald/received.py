"""What a customer sent, by its type."""

from __future__ import annotations

from typing import Any, Literal, Mapping, NamedTuple

# What the content of each form has for certain. Content without it is `other`: WhatsApp has sent something new.
HAS: Mapping[str, str] = {
    "text": "body",
    "image": "id",
    "video": "id",
    "audio": "id",
    "document": "id",
    "sticker": "id",
    "location": "latitude",
    "contacts": "contacts",
    "button": "text",
    "interactive": "type",
    "reaction": "message_id",
    "order": "product_items",
    "system": "body",
    "unsupported": "errors",
}

ReceivedType = Literal[
    "text",
    "image",
    "video",
    "audio",
    "document",
    "sticker",
    "location",
    "contacts",
    "button",
    "interactive",
    "reaction",
    "order",
    "system",
    "unsupported",
    "other",
]


class Received(NamedTuple):
    type: ReceivedType
    name: str
    """WhatsApp's own word for it: where `type` is `other`, what has no form yet."""
    content: Mapping[str, Any]
    """A ReceivedText, ReceivedFile and so on of `herald.models`, by `type`."""


def received_content(received: Mapping[str, Any]) -> Received:
    """The content of a received message: of the `data` of `message.received`, or of a message of the API."""
    message = received.get("message")
    name: str = (message if isinstance(message, Mapping) else received)["type"]
    content = received["content"]
    known = name in HAS and HAS[name] in content
    kind: Any = name if known else "other"
    return Received(kind, name, content)
