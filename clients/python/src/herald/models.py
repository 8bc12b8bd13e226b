# Generated from openapi.json by `npm run generate`.
from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union


class AttemptResponse(TypedDict):
    number: int
    status: Literal["started", "accepted", "rejected", "deferred", "unknown"]
    started_at: str
    finished_at: str | None
    http_status: int | None
    platform_code: int | None
    platform_message: str | None
    failure_category: FailureCategory | None
    meta_message_id: str | None
    trace_id: str | None
    """The platform's own id of the failed call, for its support."""


class BatchCheckResponseErrorsItem(TypedDict):
    index: int
    code: str
    message: str
    details: List[ErrorDetail]


class BatchCheckResponse(TypedDict):
    data: CheckedBatch
    replayed: List[ReplayedMessage]
    errors: List[BatchCheckResponseErrorsItem]
    warnings: List[BatchWarning]


class BatchKey(TypedDict):
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class _BatchMessageSendTextTextRequired(TypedDict):
    body: str
    """The text."""


class BatchMessageSendTextText(_BatchMessageSendTextTextRequired, total=False):
    preview_url: bool
    """Show a preview of the first link. Default: false."""


class _BatchMessageSendTextRequired(TypedDict):
    type: Literal["text"]
    text: BatchMessageSendTextText
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendText(_BatchMessageSendTextRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _BatchMessageSendLegacyTextRequired(TypedDict):
    body: str
    """The text."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendLegacyText(_BatchMessageSendLegacyTextRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendImageMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _BatchMessageSendImageRequired(TypedDict):
    type: Literal["image"]
    media: BatchMessageSendImageMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendImage(_BatchMessageSendImageRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendVideoMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _BatchMessageSendVideoRequired(TypedDict):
    type: Literal["video"]
    media: BatchMessageSendVideoMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendVideo(_BatchMessageSendVideoRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendAudioMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _BatchMessageSendAudioRequired(TypedDict):
    type: Literal["audio"]
    media: BatchMessageSendAudioMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendAudio(_BatchMessageSendAudioRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendDocumentMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _BatchMessageSendDocumentRequired(TypedDict):
    type: Literal["document"]
    media: BatchMessageSendDocumentMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendDocument(_BatchMessageSendDocumentRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendStickerMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _BatchMessageSendStickerRequired(TypedDict):
    type: Literal["sticker"]
    media: BatchMessageSendStickerMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendSticker(_BatchMessageSendStickerRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendTemplateTemplateLanguage1(TypedDict):
    code: str
    """Language of the template."""


class BatchMessageSendTemplateTemplateParameters(TypedDict, total=False):
    """In the place of `components`: the values alone."""
    header: Sequence[str]
    """Texts, or the file: an `https://` address or the file's id."""
    body: Sequence[str]
    """In the order of the numbers, or of the first appearance."""
    buttons: Sequence[str]
    """Of the buttons that have a variable, in their order."""


class _BatchMessageSendTemplateTemplateRequired(TypedDict):
    name: str
    """Name of an approved template."""
    language: BatchMessageSendTemplateTemplateLanguage1 | str


class BatchMessageSendTemplateTemplate(_BatchMessageSendTemplateTemplateRequired, total=False):
    parameters: BatchMessageSendTemplateTemplateParameters
    """In the place of `components`: the values alone."""
    components: Sequence[Mapping[str, Any]]
    """Values of the template's variables, as the platform takes them."""


class _BatchMessageSendTemplateRequired(TypedDict):
    type: Literal["template"]
    template: BatchMessageSendTemplateTemplate
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendTemplate(_BatchMessageSendTemplateRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendInteractiveInteractiveButtonBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendInteractiveInteractiveButtonHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendInteractiveInteractiveButtonFooter(TypedDict):
    text: str


class _BatchMessageSendInteractiveInteractiveButtonRequired(TypedDict):
    type: Literal["button"]
    body: BatchMessageSendInteractiveInteractiveButtonBody
    action: Mapping[str, Any]
    """In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections` (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`."""


class BatchMessageSendInteractiveInteractiveButton(_BatchMessageSendInteractiveInteractiveButtonRequired, total=False):
    header: BatchMessageSendInteractiveInteractiveButtonHeaderText | Mapping[str, Any]
    footer: BatchMessageSendInteractiveInteractiveButtonFooter


class BatchMessageSendInteractiveInteractiveListBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendInteractiveInteractiveListHeader(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendInteractiveInteractiveListFooter(TypedDict):
    text: str


class _BatchMessageSendInteractiveInteractiveListRequired(TypedDict):
    type: Literal["list"]
    body: BatchMessageSendInteractiveInteractiveListBody
    action: Mapping[str, Any]
    """In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections` (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`."""


class BatchMessageSendInteractiveInteractiveList(_BatchMessageSendInteractiveInteractiveListRequired, total=False):
    header: BatchMessageSendInteractiveInteractiveListHeader
    footer: BatchMessageSendInteractiveInteractiveListFooter


class _BatchMessageSendInteractiveRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendInteractiveInteractiveButton | BatchMessageSendInteractiveInteractiveList
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendInteractive(_BatchMessageSendInteractiveRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendCtaUrlInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendCtaUrlInteractiveActionParameters(TypedDict):
    display_text: str
    """Label of the button."""
    url: str
    """What the button opens."""


class BatchMessageSendCtaUrlInteractiveAction(TypedDict):
    name: Literal["cta_url"]
    parameters: BatchMessageSendCtaUrlInteractiveActionParameters


class BatchMessageSendCtaUrlInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendCtaUrlInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendCtaUrlInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: BatchMessageSendCtaUrlInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendCtaUrlInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendCtaUrlInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: BatchMessageSendCtaUrlInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendCtaUrlInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class BatchMessageSendCtaUrlInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: BatchMessageSendCtaUrlInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendCtaUrlInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendCtaUrlInteractiveRequired(TypedDict):
    type: Literal["cta_url"]
    body: BatchMessageSendCtaUrlInteractiveBody
    action: BatchMessageSendCtaUrlInteractiveAction


class BatchMessageSendCtaUrlInteractive(_BatchMessageSendCtaUrlInteractiveRequired, total=False):
    header: BatchMessageSendCtaUrlInteractiveHeaderText | BatchMessageSendCtaUrlInteractiveHeaderImage | BatchMessageSendCtaUrlInteractiveHeaderVideo | BatchMessageSendCtaUrlInteractiveHeaderDocument
    footer: BatchMessageSendCtaUrlInteractiveFooter


class _BatchMessageSendCtaUrlRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendCtaUrlInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendCtaUrl(_BatchMessageSendCtaUrlRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendFlowInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendFlowInteractiveActionParametersFlowActionPayload(TypedDict, total=False):
    """The first screen and its data."""
    screen: str
    data: Mapping[str, Any]


class _BatchMessageSendFlowInteractiveActionParametersRequired(TypedDict):
    flow_message_version: str
    """Version of the message: 3."""
    flow_cta: str
    """Label of the button."""


class BatchMessageSendFlowInteractiveActionParameters(_BatchMessageSendFlowInteractiveActionParametersRequired, total=False):
    """Exactly one of `flow_id` and `flow_name` is given."""
    flow_id: str
    """Id of the flow; or give its name."""
    flow_name: str
    """Name of the flow; or give its id."""
    flow_token: str
    """Your own word, which the answer repeats."""
    mode: Literal["draft", "published"]
    """draft sends a flow that is not published yet."""
    flow_action: Literal["navigate", "data_exchange"]
    flow_action_payload: BatchMessageSendFlowInteractiveActionParametersFlowActionPayload
    """The first screen and its data."""


class BatchMessageSendFlowInteractiveAction(TypedDict):
    name: Literal["flow"]
    parameters: BatchMessageSendFlowInteractiveActionParameters
    """Exactly one of `flow_id` and `flow_name` is given."""


class BatchMessageSendFlowInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendFlowInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendFlowInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: BatchMessageSendFlowInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendFlowInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendFlowInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: BatchMessageSendFlowInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendFlowInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class BatchMessageSendFlowInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: BatchMessageSendFlowInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendFlowInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendFlowInteractiveRequired(TypedDict):
    type: Literal["flow"]
    body: BatchMessageSendFlowInteractiveBody
    action: BatchMessageSendFlowInteractiveAction


class BatchMessageSendFlowInteractive(_BatchMessageSendFlowInteractiveRequired, total=False):
    header: BatchMessageSendFlowInteractiveHeaderText | BatchMessageSendFlowInteractiveHeaderImage | BatchMessageSendFlowInteractiveHeaderVideo | BatchMessageSendFlowInteractiveHeaderDocument
    footer: BatchMessageSendFlowInteractiveFooter


class _BatchMessageSendFlowRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendFlowInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendFlow(_BatchMessageSendFlowRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendLocationRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendLocationRequestInteractiveAction(TypedDict):
    name: Literal["send_location"]


class BatchMessageSendLocationRequestInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendLocationRequestInteractiveRequired(TypedDict):
    type: Literal["location_request_message"]
    body: BatchMessageSendLocationRequestInteractiveBody
    action: BatchMessageSendLocationRequestInteractiveAction


class BatchMessageSendLocationRequestInteractive(_BatchMessageSendLocationRequestInteractiveRequired, total=False):
    footer: BatchMessageSendLocationRequestInteractiveFooter


class _BatchMessageSendLocationRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendLocationRequestInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendLocationRequest(_BatchMessageSendLocationRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendContactRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendContactRequestInteractiveAction(TypedDict):
    name: Literal["request_contact_info"]


class BatchMessageSendContactRequestInteractiveHeader(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendContactRequestInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendContactRequestInteractiveRequired(TypedDict):
    type: Literal["request_contact_info"]
    body: BatchMessageSendContactRequestInteractiveBody
    action: BatchMessageSendContactRequestInteractiveAction


class BatchMessageSendContactRequestInteractive(_BatchMessageSendContactRequestInteractiveRequired, total=False):
    header: BatchMessageSendContactRequestInteractiveHeader
    footer: BatchMessageSendContactRequestInteractiveFooter


class _BatchMessageSendContactRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendContactRequestInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendContactRequest(_BatchMessageSendContactRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendProductInteractiveAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class BatchMessageSendProductInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendProductInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendProductInteractiveRequired(TypedDict):
    type: Literal["product"]
    action: BatchMessageSendProductInteractiveAction


class BatchMessageSendProductInteractive(_BatchMessageSendProductInteractiveRequired, total=False):
    body: BatchMessageSendProductInteractiveBody
    footer: BatchMessageSendProductInteractiveFooter


class _BatchMessageSendProductRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendProductInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendProduct(_BatchMessageSendProductRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendProductListInteractiveHeader(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendProductListInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendProductListInteractiveActionSectionsItemProductItemsItem(TypedDict):
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class _BatchMessageSendProductListInteractiveActionSectionsItemRequired(TypedDict):
    product_items: Sequence[BatchMessageSendProductListInteractiveActionSectionsItemProductItemsItem]


class BatchMessageSendProductListInteractiveActionSectionsItem(_BatchMessageSendProductListInteractiveActionSectionsItemRequired, total=False):
    title: str
    """Required where there are several sections."""


class BatchMessageSendProductListInteractiveAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    sections: Sequence[BatchMessageSendProductListInteractiveActionSectionsItem]
    """Up to 30 products in all."""


class BatchMessageSendProductListInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendProductListInteractiveRequired(TypedDict):
    type: Literal["product_list"]
    header: BatchMessageSendProductListInteractiveHeader
    body: BatchMessageSendProductListInteractiveBody
    action: BatchMessageSendProductListInteractiveAction


class BatchMessageSendProductListInteractive(_BatchMessageSendProductListInteractiveRequired, total=False):
    footer: BatchMessageSendProductListInteractiveFooter


class _BatchMessageSendProductListRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendProductListInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendProductList(_BatchMessageSendProductListRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendCatalogInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendCatalogInteractiveActionParameters(TypedDict, total=False):
    thumbnail_product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class _BatchMessageSendCatalogInteractiveActionRequired(TypedDict):
    name: Literal["catalog_message"]


class BatchMessageSendCatalogInteractiveAction(_BatchMessageSendCatalogInteractiveActionRequired, total=False):
    parameters: BatchMessageSendCatalogInteractiveActionParameters


class BatchMessageSendCatalogInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendCatalogInteractiveRequired(TypedDict):
    type: Literal["catalog_message"]
    body: BatchMessageSendCatalogInteractiveBody
    action: BatchMessageSendCatalogInteractiveAction


class BatchMessageSendCatalogInteractive(_BatchMessageSendCatalogInteractiveRequired, total=False):
    footer: BatchMessageSendCatalogInteractiveFooter


class _BatchMessageSendCatalogRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendCatalogInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendCatalog(_BatchMessageSendCatalogRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendCarouselInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendCarouselInteractiveActionCardsItem1HeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendCarouselInteractiveActionCardsItem1HeaderImage(TypedDict):
    type: Literal["image"]
    image: BatchMessageSendCarouselInteractiveActionCardsItem1HeaderImageImage
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendCarouselInteractiveActionCardsItem1HeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendCarouselInteractiveActionCardsItem1HeaderVideo(TypedDict):
    type: Literal["video"]
    video: BatchMessageSendCarouselInteractiveActionCardsItem1HeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendCarouselInteractiveActionCardsItem1Action1Parameters(TypedDict):
    display_text: str
    """Label of the button."""
    url: str
    """What the button opens."""


class BatchMessageSendCarouselInteractiveActionCardsItem1Action1(TypedDict):
    name: Literal["cta_url"]
    parameters: BatchMessageSendCarouselInteractiveActionCardsItem1Action1Parameters


class BatchMessageSendCarouselInteractiveActionCardsItem1Action2ButtonsItemQuickReply(TypedDict):
    id: str
    """Comes back when the customer taps."""
    title: str
    """Label of the button."""


class BatchMessageSendCarouselInteractiveActionCardsItem1Action2ButtonsItem(TypedDict):
    type: Literal["quick_reply"]
    quick_reply: BatchMessageSendCarouselInteractiveActionCardsItem1Action2ButtonsItemQuickReply


class BatchMessageSendCarouselInteractiveActionCardsItem1Action2(TypedDict):
    buttons: Sequence[BatchMessageSendCarouselInteractiveActionCardsItem1Action2ButtonsItem]


class BatchMessageSendCarouselInteractiveActionCardsItem1Body(TypedDict):
    text: str
    """At most two line breaks."""


class _BatchMessageSendCarouselInteractiveActionCardsItem1Required(TypedDict):
    card_index: int
    """Place of the card, each one once."""
    header: BatchMessageSendCarouselInteractiveActionCardsItem1HeaderImage | BatchMessageSendCarouselInteractiveActionCardsItem1HeaderVideo
    action: BatchMessageSendCarouselInteractiveActionCardsItem1Action1 | BatchMessageSendCarouselInteractiveActionCardsItem1Action2


class BatchMessageSendCarouselInteractiveActionCardsItem1(_BatchMessageSendCarouselInteractiveActionCardsItem1Required, total=False):
    type: Literal["cta_url", "button", "quick_reply"]
    body: BatchMessageSendCarouselInteractiveActionCardsItem1Body


class BatchMessageSendCarouselInteractiveActionCardsItemProductAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class BatchMessageSendCarouselInteractiveActionCardsItemProduct(TypedDict):
    card_index: int
    """Place of the card, each one once."""
    type: Literal["product"]
    action: BatchMessageSendCarouselInteractiveActionCardsItemProductAction


class BatchMessageSendCarouselInteractiveAction(TypedDict):
    cards: Sequence[BatchMessageSendCarouselInteractiveActionCardsItem1 | BatchMessageSendCarouselInteractiveActionCardsItemProduct]
    """Link buttons, as many quick replies, or products on all of them."""


class BatchMessageSendCarouselInteractive(TypedDict):
    type: Literal["carousel"]
    body: BatchMessageSendCarouselInteractiveBody
    action: BatchMessageSendCarouselInteractiveAction


class _BatchMessageSendCarouselRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendCarouselInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendCarousel(_BatchMessageSendCarouselRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendAddressRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class BatchMessageSendAddressRequestInteractiveActionParametersSavedAddressesItem(TypedDict):
    id: str
    value: Mapping[str, Any]
    """An address, by field."""


class _BatchMessageSendAddressRequestInteractiveActionParametersRequired(TypedDict):
    country: str
    """ISO code. WhatsApp offers this to businesses in India, for customers with numbers of India."""


class BatchMessageSendAddressRequestInteractiveActionParameters(_BatchMessageSendAddressRequestInteractiveActionParametersRequired, total=False):
    values: Mapping[str, Any]
    """What the form shows to begin with, by field."""
    saved_addresses: Sequence[BatchMessageSendAddressRequestInteractiveActionParametersSavedAddressesItem]
    """Addresses to choose from."""
    validation_errors: Mapping[str, Any]
    """What was wrong with an earlier answer, by field."""


class BatchMessageSendAddressRequestInteractiveAction(TypedDict):
    name: Literal["address_message"]
    parameters: BatchMessageSendAddressRequestInteractiveActionParameters


class BatchMessageSendAddressRequestInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class BatchMessageSendAddressRequestInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendAddressRequestInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: BatchMessageSendAddressRequestInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendAddressRequestInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class BatchMessageSendAddressRequestInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: BatchMessageSendAddressRequestInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendAddressRequestInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class BatchMessageSendAddressRequestInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: BatchMessageSendAddressRequestInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class BatchMessageSendAddressRequestInteractiveFooter(TypedDict):
    text: str


class _BatchMessageSendAddressRequestInteractiveRequired(TypedDict):
    type: Literal["address_message"]
    body: BatchMessageSendAddressRequestInteractiveBody
    action: BatchMessageSendAddressRequestInteractiveAction


class BatchMessageSendAddressRequestInteractive(_BatchMessageSendAddressRequestInteractiveRequired, total=False):
    header: BatchMessageSendAddressRequestInteractiveHeaderText | BatchMessageSendAddressRequestInteractiveHeaderImage | BatchMessageSendAddressRequestInteractiveHeaderVideo | BatchMessageSendAddressRequestInteractiveHeaderDocument
    footer: BatchMessageSendAddressRequestInteractiveFooter


class _BatchMessageSendAddressRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: BatchMessageSendAddressRequestInteractive
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendAddressRequest(_BatchMessageSendAddressRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _BatchMessageSendLocationLocationRequired(TypedDict):
    latitude: float | str
    """Degrees; north is positive."""
    longitude: float | str
    """Degrees; east is positive."""


class BatchMessageSendLocationLocation(_BatchMessageSendLocationLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Shown under the name."""


class _BatchMessageSendLocationRequired(TypedDict):
    type: Literal["location"]
    location: BatchMessageSendLocationLocation
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendLocation(_BatchMessageSendLocationRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _BatchMessageSendContactsContactsItemNameRequired(TypedDict):
    formatted_name: str
    """Full name."""


class BatchMessageSendContactsContactsItemName(_BatchMessageSendContactsContactsItemNameRequired, total=False):
    first_name: str
    last_name: str
    middle_name: str
    suffix: str
    prefix: str


class BatchMessageSendContactsContactsItemPhonesItem(TypedDict, total=False):
    phone: str
    """The number as it is shown."""
    wa_id: str
    """Digits of the contact's WhatsApp number; with it the card offers to write to them."""
    type: str
    """WORK, HOME or another word."""


class BatchMessageSendContactsContactsItemEmailsItem(TypedDict, total=False):
    email: str
    type: str
    """WORK, HOME or another word."""


class BatchMessageSendContactsContactsItemUrlsItem(TypedDict, total=False):
    url: str
    type: str
    """WORK, HOME or another word."""


class BatchMessageSendContactsContactsItemAddressesItem(TypedDict, total=False):
    street: str
    city: str
    state: str
    zip: str
    country: str
    country_code: str
    """Two letters."""
    type: str
    """WORK, HOME or another word."""


class BatchMessageSendContactsContactsItemOrg(TypedDict, total=False):
    company: str
    department: str
    title: str


class _BatchMessageSendContactsContactsItemRequired(TypedDict):
    name: BatchMessageSendContactsContactsItemName


class BatchMessageSendContactsContactsItem(_BatchMessageSendContactsContactsItemRequired, total=False):
    phones: Sequence[BatchMessageSendContactsContactsItemPhonesItem]
    emails: Sequence[BatchMessageSendContactsContactsItemEmailsItem]
    urls: Sequence[BatchMessageSendContactsContactsItemUrlsItem]
    addresses: Sequence[BatchMessageSendContactsContactsItemAddressesItem]
    org: BatchMessageSendContactsContactsItemOrg
    birthday: str


class _BatchMessageSendContactsRequired(TypedDict):
    type: Literal["contacts"]
    contacts: Sequence[BatchMessageSendContactsContactsItem]
    """What the recipient can save, each with a name."""
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendContacts(_BatchMessageSendContactsRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class BatchMessageSendReactionReaction(TypedDict):
    emoji: str
    """One emoji; empty takes the reaction back."""


class _BatchMessageSendReactionRequired(TypedDict):
    reply_to_message_id: str
    """The message to react to."""
    type: Literal["reaction"]
    reaction: BatchMessageSendReactionReaction
    idempotency_key: str
    """A UUID for each message that you mean to send, another one for each message of the batch."""


class BatchMessageSendReaction(_BatchMessageSendReactionRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


BatchMessage = Union["BatchMessageSendText", "BatchMessageSendLegacyText", "BatchMessageSendImage", "BatchMessageSendVideo", "BatchMessageSendAudio", "BatchMessageSendDocument", "BatchMessageSendSticker", "BatchMessageSendTemplate", "BatchMessageSendInteractive", "BatchMessageSendCtaUrl", "BatchMessageSendFlow", "BatchMessageSendLocationRequest", "BatchMessageSendContactRequest", "BatchMessageSendProduct", "BatchMessageSendProductList", "BatchMessageSendCatalog", "BatchMessageSendCarousel", "BatchMessageSendAddressRequest", "BatchMessageSendLocation", "BatchMessageSendContacts", "BatchMessageSendReaction"]


class _BatchWarningRequired(TypedDict):
    code: WarningCode
    message: str
    index: int


class BatchWarning(_BatchWarningRequired, total=False):
    field: str


class BatchedMessage(TypedDict):
    index: int
    id: str
    status: Literal["queued"]
    replayed: bool


class CallEndedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None


class CallEndedEventDataCall(TypedDict):
    id: str | None
    direction: Literal["inbound", "outbound"]
    status: str | None
    started_at: str | None
    """Null: it was not answered."""
    duration_seconds: int | None


class _CallEndedEventDataRequired(TypedDict):
    connection_id: str
    occurred_at: str
    contact: CallEndedEventDataContact
    call: CallEndedEventDataCall


class CallEndedEventData(_CallEndedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class CallEndedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["call.ended"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: CallEndedEventData


class CallMissedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None


class CallMissedEventDataCall(TypedDict):
    id: str | None
    direction: Literal["inbound", "outbound"]
    status: str | None
    started_at: str | None
    """Null: it was not answered."""
    duration_seconds: int | None


class _CallMissedEventDataRequired(TypedDict):
    connection_id: str
    occurred_at: str
    contact: CallMissedEventDataContact
    call: CallMissedEventDataCall


class CallMissedEventData(_CallMissedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class CallMissedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["call.missed"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: CallMissedEventData


class CanceledMessage(TypedDict):
    id: str
    status: Literal["queued", "processing", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown", "received"]


class CanceledMessageResponse(TypedDict):
    data: CanceledMessage


class ChangeDestinationRequest(TypedDict, total=False):
    events: Sequence[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    """Kinds of event to write. Left out of a new destination: the two about messages."""
    connection_ids: Sequence[str]
    """Numbers whose events to write, as for the webhook; empty: all. Events about no number are written in any case."""
    active: bool
    """With `false` events wait in Herald, as long as it keeps them, and are written once it is `true` again."""
    nats: NatsRequest
    """NATS JetStream. The settings as a whole; secrets that are left out stay, unless host or port change."""
    rabbitmq: RabbitmqRequest
    """RabbitMQ. The settings as a whole; secrets that are left out stay, unless host or port change."""
    sqs: SqsRequest
    """Amazon SQS. The settings as a whole; secrets that are left out stay, unless the host changes."""
    name: str
    """Names it for people; each of the workspace has another one."""


class _CheckWarningResponseRequired(TypedDict):
    code: WarningCode
    message: str


class CheckWarningResponse(_CheckWarningResponseRequired, total=False):
    field: str


class CheckedBatch(TypedDict):
    messages: int
    sendable: int


class _CheckedLimitRequired(TypedDict):
    kind: Literal["messages_per_day", "spend_per_month", "marketing_per_recipient_per_week"]
    limit: int | str
    used: int | str
    remaining: int | str
    renews_at: str


class CheckedLimit(_CheckedLimitRequired, total=False):
    currency: str


class CheckedQueue(TypedDict):
    ahead: int
    estimated_send_at: str | None


class CheckedWindow(TypedDict):
    open: bool
    closes_at: str | None


class CodeFiguresResponse(TypedDict):
    requested: int
    """What POST /otp/send took."""
    sent: int
    delivered: int
    verified: int
    expired: int
    failed: int


class CodeRowResponse(TypedDict):
    requested: int
    """What POST /otp/send took."""
    sent: int
    delivered: int
    verified: int
    expired: int
    failed: int
    start: str
    """Where the interval begins, with the offset of the time zone."""
    country: str | None
    """ISO 3166 alpha-2; null: the number was erased before it was counted."""


class CodeUsageResponse(TypedDict):
    data: List[CodeRowResponse]
    """The oldest interval first; those without codes are left out."""
    totals: CodeFiguresResponse
    """All rows together."""
    as_of: str | None
    """Up to when everything is counted; null: nothing is yet."""


class _ConfigureWebhookRequestRequired(TypedDict):
    url: str
    """Where events are posted to: https, port 443, a host name that leads to public addresses only."""


class ConfigureWebhookRequest(_ConfigureWebhookRequestRequired, total=False):
    events: Sequence[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    """Kinds of event to send. Left out: the two about messages for a new webhook; those that it has for an existing one."""
    connection_ids: Sequence[str]
    """Numbers whose events to send; empty: all. An event about several numbers, such as one of a template, is sent where one of them is chosen; one about none is sent in any case. Left out: all for a new webhook; those that it has for an existing one."""
    headers: Mapping[str, str]
    """Headers to send with every delivery beside ours, such as a key of your gateway: names `X-...` or `Authorization`, values of visible ASCII, 4,096 characters in all. Stored encrypted and never shown again. Left out: those that the webhook has, unless its address gets another scheme, host or port."""
    secret: str
    """The signing secret of a new webhook, for deployments that know it beforehand: `whsec_` and the base64 of 24 to 64 random bytes. Left out: Herald makes one. An existing webhook keeps its secret: the same one is accepted, another is 400; replace it with POST /webhook/rotate-secret."""
    active: bool
    """With `false` events wait, three days at the most, and go out once it is `true` again. Left out: as it is; `true` for a new webhook."""


class ConformanceData(TypedDict):
    passed: bool
    """Whether each result is `passed`."""
    complete: bool
    """False: the run ended before all was tried."""
    duration_ms: int
    """Of the whole run."""
    results: List[ConformanceResultResponse]
    """One for each delivery, in the order in which they were made; always the same ones."""


class ConformanceResponse(TypedDict):
    data: ConformanceData


class ConformanceResultResponse(TypedDict):
    check: Literal["kind", "repeat", "disorder", "rotated_secret", "later_version", "any_text", "large", "unknown_kind", "unknown_field", "unknown_content", "wrong_secret", "changed_body", "no_signature", "old_timestamp", "future_timestamp"]
    """What was tried."""
    event_type: str
    """Kind of the event that was sent; one that does not exist is among them."""
    title: str
    """The same in words."""
    expected: Literal["success", "refusal"]
    """`success`: the receiver has to answer 2xx. `refusal`: anything else, for it is a forgery."""
    outcome: Literal["passed", "failed", "not_run"]
    """`not_run`: the run ended before it, as its time was over or the receiver did not answer."""
    http_status: int | None
    """Null where no answer came."""
    error: str | None
    """Why no answer came, in a short word, as in GET /webhook/deliveries."""
    duration_ms: int | None
    problem: str | None
    """What the receiver did wrong; null where it did not."""
    fix: str | None
    """What has to change in the receiver."""


class ConnectionListResponse(TypedDict):
    data: List[ConnectionResponse]


class ConnectionResponse(TypedDict):
    id: str
    """Connection ID, used as `connection_id` when sending."""
    phone_number: str
    """The number with its country code, digits only."""
    verified_name: str | None
    status: Literal["connected", "pending", "disconnected", "restricted"]
    status_reason: Literal["token_refused", "disconnected_by_operator", "platform", "account_removed", "payment_missing", None]
    """Why it is not connected: its token was refused, it was disconnected by hand, the platform says so, its account was removed from the app or the platform, or has no valid payment method."""
    quality_rating: str | None
    """The platform's rating of the number: GREEN, YELLOW, RED or UNKNOWN."""
    messaging_limit: str | None
    """How many people the business may write to first in 24 hours."""
    throughput_per_second: int
    """Messages a second that the platform takes from this number."""
    service_charged_since: str | None
    """When the number's free service messages of a month were used up last: later ones are charged."""
    marketing_route: Literal["auto", "messages"]
    """Which endpoint of WhatsApp marketing templates go by: the one that it asks for, or always `messages`."""
    marketing_status: str | None
    """WhatsApp's word on whether the account may use its endpoint of marketing messages; only `ONBOARDED` may."""
    timezone: str | None
    created_at: str


class ConnectionUpdatedEventDataConnection(TypedDict):
    """As GET /connections shows it."""
    id: str
    phone_number: str
    verified_name: str | None
    status: Literal["connected", "pending", "disconnected", "restricted"]
    status_reason: Literal["token_refused", "disconnected_by_operator", "platform", "account_removed", "payment_missing", None]
    quality_rating: str | None
    messaging_limit: str | None
    throughput_per_second: int
    marketing_route: Literal["auto", "messages"]
    marketing_status: str | None
    service_charged_since: str | None
    """When the free service messages of a month were used up last."""
    timezone: str | None
    created_at: str


class ConnectionUpdatedEventDataPreviousAttributes(TypedDict, total=False):
    """What changed, with the values from before."""
    phone_number: str
    verified_name: str | None
    status: Literal["connected", "pending", "disconnected", "restricted"]
    status_reason: Literal["token_refused", "disconnected_by_operator", "platform", "account_removed", "payment_missing", None]
    quality_rating: str | None
    messaging_limit: str | None
    throughput_per_second: int
    marketing_route: Literal["auto", "messages"]
    marketing_status: str | None
    service_charged_since: str | None
    """When the free service messages of a month were used up last."""
    timezone: str | None


class _ConnectionUpdatedEventDataRequired(TypedDict):
    connection: ConnectionUpdatedEventDataConnection
    """As GET /connections shows it."""
    previous_attributes: ConnectionUpdatedEventDataPreviousAttributes
    """What changed, with the values from before."""


class ConnectionUpdatedEventData(_ConnectionUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class ConnectionUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["connection.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: ConnectionUpdatedEventData


class ContactOptOutUpdatedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None


class _ContactOptOutUpdatedEventDataRequired(TypedDict):
    opt_out_id: str
    """Of GET /opt-outs."""
    connection_id: str | None
    """The number that it is about; null: all numbers of the workspace, as with its own entries."""
    contact: ContactOptOutUpdatedEventDataContact
    source: Literal["own", "platform"]
    """Recorded by the workspace, or reported by WhatsApp."""
    category: Literal["marketing", "all"]
    """Marketing templates, or every message."""
    opted_out: bool
    """False: the entry has ended; another one may still hold."""
    reason: str | None
    occurred_at: str
    """By the platform, in whole seconds, or when Herald recorded it."""


class ContactOptOutUpdatedEventData(_ContactOptOutUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class ContactOptOutUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["contact.opt_out.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: ContactOptOutUpdatedEventData


class ContactResponse(TypedDict):
    phone: str | None
    user_id: str | None
    """The platform's business-scoped id of a contact who may hide the number."""
    name: str | None


class _ControlRequestRequired(TypedDict):
    action: Literal["pass", "release", "take"]
    """`pass`: another app becomes the owner. `release`: none is, until the contact writes again. `take`: you become the owner, which WhatsApp allows to the escalation partner only."""


class ControlRequest(_ControlRequestRequired, total=False):
    role: str
    """With `pass`: the role that becomes the owner, such as `ai_agent`; without it WhatsApp chooses."""
    note: str
    """For the new owner; it is in its notification."""


class ControlledConversation(TypedDict):
    id: str
    owner: Literal["you", "other", "unknown"]
    owner_role: str | None


class ControlledConversationResponse(TypedDict):
    data: ControlledConversation


class _ConversationContactResponseRequired(TypedDict):
    phone: str | None
    user_id: str | None
    """The platform's business-scoped id of a contact who may hide the number."""
    name: str | None


class ConversationContactResponse(_ConversationContactResponseRequired, total=False):
    previous: PreviousNamesResponse
    """What the contact was named before; a message to one of these goes to the present number or user id. Missing where WhatsApp reported no change."""


class ConversationControlUpdatedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None
    name: str | None


class _ConversationControlUpdatedEventDataRequired(TypedDict):
    conversation_id: str
    connection_id: str
    contact: ConversationControlUpdatedEventDataContact
    owner: Literal["you", "other", "unknown"]
    """Who may send ordinary messages from now on."""
    owner_role: str | None
    """Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known."""
    previous_owner: Literal["you", "other", "unknown"]
    previous_owner_role: str | None
    note: str | None
    """What the former owner wrote to the new one."""
    context: Dict[str, Any] | None
    """A summary of the conversation, or its last messages, in the terms of WhatsApp."""
    occurred_at: str
    """By WhatsApp, in whole seconds: of several events of a conversation the latest counts."""


class ConversationControlUpdatedEventData(_ConversationControlUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class ConversationControlUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["conversation.control.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: ConversationControlUpdatedEventData


class _ConversationResponseRequired(TypedDict):
    id: str
    connection_id: str
    contact: ConversationContactResponse
    last_message: MessageListItem | None
    """The newest message, in either direction; null where the contact has called only."""
    last_inbound_at: str | None
    """When the contact last wrote to you or called; null where that never happened."""
    service_window_closes_at: str | None
    """Until then ordinary messages may be sent; in the past, or null: only templates."""
    unread_count: int
    """Messages of the contact after the newest one that was marked as read with POST /messages/{id}/read; 100 means 100 or more. Reactions, corrections, withdrawals and what was written to another app are not counted. An answer alone marks nothing as read."""
    owner: Literal["you", "other", "unknown"]
    """Who may send ordinary messages, where several apps answer on this number: `you`, another app (`other`), or `unknown`, as of the last notification. Templates may be sent by all. See `conversation.control.updated`."""
    owner_role: str | None
    """Of the other app: `customer_service`, `marketing`, `utility`, `ctwa`, `ai_agent`, `escalation`, or a later role; null where it is not known, or you are the owner."""
    closed: bool
    """Set with PATCH /conversations/{id}; the next message of the customer makes it false. It keeps nothing from being sent."""
    assignee: str | None
    """Who looks after it, in your own words, as set with PATCH /conversations/{id}; null where that is not said."""
    created_at: str
    updated_at: str
    """When the last message was taken or received: lists are in this order."""


class ConversationResponse(_ConversationResponseRequired, total=False):
    assignee_id: str | None
    """The person who was chosen by `assignee_id`; null where only a text was given. Kept where the person is no member any more."""


class ConversationUpdatedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None
    name: str | None


class _ConversationUpdatedEventDataRequired(TypedDict):
    conversation_id: str
    connection_id: str
    contact: ConversationUpdatedEventDataContact
    closed: bool
    assignee: str | None
    previous_closed: bool
    previous_assignee: str | None
    cause: Literal["request", "message"]
    """A request, or a message of the customer."""
    occurred_at: str
    """When it changed here."""


class ConversationUpdatedEventData(_ConversationUpdatedEventDataRequired, total=False):
    assignee_id: str | None
    """The person, where one was chosen by `assignee_id`."""
    previous_assignee_id: str | None
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class ConversationUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["conversation.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: ConversationUpdatedEventData


class ConversationsResponse(TypedDict):
    data: List[ConversationResponse]
    pagination: JournalPagination


class CostResponse(TypedDict):
    currency: str
    amount: str


class _CreateDestinationRequestRequired(TypedDict):
    name: str
    """Names it for people; each of the workspace has another one."""


class CreateDestinationRequest(_CreateDestinationRequestRequired, total=False):
    events: Sequence[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    """Kinds of event to write. Left out of a new destination: the two about messages."""
    connection_ids: Sequence[str]
    """Numbers whose events to write, as for the webhook; empty: all. Events about no number are written in any case."""
    active: bool
    """With `false` events wait in Herald, as long as it keeps them, and are written once it is `true` again."""
    nats: NatsRequest
    """NATS JetStream. The settings as a whole; secrets that are left out stay, unless host or port change."""
    rabbitmq: RabbitmqRequest
    """RabbitMQ. The settings as a whole; secrets that are left out stay, unless host or port change."""
    sqs: SqsRequest
    """Amazon SQS. The settings as a whole; secrets that are left out stay, unless the host changes."""


CreateTemplate = Union["CreateTemplateFromBody", "CreateTemplateFromComponents"]


class _CreateTemplateFromBodyRequired(TypedDict):
    name: str
    """Small letters, digits and underscores."""
    language: str
    """The platform's code of the language, such as `en_US` or `de`."""
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    """In either case."""
    body: str
    """The text, with variables `{{1}}`, `{{2}}` ..."""


class CreateTemplateFromBody(_CreateTemplateFromBodyRequired, total=False):
    """A template of one text."""
    variable_examples: Sequence[str]
    """One example for each variable of `body`, in their order."""
    parameter_format: Literal["POSITIONAL", "NAMED"]
    """`NAMED` for variables such as `{{first_name}}`; default `POSITIONAL`. In either case."""
    message_send_ttl_seconds: int
    """Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's."""


class _CreateTemplateFromComponentsRequired(TypedDict):
    name: str
    """Small letters, digits and underscores."""
    language: str
    """The platform's code of the language, such as `en_US` or `de`."""
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    """In either case."""
    components: Sequence[Mapping[str, Any]]
    """The parts of the template, in the platform's own format."""


class CreateTemplateFromComponents(_CreateTemplateFromComponentsRequired, total=False):
    """A template of components in the platform's own format."""
    parameter_format: Literal["POSITIONAL", "NAMED"]
    """`NAMED` for variables such as `{{first_name}}`; default `POSITIONAL`. In either case."""
    message_send_ttl_seconds: int
    """Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's."""


class CurrentResponse(TypedDict):
    body: str | None
    content: ReceivedContent


class DeletedTemplate(TypedDict):
    name: str
    deleted_languages: List[str]


class DeletedTemplateResponse(TypedDict):
    data: DeletedTemplate


class DeliveriesResponse(TypedDict):
    data: List[DeliveryResponse]
    pagination: PaginationResponse


class DeliveryResponse(TypedDict):
    id: str
    event_id: str
    """The same for all attempts of an event; also the header `webhook-id`."""
    event_type: Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]
    attempt: int
    """1 for the first attempt of the event."""
    status: Literal["succeeded", "failed"]
    """`succeeded`: any 2xx within ten seconds."""
    http_status: int | None
    """Null where no answer came."""
    error: str | None
    """What went wrong, in a short word: `http_503`, `timeout`, `connection_refused`, `interrupted` and so on. `secret_unreadable`: Herald lacks the key that opens the signing secret; its operator has to give it back, or rotate-secret makes another one."""
    duration_ms: int | None
    created_at: str
    """When the attempt began."""
    next_attempt_at: str | None
    """When the next attempt was planned for as this one ended; null where it was the last."""


class DeliveryTimesResponse(TypedDict):
    p50: int
    """Half of the delivered messages took no longer, about."""
    p95: int


class DeliveryWithEvent(TypedDict):
    id: str
    event_id: str
    """The same for all attempts of an event; also the header `webhook-id`."""
    event_type: Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]
    attempt: int
    """1 for the first attempt of the event."""
    status: Literal["succeeded", "failed"]
    """`succeeded`: any 2xx within ten seconds."""
    http_status: int | None
    """Null where no answer came."""
    error: str | None
    """What went wrong, in a short word: `http_503`, `timeout`, `connection_refused`, `interrupted` and so on. `secret_unreadable`: Herald lacks the key that opens the signing secret; its operator has to give it back, or rotate-secret makes another one."""
    duration_ms: int | None
    created_at: str
    """When the attempt began."""
    next_attempt_at: str | None
    """When the next attempt was planned for as this one ended; null where it was the last."""
    event: WebhookEvent | None
    """The body that was sent. Null where the event is no longer kept, or where the key lacks the scope `messages:read`, or `media:read` for files."""


class _DestinationDataRequired(TypedDict):
    id: str
    name: str
    kind: Literal["nats", "rabbitmq", "sqs"]
    secrets: List[str]
    """Names of the secrets that it has. Their values are never shown."""
    events: List[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    connection_ids: List[str]
    """Numbers whose events it gets; empty: all."""
    status: Literal["active", "failing", "paused"]
    """`failing`: the last attempt failed, and Herald tries again at `retry_at`. `paused`: by POST /destinations/{id}/pause."""
    failing_since: str | None
    """Since when nothing could be written; null while it can."""
    last_error: str | None
    """What went wrong last, in a short word: `connection_refused`, `unauthorized`, `unroutable` and so on."""
    last_error_at: str | None
    retry_at: str | None
    """When Herald tries again where it is failing; else null."""
    last_written_at: str | None
    written: int
    """Events that it has acknowledged, those of replays included."""
    waiting: int
    """Events that wait for it; 1,001 stands for more than 1,000."""
    waiting_since: str | None
    """Since when the oldest of them waits; null where none does."""
    lost: int
    """Events that were never written: their time was over before, or they are too large for it. `destination.events_lost` tells of them."""
    lost_at: str | None
    created_at: str
    updated_at: str


class DestinationData(_DestinationDataRequired, total=False):
    nats: NatsData
    """Only where `kind` is `nats`."""
    rabbitmq: RabbitmqData
    """Only where `kind` is `rabbitmq`."""
    sqs: SqsData
    """Only where `kind` is `sqs`."""


class _DestinationEventsLostEventDataRequired(TypedDict):
    destination_id: str
    """Of GET /destinations."""
    name: str
    kind: str
    """`nats`, `rabbitmq` or `sqs`."""
    events: int
    """How many, since it was told of the last time."""
    lost: int
    """How many in all."""
    occurred_at: str
    """When the last of them was lost."""


class DestinationEventsLostEventData(_DestinationEventsLostEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class DestinationEventsLostEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["destination.events_lost"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: DestinationEventsLostEventData


class DestinationListResponse(TypedDict):
    data: List[DestinationData]


class DestinationResponse(TypedDict):
    data: DestinationData


class DestinationTestData(TypedDict):
    written: bool
    """Whether the broker has acknowledged the event."""
    error: str | None
    """What went wrong, as `last_error` of a destination; null where it was written."""
    event_id: str
    """Of the `webhook.test` event, which stands in no journal."""


class DestinationTestResponse(TypedDict):
    data: DestinationTestData


class _EditTemplateRequired(TypedDict):
    language: str
    """The platform's code of the language, such as `en_US` or `de`."""
    components: Sequence[Mapping[str, Any]]
    """The parts of the template, in the platform's own format."""


class EditTemplate(_EditTemplateRequired, total=False):
    message_send_ttl_seconds: int
    """Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for `UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's."""


class ErrorDetail(TypedDict):
    field: str
    """Path of the field; empty: the body as a whole."""
    rule: str
    """Which rule it breaks."""
    message: str


class _ErrorResponseErrorRequired(TypedDict):
    code: str
    """Stable; decide by it."""
    message: str
    """One sentence for people that says what to do."""
    request_id: str
    """Names this request in our logs."""
    doc_url: str
    """More about this code."""


class ErrorResponseError(_ErrorResponseErrorRequired, total=False):
    details: List[ErrorDetail]
    """The invalid fields, where the request was invalid."""


class ErrorResponse(TypedDict):
    """Every error answer. Beside the fields named here stand those of its code."""
    error: ErrorResponseError


class EventsResponse(TypedDict):
    data: List[WebhookEvent]
    """Each as a webhook delivery brings it; by `type`."""
    next: str
    """Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events."""
    done: bool
    """True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`."""
    omitted: List[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "contact.opt_out.updated", "media.ready", "media.failed", "payment.updated", "call.missed", "call.ended"]]
    """Types that were left out because the key lacks the scope `messages:read`, or `media:read` for files."""


class EveryMessage(TypedDict, total=False):
    """Exactly one of `to`, `recipient` and `conversation_id` is given; with `to` and `recipient` also `connection_id`, with `conversation_id` never."""
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class ExplanationResponse(TypedDict):
    summary: str
    responsible: Literal["you", "recipient", "operator", "whatsapp", None]
    """Who can do something about it: `you` call this API, `operator` runs Herald; null where only time helps or nothing is wrong."""
    retry: RetryAdviceResponse


FailureCategory = str
"""Why it failed, in terms that stay the same whatever WhatsApp calls it. Later versions may have more."""


class HeaderMediaResponse(TypedDict):
    type: Literal["image", "video", "document"]


class InboundContextResponse(TypedDict, total=False):
    forwarded: bool
    frequently_forwarded: bool
    referred_product: Dict[str, Any]
    """The product that the customer asks about."""
    quoted_platform_id: str
    """WhatsApp's id of the message that it answers, where that is none of the journal."""


class JournalPagination(TypedDict):
    next_before: str | None
    """Pass it as `before` for the next page; null on the last one."""
    next_before_id: str | None
    """Pass it as `before_id` together with `before`."""


class JournalResponse(TypedDict):
    data: List[MessageListItem]
    pagination: JournalPagination


class KeyData(TypedDict):
    name: str
    """As it was given when the key was made; of a session the name of the person."""
    scopes: List[Literal["connections:read", "messages:read", "messages:write", "templates:read", "templates:write", "profile:read", "profile:write", "media:read", "media:write", "webhooks:read", "webhooks:write", "otp:send", "otp:verify", "otp:read"]]
    mode: Literal["live", "test"]
    """`test`: a key of a sandbox project, which sends nothing."""
    otp_project: ProjectOfKey | None
    """Of a key for one-time codes; null: one of the workspace."""
    expires_at: str | None
    """Null: never."""
    person: PersonOfKey | None
    """Of a session in the console; null: a key."""
    version: str
    """Of Herald."""
    workspace: WorkspaceOfKey
    rate_limit: RateOfKey


class KeyResponse(TypedDict):
    data: KeyData


class LastTagAction(TypedDict):
    action: Literal["pause", "resume", "cancel", "retry"]
    started_at: str
    ended_at: str | None
    """null: it goes on. A pause holds from its start on."""
    done: int
    """Messages that it has held, freed, canceled or queued again."""
    skipped: Dict[str, int]
    """Messages that a retry had to leave as they were, by the error code that POST /messages/{id}/retry would answer."""


class MediaFailedEventDataMedia(TypedDict):
    id: str
    """`media_object_id` of the message: GET /media/{id}/url."""
    connection_id: str
    type: Literal["image", "video", "audio", "document", "sticker"]
    mime_type: str
    size_bytes: int | None
    sha256: str | None
    filename: str | None
    voice: bool
    direction: Literal["inbound"]
    status: Literal["failed"]
    created_at: str


class _MediaFailedEventDataRequired(TypedDict):
    media: MediaFailedEventDataMedia
    message_id: str | None
    """The message that brought it; null where that is not known."""
    conversation_id: str | None
    """Of that message."""
    reason: str | None
    """Why it will not come, in words."""


class MediaFailedEventData(_MediaFailedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MediaFailedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["media.failed"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MediaFailedEventData


class MediaLinkData(TypedDict):
    url: str
    """Answers with the bytes, without a key, to GET and HEAD, with single ranges."""
    expires_at: str


class MediaLinkResponse(TypedDict):
    data: MediaLinkData


class MediaListResponse(TypedDict):
    data: List[MediaResponse]
    pagination: PaginationResponse


class MediaReadyEventDataMedia(TypedDict):
    id: str
    """`media_object_id` of the message: GET /media/{id}/url."""
    connection_id: str
    type: Literal["image", "video", "audio", "document", "sticker"]
    mime_type: str
    size_bytes: int | None
    sha256: str | None
    filename: str | None
    voice: bool
    direction: Literal["inbound"]
    status: Literal["stored"]
    created_at: str


class _MediaReadyEventDataRequired(TypedDict):
    media: MediaReadyEventDataMedia
    message_id: str | None
    """The message that brought it; null where that is not known."""
    conversation_id: str | None
    """Of that message."""


class MediaReadyEventData(_MediaReadyEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MediaReadyEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["media.ready"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MediaReadyEventData


class MediaResponse(TypedDict):
    id: str
    """Used as `media.id` when sending."""
    connection_id: str
    """The number that it was uploaded for, or that received it."""
    type: Literal["image", "video", "audio", "document", "sticker"]
    """What it can be sent as."""
    mime_type: str
    """The MIME type, detected from the content."""
    size_bytes: int | None
    """Null while an inbound file is not fetched yet."""
    sha256: str | None
    """SHA-256 of the bytes in hex."""
    filename: str | None
    """As its sender named it, without folders and invisible characters; at most 240 characters."""
    voice: bool
    """It is a voice message."""
    direction: Literal["outbound", "inbound"]
    """`outbound`: uploaded here; `inbound`: sent by a customer."""
    status: Literal["stored", "pending", "failed"]
    """`pending`: Herald is fetching it from the platform; `failed`: it will not come."""
    created_at: str
    expires_at: str | None
    """When Herald deletes it by itself, as it is set up now; null: it stays until you delete it."""


class MembersResponse(TypedDict):
    data: List[WorkspaceMemberResponse]
    pagination: PaginationResponse


class _MessageCheckProblemsItemRequired(TypedDict):
    code: str
    message: str
    doc_url: str


class MessageCheckProblemsItem(_MessageCheckProblemsItemRequired, total=False):
    details: List[ErrorDetail]


class _MessageCheckRequired(TypedDict):
    sendable: bool
    problems: List[MessageCheckProblemsItem]
    warnings: List[CheckWarningResponse]
    rendered: RenderedMessageResponse
    queue: CheckedQueue
    limits: List[CheckedLimit]


class MessageCheck(_MessageCheckRequired, total=False):
    conversation_id: str | None
    window: CheckedWindow
    owner: Literal["you", "other", "unknown"]
    owner_role: str | None
    endpoint: Literal["messages", "marketing_messages"]


class MessageCheckResponse(TypedDict):
    data: MessageCheck


class MessageErrorResponse(TypedDict):
    code: str
    message: str


_MessageListItemKeywords = TypedDict("_MessageListItemKeywords", {"from": "str | None"})


class _MessageListItemRequired(TypedDict):
    id: str
    connection_id: str
    conversation_id: str | None
    direction: Literal["outbound", "inbound"]
    source: Literal["api", "app", "customer", "history"]
    """`api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of before the number was connected, imported from that app."""
    to: str | None
    """The recipient; for an inbound message the workspace's own number; null where it is addressed to a user id."""
    recipient: str | None
    """The user id that it is addressed to instead of a number."""
    contact: ContactResponse
    type: str
    body: str | None
    content: ReceivedContent
    """The variant's object as it was sent or received."""
    media_object_id: str | None
    """The file that it sends, refers to, or that came with it: GET /media/{id}/url."""
    reply_to_message_id: str | None
    status: Literal["queued", "processing", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown", "received"]
    failure_category: FailureCategory | None
    pricing: PricingResponse | None
    """Null until WhatsApp has said it, which it does with `sent`, `delivered` or `read`, and of received messages."""
    client_message_id: str | None
    tag: str | None
    """The group of messages that it belongs to; null of received messages, and where it has none."""
    metadata: Dict[str, str] | None
    """Your own strings, as sent."""
    meta_message_id: str | None
    created_at: str
    standby: bool
    """Received as an observer: the customer wrote to another app, which owned the conversation. Do not answer it."""


class MessageListItem(_MessageListItemKeywords, _MessageListItemRequired, total=False):
    scheduled_for: str
    """When it is to go. Only while the message is scheduled."""
    context: InboundContextResponse
    referral: Dict[str, Any]
    """The advertisement or post that led the customer here, as WhatsApp reports it."""
    identity: Dict[str, Any]
    """State of the customer's keys, where the number checks for changes."""
    username: str
    """The customer's WhatsApp user name."""
    group_id: str
    """Only on what was said in a group: it belongs to no conversation and opens no window."""
    edits_message_id: str | None
    """Only on `type` `edit`: the message that it corrects; null where that is not known."""
    revokes_message_id: str | None
    """Only on `type` `revoke`: the message that it withdraws; null where that is not known."""
    edited_at: str | None
    """When its author last corrected it. Only on a message that was edited or revoked."""
    revoked_at: str | None
    """When its author withdrew it: show its text no longer. Only on a message that was edited or revoked."""
    current: CurrentResponse | None
    """What it says since the last edit, beside `body` and `content`, which stay; null where it was revoked."""


MessageMetadata = Mapping[str, str]
"""Your own strings, returned as they are: up to 20, and 2048 bytes as JSON."""


class MessageReceivedEventDataMessageCurrent(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


class MessageReceivedEventDataMessageCurrent2(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


_MessageReceivedEventDataMessageKeywords = TypedDict("_MessageReceivedEventDataMessageKeywords", {"from": "str | None"})


class _MessageReceivedEventDataMessageRequired(TypedDict):
    id: str
    connection_id: str
    conversation_id: str | None
    type: str
    failure_category: str | None
    client_message_id: str | None
    tag: str | None
    metadata: Dict[str, str] | None
    meta_message_id: str | None
    reply_to_message_id: str | None
    media_object_id: str | None
    """A file that came with it: GET /media/{id}/url."""
    direction: Literal["inbound"]
    source: Literal["customer"]
    to: str | None
    """The workspace's own number."""
    body: str | None
    status: Literal["received"]
    created_at: str
    """When it came to Herald."""
    sent_at: str | None
    """When the customer wrote it, in whole seconds."""
    standby: bool
    """Written to another app, which owned the conversation: do not answer it."""


class MessageReceivedEventDataMessage(_MessageReceivedEventDataMessageKeywords, _MessageReceivedEventDataMessageRequired, total=False):
    edits_message_id: str | None
    """Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`."""
    revokes_message_id: str | None
    """Only of type `revoke`: what it withdraws, as `edits_message_id`."""
    edited_at: str | None
    """Only where an edit or a revoke came before the message."""
    revoked_at: str | None
    current: MessageReceivedEventDataMessageCurrent | MessageReceivedEventDataMessageCurrent2
    """What it says by now; null where it was revoked."""


class MessageReceivedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None
    name: str | None


class MessageReceivedEventDataContext(TypedDict, total=False):
    forwarded: bool
    frequently_forwarded: bool
    referred_product: Dict[str, Any]
    """The product that the customer asks about."""
    quoted_platform_id: str
    """What it answers, where that is none of the messages known here."""


class _MessageReceivedEventDataRequired(TypedDict):
    conversation_id: str | None
    """As in `message`; null of what was said in a group."""
    message: MessageReceivedEventDataMessage
    owner: Literal["you", "other", "unknown"]
    """Who may send ordinary messages in the conversation."""
    owner_role: str | None
    """Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known."""
    contact: MessageReceivedEventDataContact
    content: ReceivedContent
    sequence: int
    """Counts the events of this message: deliveries may overtake each other, so keep the highest."""


class MessageReceivedEventData(_MessageReceivedEventDataRequired, total=False):
    context: MessageReceivedEventDataContext
    referral: Dict[str, Any]
    """The advertisement or post that led the customer here, as WhatsApp reports it."""
    identity: Dict[str, Any]
    """State of the customer's keys, where the number checks for changes."""
    username: str
    """The customer's WhatsApp user name."""
    group_id: str
    """Said in a group: it belongs to no conversation and opens no window."""
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MessageReceivedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["message.received"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MessageReceivedEventData


_MessageResponseKeywords = TypedDict("_MessageResponseKeywords", {"from": "str | None"})


class _MessageResponseRequired(TypedDict):
    id: str
    connection_id: str
    conversation_id: str | None
    direction: Literal["outbound", "inbound"]
    source: Literal["api", "app", "customer", "history"]
    """`api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of before the number was connected, imported from that app."""
    to: str | None
    """The recipient; for an inbound message the workspace's own number; null where it is addressed to a user id."""
    recipient: str | None
    """The user id that it is addressed to instead of a number."""
    contact: ContactResponse
    type: str
    body: str | None
    content: ReceivedContent
    """The variant's object as it was sent or received."""
    media_object_id: str | None
    """The file that it sends, refers to, or that came with it: GET /media/{id}/url."""
    reply_to_message_id: str | None
    status: Literal["queued", "processing", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown", "received"]
    failure_category: FailureCategory | None
    pricing: PricingResponse | None
    """Null until WhatsApp has said it, which it does with `sent`, `delivered` or `read`, and of received messages."""
    client_message_id: str | None
    tag: str | None
    """The group of messages that it belongs to; null of received messages, and where it has none."""
    metadata: Dict[str, str] | None
    """Your own strings, as sent."""
    meta_message_id: str | None
    created_at: str
    standby: bool
    """Received as an observer: the customer wrote to another app, which owned the conversation. Do not answer it."""
    error: MessageErrorResponse | None
    attempt_count: int
    next_attempt_at: str | None
    """When the next attempt is due, while the message is queued."""
    queued_at: str | None
    processing_at: str | None
    accepted_at: str | None
    """When its status became `accepted`; null where a report of WhatsApp came before the answer to the request."""
    sent_at: str | None
    """When WhatsApp sent it; of a received message, when the customer wrote it, in whole seconds."""
    delivered_at: str | None
    read_at: str | None
    failed_at: str | None


class MessageResponse(_MessageResponseKeywords, _MessageResponseRequired, total=False):
    scheduled_for: str
    """When it is to go. Only while the message is scheduled."""
    context: InboundContextResponse
    referral: Dict[str, Any]
    """The advertisement or post that led the customer here, as WhatsApp reports it."""
    identity: Dict[str, Any]
    """State of the customer's keys, where the number checks for changes."""
    username: str
    """The customer's WhatsApp user name."""
    group_id: str
    """Only on what was said in a group: it belongs to no conversation and opens no window."""
    edits_message_id: str | None
    """Only on `type` `edit`: the message that it corrects; null where that is not known."""
    revokes_message_id: str | None
    """Only on `type` `revoke`: the message that it withdraws; null where that is not known."""
    edited_at: str | None
    """When its author last corrected it. Only on a message that was edited or revoked."""
    revoked_at: str | None
    """When its author withdrew it: show its text no longer. Only on a message that was edited or revoked."""
    current: CurrentResponse | None
    """What it says since the last edit, beside `body` and `content`, which stay; null where it was revoked."""
    waiting: WaitingResponse
    """Only while the message is queued, in the answer of GET /messages/{id}."""
    estimated_send_at: str | None
    """With `waiting`: when it leaves, by the queue as it stands and the pace of the number; null where that can't be known, or 10,000 messages or more are ahead."""
    expires_at: str
    """With `waiting`: when the message is given up (`failed`, category `expired`) if it has not left by then."""
    attempts: List[AttemptResponse]
    """The send attempts, oldest first. Only in the answer of GET /messages/{id}."""


class MessageSentElsewhereEventDataMessageCurrent(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


class MessageSentElsewhereEventDataMessageCurrent2(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


_MessageSentElsewhereEventDataMessageKeywords = TypedDict("_MessageSentElsewhereEventDataMessageKeywords", {"from": "str | None"})


class _MessageSentElsewhereEventDataMessageRequired(TypedDict):
    id: str
    connection_id: str
    conversation_id: str | None
    type: str
    """As of received messages; also `edit` and `revoke`, about an earlier one."""
    failure_category: str | None
    client_message_id: str | None
    tag: str | None
    metadata: Dict[str, str] | None
    meta_message_id: str | None
    reply_to_message_id: str | None
    media_object_id: str | None
    """A file that came with it: GET /media/{id}/url."""
    direction: Literal["outbound"]
    source: Literal["app"]
    to: str | None
    """The customer's number; null where only a user id is known."""
    body: str | None
    status: Literal["sent"]
    created_at: str
    """When WhatsApp told Herald of it."""
    sent_at: str | None
    """When it was sent, in whole seconds."""
    standby: bool


class MessageSentElsewhereEventDataMessage(_MessageSentElsewhereEventDataMessageKeywords, _MessageSentElsewhereEventDataMessageRequired, total=False):
    edits_message_id: str | None
    """Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`."""
    revokes_message_id: str | None
    """Only of type `revoke`: what it withdraws, as `edits_message_id`."""
    edited_at: str | None
    """Only where an edit or a revoke came before the message."""
    revoked_at: str | None
    current: MessageSentElsewhereEventDataMessageCurrent | MessageSentElsewhereEventDataMessageCurrent2
    """What it says by now; null where it was revoked."""


class MessageSentElsewhereEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None
    name: str | None


class _MessageSentElsewhereEventDataRequired(TypedDict):
    conversation_id: str | None
    """As in `message`; null of what was said in a group."""
    message: MessageSentElsewhereEventDataMessage
    owner: Literal["you", "other", "unknown"]
    """Who may send ordinary messages in the conversation."""
    owner_role: str | None
    """Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known."""
    contact: MessageSentElsewhereEventDataContact
    content: ReceivedContent
    sequence: int
    """Counts the events of this message: deliveries may overtake each other, so keep the highest."""


class MessageSentElsewhereEventData(_MessageSentElsewhereEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MessageSentElsewhereEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["message.sent_elsewhere"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MessageSentElsewhereEventData


class MessageStandbyReceivedEventDataMessageCurrent(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


class MessageStandbyReceivedEventDataMessageCurrent2(TypedDict):
    """What it says by now; null where it was revoked."""
    body: str | None
    content: ReceivedContent


_MessageStandbyReceivedEventDataMessageKeywords = TypedDict("_MessageStandbyReceivedEventDataMessageKeywords", {"from": "str | None"})


class _MessageStandbyReceivedEventDataMessageRequired(TypedDict):
    id: str
    connection_id: str
    conversation_id: str | None
    type: str
    failure_category: str | None
    client_message_id: str | None
    tag: str | None
    metadata: Dict[str, str] | None
    meta_message_id: str | None
    reply_to_message_id: str | None
    media_object_id: str | None
    """A file that came with it: GET /media/{id}/url."""
    direction: Literal["inbound"]
    source: Literal["customer"]
    to: str | None
    """The workspace's own number."""
    body: str | None
    status: Literal["received"]
    created_at: str
    """When it came to Herald."""
    sent_at: str | None
    """When the customer wrote it, in whole seconds."""
    standby: bool
    """Written to another app, which owned the conversation: do not answer it."""


class MessageStandbyReceivedEventDataMessage(_MessageStandbyReceivedEventDataMessageKeywords, _MessageStandbyReceivedEventDataMessageRequired, total=False):
    edits_message_id: str | None
    """Only of type `edit`: what it corrects. Null where that is not known; `content.original_message_id` is its `meta_message_id`."""
    revokes_message_id: str | None
    """Only of type `revoke`: what it withdraws, as `edits_message_id`."""
    edited_at: str | None
    """Only where an edit or a revoke came before the message."""
    revoked_at: str | None
    current: MessageStandbyReceivedEventDataMessageCurrent | MessageStandbyReceivedEventDataMessageCurrent2
    """What it says by now; null where it was revoked."""


class MessageStandbyReceivedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None
    name: str | None


class MessageStandbyReceivedEventDataContext(TypedDict, total=False):
    forwarded: bool
    frequently_forwarded: bool
    referred_product: Dict[str, Any]
    """The product that the customer asks about."""
    quoted_platform_id: str
    """What it answers, where that is none of the messages known here."""


class _MessageStandbyReceivedEventDataRequired(TypedDict):
    conversation_id: str | None
    """As in `message`; null of what was said in a group."""
    message: MessageStandbyReceivedEventDataMessage
    owner: Literal["you", "other", "unknown"]
    """Who may send ordinary messages in the conversation."""
    owner_role: str | None
    """Of another app: customer_service, marketing, utility, ctwa, ai_agent, escalation, or a later one; null where it is not known."""
    contact: MessageStandbyReceivedEventDataContact
    content: ReceivedContent
    sequence: int
    """Counts the events of this message: deliveries may overtake each other, so keep the highest."""


class MessageStandbyReceivedEventData(_MessageStandbyReceivedEventDataRequired, total=False):
    context: MessageStandbyReceivedEventDataContext
    referral: Dict[str, Any]
    """The advertisement or post that led the customer here, as WhatsApp reports it."""
    identity: Dict[str, Any]
    """State of the customer's keys, where the number checks for changes."""
    username: str
    """The customer's WhatsApp user name."""
    group_id: str
    """Said in a group: it belongs to no conversation and opens no window."""
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MessageStandbyReceivedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["message.standby.received"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MessageStandbyReceivedEventData


class MessageStatusUpdatedEventDataError(TypedDict):
    """Why it failed, in the words of the platform."""
    code: str
    message: str


class MessageStatusUpdatedEventDataError2(TypedDict):
    """Why it failed, in the words of the platform."""
    code: str
    message: str


class MessageStatusUpdatedEventDataPricing(TypedDict):
    """What WhatsApp charges; null until it says so."""
    billable: bool | None
    category: str | None
    type: str | None
    """`regular` is charged; what begins with `free_` is not."""
    subtype: str | None
    model: str | None


class MessageStatusUpdatedEventDataPricing2(TypedDict):
    """What WhatsApp charges; null until it says so."""
    billable: bool | None
    category: str | None
    type: str | None
    """`regular` is charged; what begins with `free_` is not."""
    subtype: str | None
    model: str | None


class _MessageStatusUpdatedEventDataRequired(TypedDict):
    message_id: str
    client_message_id: str | None
    connection_id: str
    conversation_id: str | None
    """Null where the contact was erased."""
    type: str
    tag: str | None
    metadata: Dict[str, str] | None
    """Your own strings, as sent."""
    to: str | None
    """The recipient; null where it is addressed to a user id."""
    recipient: str | None
    """The user id that it is addressed to instead of a number."""
    status: Literal["accepted", "sent", "delivered", "read", "failed", "outcome_unknown"]
    previous_status: Literal["queued", "processing", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown"]
    occurred_at: str
    """When the message came to this state; the platform reports whole seconds."""
    attempt: int
    """Number of the send attempt."""
    failure_category: FailureCategory | None
    error: MessageStatusUpdatedEventDataError | MessageStatusUpdatedEventDataError2
    """Why it failed, in the words of the platform."""
    pricing: MessageStatusUpdatedEventDataPricing | MessageStatusUpdatedEventDataPricing2
    """What WhatsApp charges; null until it says so."""
    sequence: int
    """Counts the events of this message: deliveries may overtake each other, so keep the highest."""


class MessageStatusUpdatedEventData(_MessageStatusUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class MessageStatusUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["message.status.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: MessageStatusUpdatedEventData


MessageTag = str
"""A group of messages, a campaign for example, which is counted, paused and canceled as one."""


class NatsData(TypedDict):
    url: str
    subject: str
    username: str | None


class _NatsRequestRequired(TypedDict):
    url: str
    """Host and port; `nats:` without and `tls:` with TLS."""


class NatsRequest(_NatsRequestRequired, total=False):
    subject: str
    """Subject of a stream of yours. `{type}` stands for the kind of event, `{conversation}` for the conversation. Default: herald.{type}."""
    username: str | None
    password: str
    """With `username`. Left out: as it is, unless host or port change."""
    token: str
    """In place of user name and password."""
    credentials: str
    """Text of a credentials file (JWT and seed), in place of the others."""


class OptOutContactResponse(TypedDict):
    phone: str | None
    user_id: str | None


class OptOutListResponse(TypedDict):
    data: List[OptOutResponse]
    pagination: PaginationResponse


class OptOutResponse(TypedDict):
    id: str
    connection_id: str | None
    """The number that an entry of WhatsApp is about; null for those of the workspace, which hold for all its numbers."""
    contact: OptOutContactResponse
    source: Literal["own", "platform"]
    """`own`: recorded by the workspace, with PUT /opt-outs or by a keyword. `platform`: reported by WhatsApp."""
    category: Literal["marketing", "all"]
    reason: str | None
    since: str
    """When they opted out; lists are in this order."""


class _OtpChallengeResponseRequired(TypedDict):
    id: str
    channel: Literal["whatsapp"]
    mode: Literal["sandbox", "live"]
    recipient: str
    """Digits without `+`."""
    status: Literal["queued", "sending", "outcome_unknown", "sent", "delivered", "read", "verified", "failed", "expired"]
    attempts_remaining: int
    """Guesses that are left."""
    error: str | None
    """Why it could not be sent: a failure category."""
    created_at: str
    expires_at: str
    sent_at: str | None
    delivered_at: str | None
    read_at: str | None
    verified_at: str | None


class OtpChallengeResponse(_OtpChallengeResponseRequired, total=False):
    test_code: str
    """The code: only in the first answer of a sandbox."""


class PaginationResponse(TypedDict):
    next_before: str | None
    """Pass it as `before` for the next page; null on the last one."""
    next_before_id: str | None
    """Pass it as `before_id` together with `before`."""


class PaymentUpdatedEventDataContact(TypedDict):
    phone: str | None
    user_id: str | None


class _PaymentUpdatedEventDataRequired(TypedDict):
    message_id: str | None
    """The message with the order; null: not known."""
    conversation_id: str | None
    connection_id: str
    occurred_at: str
    contact: PaymentUpdatedEventDataContact
    status: str
    """`new`, `pending`, `captured`, `canceled`, `failed`, or a later word."""
    payment: Dict[str, Any]
    """As WhatsApp sends it."""


class PaymentUpdatedEventData(_PaymentUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class PaymentUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["payment.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: PaymentUpdatedEventData


class PersonOfKey(TypedDict):
    id: str
    name: str
    email: str
    role: Literal["viewer", "agent", "developer", "admin", "operator"]
    """In this workspace."""
    admin_scopes: List[Literal["workspaces:read", "workspaces:write", "keys:read", "keys:write", "operator-keys:read", "operator-keys:write", "connections:read", "connections:write", "people:read", "people:write", "erasures:write", "otp:read", "otp:write", "billing:read", "billing:write", "usage:read", "audit:read", "events:read", "installation:read"]]
    """What the person may call of the admin API for this workspace."""


class _PlatformErrorEventDataRequired(TypedDict):
    connection_id: str
    occurred_at: str
    code: int | None
    summary: str
    """In our words."""


class PlatformErrorEventData(_PlatformErrorEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class PlatformErrorEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["platform.error"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: PlatformErrorEventData


class _PreviewButtonResponseRequired(TypedDict):
    type: str
    text: str


class PreviewButtonResponse(_PreviewButtonResponseRequired, total=False):
    url: str
    phone_number: str
    code: str
    """What the button copies."""


class PreviewData(TypedDict):
    name: str
    language: str
    header: PreviewHeader | None
    body: str | None
    footer: str | None
    buttons: List[PreviewButtonResponse]
    missing: List[str]
    """Variables for which no value was given, such as `body.{{2}}` or `buttons[0].{{1}}`; they are in the texts as they are. A link whose variable has no value shows its example."""
    unused: List[str]
    """Values that no variable takes, by their place from 0, such as `body[2]` or `buttons[1]`; by name where they have names."""


class PreviewHeader(TypedDict):
    format: str
    """TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION ..."""
    text: str | None
    """Null where the header is no text."""


class PreviewResponse(TypedDict):
    data: PreviewData


class PreviewTemplateRequestParameters(TypedDict, total=False):
    """In their place the values alone, as a message takes them: in the order of the numbers, or of the first appearance."""
    header: Sequence[str]
    body: Sequence[str]
    buttons: Sequence[str]


class _PreviewTemplateRequestRequired(TypedDict):
    template_name: str
    """The template's name."""


class PreviewTemplateRequest(_PreviewTemplateRequestRequired, total=False):
    components: Sequence[Mapping[str, Any]]
    """The `components` that a message takes: values of header, body, buttons, cards and offers."""
    parameters: PreviewTemplateRequestParameters
    """In their place the values alone, as a message takes them: in the order of the numbers, or of the first appearance."""
    language: str
    """Default: an approved version goes first."""


class PreviousNamesResponse(TypedDict):
    phones: List[str]
    user_ids: List[str]


class PricingResponse(TypedDict):
    billable: bool | None
    category: str | None
    """`utility`, `marketing`, `authentication`, `service` or another."""
    type: str | None
    """`regular` is charged; what begins with `free_` is not."""
    subtype: str | None
    model: str | None


class ProfileResponse(TypedDict):
    about: str | None
    address: str | None
    description: str | None
    email: str | None
    vertical: str | None
    """The branch of business, in the platform's word; `UNDEFINED` and `NOT_A_BIZ` can be read only."""
    websites: List[str]
    profile_picture_url: str | None
    """The platform's address of the picture; it works for a few days."""
    updated_at: str | None
    """When it was last changed through this service; null where it never was."""


class ProjectOfKey(TypedDict):
    id: str
    name: str
    mode: Literal["sandbox", "live"]
    """`sandbox` sends nothing."""


class _PutOptOutRequestRequired(TypedDict):
    category: Literal["marketing", "all"]
    """`marketing`: no marketing templates. `all`: no message of POST /messages at all; one-time codes still go."""


class PutOptOutRequest(_PutOptOutRequestRequired, total=False):
    to: str
    """The person's number with its country code, without 00; a leading + may stand before it."""
    recipient: str
    """Instead of `to`: the person's user id, from `contact.user_id`."""
    reason: str
    """Where or why they opted out, for your own records."""


class PutTagRequest(TypedDict, total=False):
    paused: bool
    """`true`: its messages wait, and before its start no `ttl_seconds` runs. `false`: they go, or wait for `start_at`. Default: as it is, at first `false`."""
    start_at: str | None
    """No message goes before this time. One with a later `send_at` keeps that. null: none. Fixed once the tag has started."""
    messages_per_minute: int | None
    """At most so many a minute are let into the queue, whatever your numbers could send. Not for messages with a `send_at` or a retry. null: no limit."""


class QueuedEventData(TypedDict):
    event_id: str
    """Find its attempts by it in GET /webhook/deliveries; also the header `webhook-id`."""
    event_type: Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]
    status: Literal["queued", "held"]
    """`held`: the webhook is paused or disabled, and the event waits for it, three days at the most."""
    created_at: str


class QueuedEventResponse(TypedDict):
    data: QueuedEventData


class QueuedMessage(TypedDict):
    id: str
    """The message's id: follow it with GET /messages/{id}."""
    status: Literal["queued"]


class QueuedMessageResponse(TypedDict):
    data: QueuedMessage


class RabbitmqData(TypedDict):
    url: str
    exchange: str
    routing_key: str
    username: str


class _RabbitmqRequestRequired(TypedDict):
    url: str
    """Host, port and virtual host; `amqps:` with TLS."""
    exchange: str
    """Name of an exchange that is there; empty: the default one, whose routing key is the name of a queue."""
    username: str


class RabbitmqRequest(_RabbitmqRequestRequired, total=False):
    routing_key: str
    """`{type}` stands for the kind of event, `{conversation}` for the conversation. Default: {type}."""
    password: str
    """Left out in a change: as it is, unless host or port change."""


class RateOfKey(TypedDict):
    per_second: int
    """Requests a second, over time."""
    burst: int
    """Requests at once."""


class ReadMessage(TypedDict):
    id: str
    read_at: str
    """When the message was marked as read for the first time."""
    typing_until: str | None
    """Until when the customer sees that you are typing, unless you write before; null where that was not asked for."""


class ReadMessageRequest(TypedDict, total=False):
    typing_indicator: bool
    """Show the customer that you are typing as well. Default: false."""


class ReadMessageResponse(TypedDict):
    data: ReadMessage


class _ReceivedButtonRequired(TypedDict):
    text: str


class ReceivedButton(_ReceivedButtonRequired, total=False):
    """`content` of `type`: button."""
    payload: str


class ReceivedContactsContactsItemName(TypedDict, total=False):
    formatted_name: str


class ReceivedContactsContactsItem(TypedDict, total=False):
    name: ReceivedContactsContactsItemName


class ReceivedContacts(TypedDict):
    """`content` of `type`: contacts."""
    contacts: List[ReceivedContactsContactsItem]


ReceivedContent = Union["ReceivedText", "ReceivedFile", "ReceivedLocation", "ReceivedContacts", "ReceivedButton", "ReceivedInteractive", "ReceivedReaction", "ReceivedOrder", "ReceivedSystem", "ReceivedEdit", "ReceivedRevoke", "ReceivedUnsupported", "ReceivedOther"]
"""By the `type` of the message; of a sent one the object that was sent. Later versions may have more forms."""


class _ReceivedEditRequired(TypedDict):
    original_message_id: str


class ReceivedEdit(_ReceivedEditRequired, total=False):
    """`content` of `type`: edit."""
    message: Dict[str, Any]
    """What it says now, with its `type`."""


class _ReceivedFileRequired(TypedDict):
    id: str


class ReceivedFile(_ReceivedFileRequired, total=False):
    """`content` of `type`: image, video, audio, document, sticker."""
    mime_type: str
    sha256: str
    sha256_hex: str
    caption: str
    filename: str
    voice: bool
    animated: bool


class _ReceivedInteractiveButtonReplyRequired(TypedDict):
    id: str
    title: str


class ReceivedInteractiveButtonReply(_ReceivedInteractiveButtonReplyRequired, total=False):
    description: str


class _ReceivedInteractiveListReplyRequired(TypedDict):
    id: str
    title: str


class ReceivedInteractiveListReply(_ReceivedInteractiveListReplyRequired, total=False):
    description: str


class _ReceivedInteractiveNfmReplyRequired(TypedDict):
    response_json: str


class ReceivedInteractiveNfmReply(_ReceivedInteractiveNfmReplyRequired, total=False):
    name: str
    body: str


class _ReceivedInteractiveRequired(TypedDict):
    type: str


class ReceivedInteractive(_ReceivedInteractiveRequired, total=False):
    """`content` of `type`: interactive."""
    button_reply: ReceivedInteractiveButtonReply
    list_reply: ReceivedInteractiveListReply
    nfm_reply: ReceivedInteractiveNfmReply


class _ReceivedLocationRequired(TypedDict):
    latitude: float
    longitude: float


class ReceivedLocation(_ReceivedLocationRequired, total=False):
    """`content` of `type`: location."""
    name: str
    address: str
    url: str


class _ReceivedOrderProductItemsItemRequired(TypedDict):
    product_retailer_id: str


class ReceivedOrderProductItemsItem(_ReceivedOrderProductItemsItemRequired, total=False):
    quantity: float
    item_price: float
    currency: str


class _ReceivedOrderRequired(TypedDict):
    product_items: List[ReceivedOrderProductItemsItem]


class ReceivedOrder(_ReceivedOrderRequired, total=False):
    """`content` of `type`: order."""
    catalog_id: str
    text: str


ReceivedOther = Dict[str, Any]
"""What has no form of its own, and kinds that WhatsApp adds later."""


class _ReceivedReactionRequired(TypedDict):
    message_id: str


class ReceivedReaction(_ReceivedReactionRequired, total=False):
    """`content` of `type`: reaction."""
    emoji: str


class ReceivedRevoke(TypedDict):
    """`content` of `type`: revoke."""
    original_message_id: str


class _ReceivedSystemRequired(TypedDict):
    body: str


class ReceivedSystem(_ReceivedSystemRequired, total=False):
    """`content` of `type`: system."""
    type: str
    wa_id: str
    user_id: str


class ReceivedText(TypedDict):
    """`content` of `type`: text."""
    body: str


class ReceivedUnsupportedErrorsItem(TypedDict, total=False):
    code: float
    title: str
    message: str


class ReceivedUnsupported(TypedDict):
    """`content` of `type`: unsupported."""
    errors: List[ReceivedUnsupportedErrorsItem]


class _RenderedButtonResponseRequired(TypedDict):
    type: str
    text: str


class RenderedButtonResponse(_RenderedButtonResponseRequired, total=False):
    url: str
    phone_number: str
    code: str


class RenderedHeader(TypedDict):
    format: str
    text: str | None


class RenderedMessageResponse(TypedDict):
    header: RenderedHeader | None
    body: str | None
    footer: str | None
    buttons: List[RenderedButtonResponse]


class ReplayData(TypedDict):
    id: str
    status: Literal["running", "paused", "done"]
    """`paused`: the webhook is paused or disabled; the replay goes on once it is active again, within three days."""
    total: int
    """How many events there are."""
    done: int
    """How many of them are queued again, the oldest first; at most twenty of them still wait for their attempt."""
    created_at: str
    finished_at: str | None
    """When the last event was put in line; null until then."""


class ReplayDestinationRequest(TypedDict):
    since: str
    """Events of this time and later are written again, in their order and under their ids, then those that wait."""


class ReplayResponse(TypedDict):
    data: ReplayData


class ReplayedMessage(TypedDict):
    index: int
    id: str


class RetryAdviceResponse(TypedDict):
    advised: bool
    not_before: str | None
    """Not before this time; null: at once, or not at all."""


class RetryMessageRequest(TypedDict, total=False):
    confirm_outcome_unknown: bool
    """Send again although the message may have been sent already. Default: false."""


class RetryTagRequest(TypedDict, total=False):
    category: Literal["invalid_recipient", "recipient_unreachable", "service_window_closed", "template_unavailable", "invalid_content", "media_error", "rate_limited", "recipient_limit", "opted_out", "not_conversation_owner", "account_restricted", "sender_not_ready", "authentication", "platform_unavailable", "expired", "canceled", "unknown"]
    """Only messages with this `failure_category`. Default: all but `canceled` and `opted_out`."""


class SendAddressRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendAddressRequestInteractiveActionParametersSavedAddressesItem(TypedDict):
    id: str
    value: Mapping[str, Any]
    """An address, by field."""


class _SendAddressRequestInteractiveActionParametersRequired(TypedDict):
    country: str
    """ISO code. WhatsApp offers this to businesses in India, for customers with numbers of India."""


class SendAddressRequestInteractiveActionParameters(_SendAddressRequestInteractiveActionParametersRequired, total=False):
    values: Mapping[str, Any]
    """What the form shows to begin with, by field."""
    saved_addresses: Sequence[SendAddressRequestInteractiveActionParametersSavedAddressesItem]
    """Addresses to choose from."""
    validation_errors: Mapping[str, Any]
    """What was wrong with an earlier answer, by field."""


class SendAddressRequestInteractiveAction(TypedDict):
    name: Literal["address_message"]
    parameters: SendAddressRequestInteractiveActionParameters


class SendAddressRequestInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class SendAddressRequestInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendAddressRequestInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: SendAddressRequestInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class SendAddressRequestInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendAddressRequestInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: SendAddressRequestInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class SendAddressRequestInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class SendAddressRequestInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: SendAddressRequestInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class SendAddressRequestInteractiveFooter(TypedDict):
    text: str


class _SendAddressRequestInteractiveRequired(TypedDict):
    type: Literal["address_message"]
    body: SendAddressRequestInteractiveBody
    action: SendAddressRequestInteractiveAction


class SendAddressRequestInteractive(_SendAddressRequestInteractiveRequired, total=False):
    header: SendAddressRequestInteractiveHeaderText | SendAddressRequestInteractiveHeaderImage | SendAddressRequestInteractiveHeaderVideo | SendAddressRequestInteractiveHeaderDocument
    footer: SendAddressRequestInteractiveFooter


class _SendAddressRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendAddressRequestInteractive


class SendAddressRequest(_SendAddressRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendAudioMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _SendAudioRequired(TypedDict):
    type: Literal["audio"]
    media: SendAudioMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""


class SendAudio(_SendAudioRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendBatchResponseErrorsItem(TypedDict):
    index: int
    code: str
    message: str
    details: List[ErrorDetail]


class SendBatchResponse(TypedDict):
    data: List[BatchedMessage]
    errors: List[SendBatchResponseErrorsItem]


class SendCarouselInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendCarouselInteractiveActionCardsItem1HeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendCarouselInteractiveActionCardsItem1HeaderImage(TypedDict):
    type: Literal["image"]
    image: SendCarouselInteractiveActionCardsItem1HeaderImageImage
    """Exactly one of `id` and `link` is given."""


class SendCarouselInteractiveActionCardsItem1HeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendCarouselInteractiveActionCardsItem1HeaderVideo(TypedDict):
    type: Literal["video"]
    video: SendCarouselInteractiveActionCardsItem1HeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class SendCarouselInteractiveActionCardsItem1Action1Parameters(TypedDict):
    display_text: str
    """Label of the button."""
    url: str
    """What the button opens."""


class SendCarouselInteractiveActionCardsItem1Action1(TypedDict):
    name: Literal["cta_url"]
    parameters: SendCarouselInteractiveActionCardsItem1Action1Parameters


class SendCarouselInteractiveActionCardsItem1Action2ButtonsItemQuickReply(TypedDict):
    id: str
    """Comes back when the customer taps."""
    title: str
    """Label of the button."""


class SendCarouselInteractiveActionCardsItem1Action2ButtonsItem(TypedDict):
    type: Literal["quick_reply"]
    quick_reply: SendCarouselInteractiveActionCardsItem1Action2ButtonsItemQuickReply


class SendCarouselInteractiveActionCardsItem1Action2(TypedDict):
    buttons: Sequence[SendCarouselInteractiveActionCardsItem1Action2ButtonsItem]


class SendCarouselInteractiveActionCardsItem1Body(TypedDict):
    text: str
    """At most two line breaks."""


class _SendCarouselInteractiveActionCardsItem1Required(TypedDict):
    card_index: int
    """Place of the card, each one once."""
    header: SendCarouselInteractiveActionCardsItem1HeaderImage | SendCarouselInteractiveActionCardsItem1HeaderVideo
    action: SendCarouselInteractiveActionCardsItem1Action1 | SendCarouselInteractiveActionCardsItem1Action2


class SendCarouselInteractiveActionCardsItem1(_SendCarouselInteractiveActionCardsItem1Required, total=False):
    type: Literal["cta_url", "button", "quick_reply"]
    body: SendCarouselInteractiveActionCardsItem1Body


class SendCarouselInteractiveActionCardsItemProductAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class SendCarouselInteractiveActionCardsItemProduct(TypedDict):
    card_index: int
    """Place of the card, each one once."""
    type: Literal["product"]
    action: SendCarouselInteractiveActionCardsItemProductAction


class SendCarouselInteractiveAction(TypedDict):
    cards: Sequence[SendCarouselInteractiveActionCardsItem1 | SendCarouselInteractiveActionCardsItemProduct]
    """Link buttons, as many quick replies, or products on all of them."""


class SendCarouselInteractive(TypedDict):
    type: Literal["carousel"]
    body: SendCarouselInteractiveBody
    action: SendCarouselInteractiveAction


class _SendCarouselRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendCarouselInteractive


class SendCarousel(_SendCarouselRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendCatalogInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendCatalogInteractiveActionParameters(TypedDict, total=False):
    thumbnail_product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class _SendCatalogInteractiveActionRequired(TypedDict):
    name: Literal["catalog_message"]


class SendCatalogInteractiveAction(_SendCatalogInteractiveActionRequired, total=False):
    parameters: SendCatalogInteractiveActionParameters


class SendCatalogInteractiveFooter(TypedDict):
    text: str


class _SendCatalogInteractiveRequired(TypedDict):
    type: Literal["catalog_message"]
    body: SendCatalogInteractiveBody
    action: SendCatalogInteractiveAction


class SendCatalogInteractive(_SendCatalogInteractiveRequired, total=False):
    footer: SendCatalogInteractiveFooter


class _SendCatalogRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendCatalogInteractive


class SendCatalog(_SendCatalogRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendContactRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendContactRequestInteractiveAction(TypedDict):
    name: Literal["request_contact_info"]


class SendContactRequestInteractiveHeader(TypedDict):
    type: Literal["text"]
    text: str


class SendContactRequestInteractiveFooter(TypedDict):
    text: str


class _SendContactRequestInteractiveRequired(TypedDict):
    type: Literal["request_contact_info"]
    body: SendContactRequestInteractiveBody
    action: SendContactRequestInteractiveAction


class SendContactRequestInteractive(_SendContactRequestInteractiveRequired, total=False):
    header: SendContactRequestInteractiveHeader
    footer: SendContactRequestInteractiveFooter


class _SendContactRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendContactRequestInteractive


class SendContactRequest(_SendContactRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _SendContactsContactsItemNameRequired(TypedDict):
    formatted_name: str
    """Full name."""


class SendContactsContactsItemName(_SendContactsContactsItemNameRequired, total=False):
    first_name: str
    last_name: str
    middle_name: str
    suffix: str
    prefix: str


class SendContactsContactsItemPhonesItem(TypedDict, total=False):
    phone: str
    """The number as it is shown."""
    wa_id: str
    """Digits of the contact's WhatsApp number; with it the card offers to write to them."""
    type: str
    """WORK, HOME or another word."""


class SendContactsContactsItemEmailsItem(TypedDict, total=False):
    email: str
    type: str
    """WORK, HOME or another word."""


class SendContactsContactsItemUrlsItem(TypedDict, total=False):
    url: str
    type: str
    """WORK, HOME or another word."""


class SendContactsContactsItemAddressesItem(TypedDict, total=False):
    street: str
    city: str
    state: str
    zip: str
    country: str
    country_code: str
    """Two letters."""
    type: str
    """WORK, HOME or another word."""


class SendContactsContactsItemOrg(TypedDict, total=False):
    company: str
    department: str
    title: str


class _SendContactsContactsItemRequired(TypedDict):
    name: SendContactsContactsItemName


class SendContactsContactsItem(_SendContactsContactsItemRequired, total=False):
    phones: Sequence[SendContactsContactsItemPhonesItem]
    emails: Sequence[SendContactsContactsItemEmailsItem]
    urls: Sequence[SendContactsContactsItemUrlsItem]
    addresses: Sequence[SendContactsContactsItemAddressesItem]
    org: SendContactsContactsItemOrg
    birthday: str


class _SendContactsRequired(TypedDict):
    type: Literal["contacts"]
    contacts: Sequence[SendContactsContactsItem]
    """What the recipient can save, each with a name."""


class SendContacts(_SendContactsRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendCtaUrlInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendCtaUrlInteractiveActionParameters(TypedDict):
    display_text: str
    """Label of the button."""
    url: str
    """What the button opens."""


class SendCtaUrlInteractiveAction(TypedDict):
    name: Literal["cta_url"]
    parameters: SendCtaUrlInteractiveActionParameters


class SendCtaUrlInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class SendCtaUrlInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendCtaUrlInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: SendCtaUrlInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class SendCtaUrlInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendCtaUrlInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: SendCtaUrlInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class SendCtaUrlInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class SendCtaUrlInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: SendCtaUrlInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class SendCtaUrlInteractiveFooter(TypedDict):
    text: str


class _SendCtaUrlInteractiveRequired(TypedDict):
    type: Literal["cta_url"]
    body: SendCtaUrlInteractiveBody
    action: SendCtaUrlInteractiveAction


class SendCtaUrlInteractive(_SendCtaUrlInteractiveRequired, total=False):
    header: SendCtaUrlInteractiveHeaderText | SendCtaUrlInteractiveHeaderImage | SendCtaUrlInteractiveHeaderVideo | SendCtaUrlInteractiveHeaderDocument
    footer: SendCtaUrlInteractiveFooter


class _SendCtaUrlRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendCtaUrlInteractive


class SendCtaUrl(_SendCtaUrlRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendDocumentMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _SendDocumentRequired(TypedDict):
    type: Literal["document"]
    media: SendDocumentMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""


class SendDocument(_SendDocumentRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendFlowInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendFlowInteractiveActionParametersFlowActionPayload(TypedDict, total=False):
    """The first screen and its data."""
    screen: str
    data: Mapping[str, Any]


class _SendFlowInteractiveActionParametersRequired(TypedDict):
    flow_message_version: str
    """Version of the message: 3."""
    flow_cta: str
    """Label of the button."""


class SendFlowInteractiveActionParameters(_SendFlowInteractiveActionParametersRequired, total=False):
    """Exactly one of `flow_id` and `flow_name` is given."""
    flow_id: str
    """Id of the flow; or give its name."""
    flow_name: str
    """Name of the flow; or give its id."""
    flow_token: str
    """Your own word, which the answer repeats."""
    mode: Literal["draft", "published"]
    """draft sends a flow that is not published yet."""
    flow_action: Literal["navigate", "data_exchange"]
    flow_action_payload: SendFlowInteractiveActionParametersFlowActionPayload
    """The first screen and its data."""


class SendFlowInteractiveAction(TypedDict):
    name: Literal["flow"]
    parameters: SendFlowInteractiveActionParameters
    """Exactly one of `flow_id` and `flow_name` is given."""


class SendFlowInteractiveHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class SendFlowInteractiveHeaderImageImage(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendFlowInteractiveHeaderImage(TypedDict):
    type: Literal["image"]
    image: SendFlowInteractiveHeaderImageImage
    """Exactly one of `id` and `link` is given."""


class SendFlowInteractiveHeaderVideoVideo(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""


class SendFlowInteractiveHeaderVideo(TypedDict):
    type: Literal["video"]
    video: SendFlowInteractiveHeaderVideoVideo
    """Exactly one of `id` and `link` is given."""


class SendFlowInteractiveHeaderDocumentDocument(TypedDict, total=False):
    """Exactly one of `id` and `link` is given."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    filename: str


class SendFlowInteractiveHeaderDocument(TypedDict):
    type: Literal["document"]
    document: SendFlowInteractiveHeaderDocumentDocument
    """Exactly one of `id` and `link` is given."""


class SendFlowInteractiveFooter(TypedDict):
    text: str


class _SendFlowInteractiveRequired(TypedDict):
    type: Literal["flow"]
    body: SendFlowInteractiveBody
    action: SendFlowInteractiveAction


class SendFlowInteractive(_SendFlowInteractiveRequired, total=False):
    header: SendFlowInteractiveHeaderText | SendFlowInteractiveHeaderImage | SendFlowInteractiveHeaderVideo | SendFlowInteractiveHeaderDocument
    footer: SendFlowInteractiveFooter


class _SendFlowRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendFlowInteractive


class SendFlow(_SendFlowRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendImageMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _SendImageRequired(TypedDict):
    type: Literal["image"]
    media: SendImageMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""


class SendImage(_SendImageRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendInteractiveInteractiveButtonBody(TypedDict):
    text: str
    """The text."""


class SendInteractiveInteractiveButtonHeaderText(TypedDict):
    type: Literal["text"]
    text: str


class SendInteractiveInteractiveButtonFooter(TypedDict):
    text: str


class _SendInteractiveInteractiveButtonRequired(TypedDict):
    type: Literal["button"]
    body: SendInteractiveInteractiveButtonBody
    action: Mapping[str, Any]
    """In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections` (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`."""


class SendInteractiveInteractiveButton(_SendInteractiveInteractiveButtonRequired, total=False):
    header: SendInteractiveInteractiveButtonHeaderText | Mapping[str, Any]
    footer: SendInteractiveInteractiveButtonFooter


class SendInteractiveInteractiveListBody(TypedDict):
    text: str
    """The text."""


class SendInteractiveInteractiveListHeader(TypedDict):
    type: Literal["text"]
    text: str


class SendInteractiveInteractiveListFooter(TypedDict):
    text: str


class _SendInteractiveInteractiveListRequired(TypedDict):
    type: Literal["list"]
    body: SendInteractiveInteractiveListBody
    action: Mapping[str, Any]
    """In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections` (up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`."""


class SendInteractiveInteractiveList(_SendInteractiveInteractiveListRequired, total=False):
    header: SendInteractiveInteractiveListHeader
    footer: SendInteractiveInteractiveListFooter


class _SendInteractiveRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendInteractiveInteractiveButton | SendInteractiveInteractiveList


class SendInteractive(_SendInteractiveRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _SendLegacyTextRequired(TypedDict):
    body: str
    """The text."""


class SendLegacyText(_SendLegacyTextRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _SendLocationLocationRequired(TypedDict):
    latitude: float | str
    """Degrees; north is positive."""
    longitude: float | str
    """Degrees; east is positive."""


class SendLocationLocation(_SendLocationLocationRequired, total=False):
    name: str
    """Name of the place."""
    address: str
    """Shown under the name."""


class _SendLocationRequired(TypedDict):
    type: Literal["location"]
    location: SendLocationLocation


class SendLocation(_SendLocationRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendLocationRequestInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendLocationRequestInteractiveAction(TypedDict):
    name: Literal["send_location"]


class SendLocationRequestInteractiveFooter(TypedDict):
    text: str


class _SendLocationRequestInteractiveRequired(TypedDict):
    type: Literal["location_request_message"]
    body: SendLocationRequestInteractiveBody
    action: SendLocationRequestInteractiveAction


class SendLocationRequestInteractive(_SendLocationRequestInteractiveRequired, total=False):
    footer: SendLocationRequestInteractiveFooter


class _SendLocationRequestRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendLocationRequestInteractive


class SendLocationRequest(_SendLocationRequestRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


SendMessage = Union["SendText", "SendLegacyText", "SendImage", "SendVideo", "SendAudio", "SendDocument", "SendSticker", "SendTemplate", "SendInteractive", "SendCtaUrl", "SendFlow", "SendLocationRequest", "SendContactRequest", "SendProduct", "SendProductList", "SendCatalog", "SendCarousel", "SendAddressRequest", "SendLocation", "SendContacts", "SendReaction"]
"""One of the forms below; `type` and, of interactive messages, `interactive.type` say which."""


class _SendOtpRequestRequired(TypedDict):
    to: str
    """The user's number with its country code."""


class SendOtpRequest(_SendOtpRequestRequired, total=False):
    channel: Literal["whatsapp"]
    """How it is sent; WhatsApp is the only way. Default: whatsapp."""
    ttl: int
    """Seconds for which the code is valid. Default: 300."""


class SendProductInteractiveAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class SendProductInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendProductInteractiveFooter(TypedDict):
    text: str


class _SendProductInteractiveRequired(TypedDict):
    type: Literal["product"]
    action: SendProductInteractiveAction


class SendProductInteractive(_SendProductInteractiveRequired, total=False):
    body: SendProductInteractiveBody
    footer: SendProductInteractiveFooter


class _SendProductRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendProductInteractive


class SendProduct(_SendProductRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendProductListInteractiveHeader(TypedDict):
    type: Literal["text"]
    text: str


class SendProductListInteractiveBody(TypedDict):
    text: str
    """The text."""


class SendProductListInteractiveActionSectionsItemProductItemsItem(TypedDict):
    product_retailer_id: str
    """Your own id of the product, as the catalog has it."""


class _SendProductListInteractiveActionSectionsItemRequired(TypedDict):
    product_items: Sequence[SendProductListInteractiveActionSectionsItemProductItemsItem]


class SendProductListInteractiveActionSectionsItem(_SendProductListInteractiveActionSectionsItemRequired, total=False):
    title: str
    """Required where there are several sections."""


class SendProductListInteractiveAction(TypedDict):
    catalog_id: str
    """Id of the catalog that is connected to the account."""
    sections: Sequence[SendProductListInteractiveActionSectionsItem]
    """Up to 30 products in all."""


class SendProductListInteractiveFooter(TypedDict):
    text: str


class _SendProductListInteractiveRequired(TypedDict):
    type: Literal["product_list"]
    header: SendProductListInteractiveHeader
    body: SendProductListInteractiveBody
    action: SendProductListInteractiveAction


class SendProductListInteractive(_SendProductListInteractiveRequired, total=False):
    footer: SendProductListInteractiveFooter


class _SendProductListRequired(TypedDict):
    type: Literal["interactive"]
    interactive: SendProductListInteractive


class SendProductList(_SendProductListRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendReactionReaction(TypedDict):
    emoji: str
    """One emoji; empty takes the reaction back."""


class _SendReactionRequired(TypedDict):
    reply_to_message_id: str
    """The message to react to."""
    type: Literal["reaction"]
    reaction: SendReactionReaction


class SendReaction(_SendReactionRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendStickerMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _SendStickerRequired(TypedDict):
    type: Literal["sticker"]
    media: SendStickerMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""


class SendSticker(_SendStickerRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendTemplateTemplateLanguage1(TypedDict):
    code: str
    """Language of the template."""


class SendTemplateTemplateParameters(TypedDict, total=False):
    """In the place of `components`: the values alone."""
    header: Sequence[str]
    """Texts, or the file: an `https://` address or the file's id."""
    body: Sequence[str]
    """In the order of the numbers, or of the first appearance."""
    buttons: Sequence[str]
    """Of the buttons that have a variable, in their order."""


class _SendTemplateTemplateRequired(TypedDict):
    name: str
    """Name of an approved template."""
    language: SendTemplateTemplateLanguage1 | str


class SendTemplateTemplate(_SendTemplateTemplateRequired, total=False):
    parameters: SendTemplateTemplateParameters
    """In the place of `components`: the values alone."""
    components: Sequence[Mapping[str, Any]]
    """Values of the template's variables, as the platform takes them."""


class _SendTemplateRequired(TypedDict):
    type: Literal["template"]
    template: SendTemplateTemplate


class SendTemplate(_SendTemplateRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class _SendTextTextRequired(TypedDict):
    body: str
    """The text."""


class SendTextText(_SendTextTextRequired, total=False):
    preview_url: bool
    """Show a preview of the first link. Default: false."""


class _SendTextRequired(TypedDict):
    type: Literal["text"]
    text: SendTextText


class SendText(_SendTextRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SendVideoMedia(TypedDict, total=False):
    """The file: `id` or `link`, or neither where `media_object_id` names it."""
    id: str
    """Id of a file: ours from POST /media, or one of the platform."""
    link: str
    """Address of the file for the platform; starts with https://."""
    caption: str
    """Text under an image, a video or a document; other kinds are sent without it."""
    filename: str
    """Name under which a document is shown; other kinds are sent without it."""
    voice: bool
    """Send audio (ogg with Opus) as a voice note; other kinds are sent without it."""


class _SendVideoRequired(TypedDict):
    type: Literal["video"]
    media: SendVideoMedia
    """The file: `id` or `link`, or neither where `media_object_id` names it."""


class SendVideo(_SendVideoRequired, total=False):
    connection_id: str
    """The sending number, from GET /connections."""
    conversation_id: str
    """In place of `connection_id` and of `to` or `recipient`: the conversation to write in, by its number to its contact."""
    to: str
    """Recipient: 8 to 16 digits with the country code, without 00, spaces and dashes; a leading + may stand before them."""
    recipient: str
    """Instead of `to`: the user id of a contact who may hide the number, from `contact.user_id`."""
    client_message_id: str
    """Your own id; returned as it is, and a filter of GET /messages."""
    tag: MessageTag
    metadata: MessageMetadata
    reply_to_message_id: str
    """A message of the same conversation that this one answers."""
    media_object_id: str
    """A file of the workspace: the one to send, the one in the header of a template, or one to refer to."""
    send_at: str
    """When it is to go, 10 seconds to 35 days ahead. Until then it is `queued` with `scheduled_for`, and stands before no other message."""
    ttl_seconds: int
    """Seconds from `send_at`, or from now, after which it is no longer to go: it fails with `expired`."""


class SingleConversationResponse(TypedDict):
    data: ConversationResponse


class SingleDeliveryResponse(TypedDict):
    data: DeliveryWithEvent


class SingleMediaResponse(TypedDict):
    data: MediaResponse


class SingleMessageResponse(TypedDict):
    data: MessageResponse


class SingleOptOutResponse(TypedDict):
    data: OptOutResponse


class SingleOtpResponse(TypedDict):
    data: OtpChallengeResponse


class SingleProfileResponse(TypedDict):
    data: ProfileResponse


class SingleTagResponse(TypedDict):
    data: TagResponse


class SingleTemplateResponse(TypedDict):
    data: TemplateResponse


class SqsData(TypedDict):
    queue_url: str
    region: str
    access_key_id: str


class _SqsRequestRequired(TypedDict):
    queue_url: str
    """Of the queue, as AWS shows it. One that ends with `.fifo` keeps the order of each conversation."""
    region: str
    access_key_id: str


class SqsRequest(_SqsRequestRequired, total=False):
    secret_access_key: str
    """Left out in a change: as it is, unless the host of the queue changes."""
    session_token: str
    """Of temporary credentials."""


class _StartReplayRequestRequired(TypedDict):
    since: str
    """From this time on: events of which an attempt to deliver began then or later."""


class StartReplayRequest(_StartReplayRequestRequired, total=False):
    until: str
    """Up to this time, and not at it. Left out: now."""
    types: Sequence[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]]
    """Only events of these kinds. Left out: of all."""
    status: Literal["failed", "all"]
    """`failed`: those that were not delivered until now, also where more attempts are planned. `all`: delivered ones too. Default: failed."""


class TagActionResponse(TypedDict):
    data: TagActionResult


class TagActionResult(TypedDict):
    tag: str
    action: Literal["pause", "resume", "cancel", "retry"]
    status: Literal["active", "paused", "scheduled", "resuming", "canceling", "retrying"]
    messages: int
    """Messages that it is about, as they are counted at this moment: those that wait, or for a retry those that failed."""


class TagListItem(TypedDict):
    tag: str
    status: Literal["active", "paused", "scheduled", "resuming", "canceling", "retrying"]
    """`scheduled`: it waits for its `start_at`."""
    paused: bool
    start_at: str | None
    """As PUT /tags/{tag} was given."""
    messages_per_minute: int | None
    messages: int
    counts: Dict[str, int]
    """Messages by status."""
    scheduled: int
    """Of the queued ones: whose `send_at` has not come."""
    failures: Dict[str, int]
    """Failed messages by `failure_category`."""
    created_at: str
    """When it was made: by its first message, or before by PUT /tags/{tag}. Lists are in this order."""
    first_accepted_at: str | None
    """null: it has no message yet."""
    last_activity_at: str | None
    """When Herald last learned or decided something of one of its messages; null: it has none yet."""
    last_action: LastTagAction | None


class TagListResponse(TypedDict):
    data: List[TagListItem]
    pagination: TagPagination


class TagPagination(TypedDict):
    next_before: str | None
    """Pass it as `before` for the next page; null on the last one."""
    next_before_id: str | None
    """Pass it as `before_id` together with `before`."""


class TagResponse(TypedDict):
    tag: str
    status: Literal["active", "paused", "scheduled", "resuming", "canceling", "retrying"]
    """`scheduled`: it waits for its `start_at`."""
    paused: bool
    start_at: str | None
    """As PUT /tags/{tag} was given."""
    messages_per_minute: int | None
    messages: int
    counts: Dict[str, int]
    """Messages by status."""
    scheduled: int
    """Of the queued ones: whose `send_at` has not come."""
    failures: Dict[str, int]
    """Failed messages by `failure_category`."""
    created_at: str
    """When it was made: by its first message, or before by PUT /tags/{tag}. Lists are in this order."""
    first_accepted_at: str | None
    """null: it has no message yet."""
    last_activity_at: str | None
    """When Herald last learned or decided something of one of its messages; null: it has none yet."""
    last_action: LastTagAction | None
    estimated_end_at: str | None
    """When the last one leaves, by the queues and pace of its numbers; null where nothing waits or can go."""
    complete: bool
    """Always `true`: all messages are counted, however many there are."""


class _TemplateCategoryUpdatedEventDataRequired(TypedDict):
    template_id: str
    name: str
    language: str
    connection_ids: List[str]
    """The numbers of its account, all of which may send it."""
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    """The present one."""
    previous_category: str | None
    """Null where the category has not changed yet."""
    announced_category: str | None
    """What it is going to be; null where nothing is announced."""
    announced_for: str | None
    """When it changes, where the platform said so."""
    occurred_at: str
    """By the platform, in whole seconds, or when Herald learnt of it."""


class TemplateCategoryUpdatedEventData(_TemplateCategoryUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class TemplateCategoryUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["template.category.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: TemplateCategoryUpdatedEventData


class TemplateListResponse(TypedDict):
    data: List[TemplateResponse]
    pagination: TemplatePagination


class TemplatePagination(TypedDict):
    next_after: str | None
    """Pass it as `after` for the next page; null where no more follow."""


class TemplateResponseComponentsItem(TypedDict):
    type: str


class TemplateResponse(TypedDict):
    id: str
    connection_id: str
    """The connection that was asked; all numbers of one account share their templates."""
    name: str
    language: str
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    """The platform may change it, and reports that."""
    announced_category: Literal["UTILITY", "MARKETING", "AUTHENTICATION", None]
    """The category that the platform announced for this template; null where it announced none."""
    announced_for: str | None
    """When the announced category is going to be the template's; null where the platform did not say it."""
    status: Literal["pending", "approved", "rejected", "paused", "disabled", "in_appeal", "pending_deletion"]
    """Only `approved` templates can be sent. A state that has no word here is `disabled`; see `platform_status`."""
    platform_status: str
    """The platform's own word."""
    rejected_reason: str | None
    """The platform's word, such as `INVALID_FORMAT`; null where nothing was rejected."""
    quality: str | None
    """GREEN, YELLOW, RED or UNKNOWN; null where the platform has not said it."""
    parameter_format: Literal["POSITIONAL", "NAMED"]
    """How variables are named: `{{1}}` or `{{first_name}}`."""
    message_send_ttl_seconds: int | None
    """Seconds that a message may wait for its delivery; null: the platform's default."""
    components: List[TemplateResponseComponentsItem]
    """The parts of the template, in the platform's own format."""
    header_media: HeaderMediaResponse | None
    """What kind of file a message puts into the header, as `media_object_id`; null: none."""
    variables: List[TemplateVariableResponse]
    """What a message must fill, in the order of the parts."""
    created_at: str
    updated_at: str
    synced_at: str | None
    """When the templates were last compared with the platform's list; null: not yet. Changes in between show at once."""


class _TemplateStatusUpdatedEventDataRequired(TypedDict):
    template_id: str
    name: str
    language: str
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    connection_ids: List[str]
    """The numbers of its account, all of which may send it."""
    status: Literal["pending", "approved", "rejected", "paused", "disabled", "in_appeal", "pending_deletion", "deleted"]
    previous_status: str | None
    """Null where the template is new here."""
    platform_status: str | None
    """The platform's own word; null where it is deleted."""
    rejected_reason: str | None
    """The platform's word, such as INVALID_FORMAT."""
    occurred_at: str
    """By the platform, in whole seconds, or when Herald learnt of it."""


class TemplateStatusUpdatedEventData(_TemplateStatusUpdatedEventDataRequired, total=False):
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class TemplateStatusUpdatedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["template.status.updated"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: TemplateStatusUpdatedEventData


class TemplateVariableResponse(TypedDict):
    component: Literal["header", "body", "button", "carousel", "limited_time_offer"]
    name: str
    """`1`, `2` ..., or the name of a named variable."""
    button_index: int | None
    """Place of the button, from 0; null where it is in no button."""
    card_index: int | None
    """Place of the carousel's card, from 0; null where it is in no card."""
    example: str | None
    """The example that was given for the review."""


class TemplateVersionsData(TypedDict):
    name: str
    versions: List[TemplateResponse]
    """In the order of their languages."""


class TemplateVersionsResponse(TypedDict):
    data: TemplateVersionsData


class TestWebhookRequest(TypedDict, total=False):
    type: Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]
    """Kind of the event. Other kinds than `webhook.test` bear the example of this description and `test: true` in `data`. Default: webhook.test."""


class _TimelineEntryResponseRequired(TypedDict):
    at: str
    """Of what WhatsApp reports in whole seconds."""
    event: Literal["queued", "retried", "released", "attempt_started", "attempt_accepted", "attempt_rejected", "attempt_deferred", "attempt_unknown", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown", "expired", "canceled", "erased", "restored", "received", "deleted", "warned", "edited", "revoked"]
    source: Literal["api", "herald", "whatsapp", "operator"]
    """`api`: a request of yours. `operator`: who runs Herald."""
    summary: str
    """In words, for people: they may change."""


class TimelineEntryResponse(_TimelineEntryResponseRequired, total=False):
    status: Literal["queued", "processing", "accepted", "sent", "delivered", "read", "failed", "outcome_unknown", "received"]
    """The state that the message came to; absent where it stayed in its state."""
    attempt: int
    by: Literal["caller", "tag", "schedule", "operator"]
    """Of a retry, a cancel, a release or an erasure: who decided it. `tag`: an action of its tag."""
    api_key_id: str
    """With `by: caller`: the id of its key, which stands in the key before the secret."""
    person_id: str
    """In its place: the id of the person who did it in the console."""
    platform_code: int
    delivery_ids: List[str]
    """Deliveries of the webhook event of this move, as GET /webhook/deliveries lists them; absent where no event of it is kept."""


class TimelineResponse(TypedDict):
    data: List[TimelineEntryResponse]
    """Oldest first; at most the last 500."""
    explanation: ExplanationResponse
    not_kept: List[str]
    """What of its history is no longer kept, in sentences; empty where all is there."""


class UpdateConversationRequest(TypedDict, total=False):
    closed: bool
    """`true` takes it out of the work to be done; a message of the customer sets it to `false` again."""
    assignee: str | None
    """Who looks after it: any text of yours, such as a name or an address. `null`: none. Another text alone ends `assignee_id`."""
    assignee_id: str | None
    """A person of the workspace: an id from GET /members. Without a text `assignee` becomes the name of the person. `null` removes the person, and the text with it."""


class UpdateProfileRequest(TypedDict, total=False):
    about: str
    """The line under the name; WhatsApp takes no empty one."""
    address: str
    description: str
    email: str
    vertical: str
    """The branch of business, as WhatsApp names it."""
    websites: Sequence[str]
    """At most two addresses; an empty list takes them away."""


class _UpdatedConversationRequired(TypedDict):
    id: str
    closed: bool
    assignee: str | None


class UpdatedConversation(_UpdatedConversationRequired, total=False):
    assignee_id: str | None


class UpdatedConversationResponse(TypedDict):
    data: UpdatedConversation


class _UploadMediaRequestRequired(TypedDict):
    connection_id: str
    """The number that will send it."""
    file: str
    """The bytes, as a part with a file name."""


class UploadMediaRequest(_UploadMediaRequestRequired, total=False):
    type: Literal["image", "video", "audio", "document", "sticker"]
    """What it is to be sent as. Without it: what its bytes say."""
    voice: Literal["false", "true"]
    """It is a voice message. Default: false."""


class UsageFiguresResponse(TypedDict):
    submitted: int
    """What POST /messages took."""
    accepted: int
    """Accepted by WhatsApp, or further."""
    sent: int
    """Sent, delivered or read."""
    delivered: int
    """Delivered or read."""
    read: int
    failed: int
    """Failed; some of them after they were accepted or sent."""
    outcome_unknown: int
    received: int
    """Written by customers."""
    failures: Dict[str, int]
    """Failed messages by `failure_category`."""
    billable: Dict[str, int]
    """Messages that WhatsApp reported as billable, by category."""
    free: Dict[str, int]
    """Messages that WhatsApp reported as free, by type."""
    delivery_ms: DeliveryTimesResponse | None
    """Milliseconds from accepted to delivered; null: nothing was delivered."""
    cost: CostResponse | None
    """Estimated; null: the operator has set no price for some of the messages."""
    cost_of_priced: CostResponse | None
    """The same of those with a price; null: there are no prices."""
    unpriced: Dict[str, int]
    """Billable messages without a price, by category."""


class UsageResponse(TypedDict):
    data: List[UsageRowResponse]
    """The oldest interval first; those without messages are left out."""
    totals: UsageFiguresResponse
    """All rows together."""
    as_of: str | None
    """Up to when everything is counted; null: nothing is yet."""


class _UsageRowResponseRequired(TypedDict):
    submitted: int
    """What POST /messages took."""
    accepted: int
    """Accepted by WhatsApp, or further."""
    sent: int
    """Sent, delivered or read."""
    delivered: int
    """Delivered or read."""
    read: int
    failed: int
    """Failed; some of them after they were accepted or sent."""
    outcome_unknown: int
    received: int
    """Written by customers."""
    failures: Dict[str, int]
    """Failed messages by `failure_category`."""
    billable: Dict[str, int]
    """Messages that WhatsApp reported as billable, by category."""
    free: Dict[str, int]
    """Messages that WhatsApp reported as free, by type."""
    delivery_ms: DeliveryTimesResponse | None
    """Milliseconds from accepted to delivered; null: nothing was delivered."""
    cost: CostResponse | None
    """Estimated; null: the operator has set no price for some of the messages."""
    cost_of_priced: CostResponse | None
    """The same of those with a price; null: there are no prices."""
    unpriced: Dict[str, int]
    """Billable messages without a price, by category."""
    start: str
    """Where the interval begins, with the offset of the time zone."""


class UsageRowResponse(_UsageRowResponseRequired, total=False):
    connection_id: str | None
    """With `group_by=connection_id`."""
    connection: str | None
    """As `connection_id`."""
    type: str | None
    """With `group_by=type`."""
    template: str | None
    """With `group_by=template`; null: no template, or its message's content is gone."""
    category: str | None
    """With `group_by=category`; null: WhatsApp has reported none."""
    country: str | None
    """With `group_by=country`; null: unknown."""
    source: str | None
    """With `group_by=source`: `api`, `app` or `customer`."""


class VerifyOtpRequest(TypedDict):
    id: str
    """`id` from the answer of POST /otp/send."""
    code: str
    """What the user typed: six digits."""


class WaitingResponse(TypedDict):
    reason: Literal["scheduled", "tag_paused", "tag_pace", "earlier_message_to_recipient", "number_pace", "pair_limit", "number_paused", "retry", "number_disconnected", "due"]
    """`scheduled`: until the time that you gave it, or its tag. `tag_paused`: until its tag is resumed. `tag_pace`: its turn comes at the pace of its tag. `earlier_message_to_recipient`: messages to one recipient leave in order. `number_pace`: its turn comes at the pace of its number. `pair_limit` and `retry`: WhatsApp or the network refused it for now. `number_paused`: so for the whole number, or every number rests after a restore. `number_disconnected`: the number cannot send. `due`: as soon as a worker takes it."""
    until: str | None
    """When this reason ends, where that is known."""
    ahead: int
    """Messages of the number that leave before it; 10000 stands for that many or more."""


WarningCode = str
"""Stable. Later versions may have more."""


class WebhookResponse(TypedDict):
    data: WebhookSettings


class WebhookSettings(TypedDict):
    url: str
    events: List[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    connection_ids: List[str]
    """Numbers whose events it gets; empty: all."""
    header_names: List[str]
    """Names of its own headers. Their values are never shown."""
    active: bool
    """Whether deliveries are made: false while the webhook is paused (PUT with `active: false`) or disabled."""
    disabled_reason: Literal["gone", "failing", None]
    """Why deliveries stopped by themselves: `gone` after a 410, `failing` after five days without one success."""
    failing_since: str | None
    """Since when every attempt has failed; null while they succeed."""
    secret_hint: str
    """The secret's last characters, to distinguish secrets."""
    previous_secret_expires_at: str | None
    """Until then deliveries are signed with the replaced secret as well; null where there is none."""
    created_at: str
    updated_at: str
    recent_deliveries: List[DeliveryResponse]
    """The last 50 attempts, newest first."""


class _WebhookSettingsWithSecretRequired(TypedDict):
    url: str
    events: List[Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost"]]
    connection_ids: List[str]
    """Numbers whose events it gets; empty: all."""
    header_names: List[str]
    """Names of its own headers. Their values are never shown."""
    active: bool
    """Whether deliveries are made: false while the webhook is paused (PUT with `active: false`) or disabled."""
    disabled_reason: Literal["gone", "failing", None]
    """Why deliveries stopped by themselves: `gone` after a 410, `failing` after five days without one success."""
    failing_since: str | None
    """Since when every attempt has failed; null while they succeed."""
    secret_hint: str
    """The secret's last characters, to distinguish secrets."""
    previous_secret_expires_at: str | None
    """Until then deliveries are signed with the replaced secret as well; null where there is none."""
    created_at: str
    updated_at: str
    recent_deliveries: List[DeliveryResponse]
    """The last 50 attempts, newest first."""


class WebhookSettingsWithSecret(_WebhookSettingsWithSecretRequired, total=False):
    secret: str
    """Signs every delivery (Standard Webhooks). Only in the answer that made it: keep it."""


class WebhookTestEventData(TypedDict):
    note: str


class WebhookTestEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["webhook.test"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: WebhookTestEventData


class WebhookWithSecretResponse(TypedDict):
    data: WebhookSettingsWithSecret


class _WorkspaceLimitReachedEventDataRequired(TypedDict):
    kind: Literal["messages_per_day", "spend_per_month"]
    """Which limit, by its name at the command line."""
    percent: Literal[80, 100]
    """The share of the limit that was reached; 100: there is no room for another message like the last one."""
    limit: int | str
    """Messages, or of `spend_per_month` an amount as a decimal."""
    used: int | str
    """Accepted in the period, less what failed unsent."""
    remaining: int | str
    renews_at: str
    """When the next period begins, in the workspace's time zone."""
    occurred_at: str


class WorkspaceLimitReachedEventData(_WorkspaceLimitReachedEventDataRequired, total=False):
    currency: str
    """Of `spend_per_month`, which is estimated."""
    test: Literal[True]
    """Only where POST /webhook/test or /webhook/verify made it: an example."""


class WorkspaceLimitReachedEvent(TypedDict):
    id: str
    """The same for all attempts."""
    type: Literal["workspace.limit.reached"]
    created_at: str
    """When the reported change happened."""
    organization_id: str
    cursor: str
    """For `after` of GET /events."""
    data: WorkspaceLimitReachedEventData


class WorkspaceMemberResponse(TypedDict):
    id: str
    """For `assignee_id` of a conversation."""
    name: str
    """As of the last sign-in."""


class WorkspaceOfKey(TypedDict):
    id: str
    name: str


class TemplatesListQuery(TypedDict, total=False):
    language: str
    """Only this language, such as `en_US`."""
    status: Literal["pending", "approved", "rejected", "paused", "disabled", "in_appeal", "pending_deletion"]
    """Only templates in this state."""
    category: Literal["UTILITY", "MARKETING", "AUTHENTICATION"]
    """Only templates of this category; small letters will do."""
    name: str
    """Only templates whose name contains this, such as `order`."""
    limit: int
    """How many at the most."""


class TemplatesGetQuery(TypedDict, total=False):
    language: str
    """Only this language, such as `en_US`."""


class ConversationsListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    since: str
    """Only what is of this time or later, by the time that the list is in the order of."""
    until: str
    """Only what is of before this time."""
    connection_id: str
    """Only conversations of this number: an id from GET /connections."""
    to: str
    """Only those with the contact who has this number."""
    recipient: str
    """Only those with the contact who has this business-scoped user id, such as `DE.1795`."""
    unread: Literal["true", "false"]
    """`true`: only those with messages that wait to be read, as `unread_count` counts them."""
    waiting: Literal["true", "false"]
    """`true`: only those in which the customer wrote last, so that they wait for an answer. They are in the order of what the customer wrote. Reactions, corrections and withdrawals of the customer do not count, and neither does an answer of yours that failed."""
    closed: Literal["true", "false"]
    """`true`: only closed conversations; `false`: only those that are not."""
    assignee: str
    """Only those with exactly this assignee, such as `ana@example.com`."""
    assignee_id: str
    """Only those that are assigned to this person: an id from GET /members."""
    search: str
    """Only those whose contact's name, or last name, begins with this, whatever the case and accents; or whose number begins or ends with these digits, spaces and `+` aside. The first 50 matches are looked at: write more for others."""


class EventsListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    after: str
    """`next` of the answer before, or the `cursor` of an event: what follows it is answered. `now`: only what comes from now on. Left out: from the oldest event that is kept."""


class MediaListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    since: str
    """Only what is of this time or later, by the time that the list is in the order of."""
    until: str
    """Only what is of before this time."""
    connection_id: str
    """Only files of this number: an id from GET /connections."""
    type: Literal["image", "video", "audio", "document", "sticker"]
    """Only files of this type."""
    direction: Literal["outbound", "inbound"]
    """`outbound`: uploaded here; `inbound`: sent by customers."""


class MediaLinkQuery(TypedDict, total=False):
    disposition: Literal["attachment", "inline"]
    """`attachment`: a browser saves the file. `inline`: it shows an image, audio, video or PDF, also in a page of another origin; other files stay attachments."""


class MembersListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


_MessagesListQueryOptionalKeywords = TypedDict("_MessagesListQueryOptionalKeywords", {"from": "str"}, total=False)


class MessagesListQuery(_MessagesListQueryOptionalKeywords, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    connection_id: str
    """Only messages of this number: an id from GET /connections."""
    conversation_id: str
    """Only messages of this conversation, in both directions."""
    direction: Literal["outbound", "inbound"]
    """`outbound`: sent here; `inbound`: written by customers."""
    source: Literal["api", "app", "customer", "history"]
    """`api`: sent by this API; `app`: by the business in the WhatsApp Business app; `customer`: received; `history`: of before the number was connected."""
    status: Literal["queued", "processing", "sent", "delivered", "read", "failed", "outcome_unknown", "received"]
    """`received` selects inbound messages."""
    statuses: str
    """Messages in one of these states, separated by commas, such as `failed,outcome_unknown`. Instead of `status`."""
    failure_category: Literal["invalid_recipient", "recipient_unreachable", "service_window_closed", "template_unavailable", "invalid_content", "media_error", "rate_limited", "recipient_limit", "opted_out", "not_conversation_owner", "account_restricted", "sender_not_ready", "authentication", "platform_unavailable", "expired", "canceled", "unknown"]
    """Messages that failed for this reason, or whose outcome is unknown for it."""
    since: str
    """Messages that were made at this time or later, such as `2026-11-21T08:00:00.000Z`."""
    until: str
    """Messages that were made before this time."""
    client_message_id: str
    """Your own id, as sent."""
    tag: str
    """Messages of this group, as sent."""
    media_object_id: str
    """Messages that send this file, refer to it, or came with it: an id from GET /media."""
    meta_message_id: str
    """The message that has this id at WhatsApp, or had it with an earlier attempt: `meta_message_id`."""
    to: str
    """Outbound messages to this number."""
    recipient: str
    """Messages to and from the contact with this business-scoped user id, such as `DE.1795`."""


class _MessagesSendBatchBodyRequired(TypedDict):
    messages: Sequence[BatchMessage]
    """In the order in which they go to one recipient."""


class MessagesSendBatchBody(_MessagesSendBatchBodyRequired, total=False):
    validation: Literal["strict", "permissive"]
    """strict: one message that cannot be sent, and none is taken. permissive: the others are taken. Default: strict."""


class _MessagesCheckBatchBodyRequired(TypedDict):
    messages: Sequence[BatchMessage]
    """In the order in which they go to one recipient."""


class MessagesCheckBatchBody(_MessagesCheckBatchBodyRequired, total=False):
    validation: Literal["strict", "permissive"]
    """strict: one message that cannot be sent, and none is taken. permissive: the others are taken. Default: strict."""


class OptOutsListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    since: str
    """Only what is of this time or later, by the time that the list is in the order of."""
    until: str
    """Only what is of before this time."""
    to: str
    """Only those of the person who has this number."""
    recipient: str
    """Only those of the person who has this business-scoped user id, such as `DE.1795`."""
    source: Literal["own", "platform"]
    """Only what the workspace recorded (`own`), or what WhatsApp reported (`platform`)."""
    category: Literal["marketing", "all"]
    """Only those of this category."""


class TagsListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


class UsageMessagesQuery(TypedDict, total=False):
    since: str
    """The first moment that counts, rounded down to a quarter of an hour. Default: 30 days before `until`."""
    until: str
    """The moment before which the time ends, rounded up to a quarter of an hour. Default: now."""
    interval: Literal["hour", "day", "month"]
    """One row for each of these; `hour` takes 31 days at the most, `day` 400, `month` 800."""
    timezone: str
    """Where days and months begin: an IANA name such as `Europe/Berlin`."""
    group_by: str
    """Separated by commas: connection_id, type, template, category, country, source; `connection` is `connection_id`."""
    connection_id: str
    """Only of this number: an id from GET /connections."""
    connection: str
    """The same as `connection_id`, by its former name."""
    type: str
    """Only of this type, such as `text` or `template`."""
    template: str
    """Only of the template with this name."""
    category: str
    """Only what WhatsApp charged, or left free, under this category; `marketing` has `marketing_lite` too."""
    country: str
    """Only to and from numbers of this country: ISO 3166 alpha-2."""
    source: str
    """Only from here: `api` is sent with the API, `app` in the WhatsApp Business app, `customer` was received."""


class UsageCodesQuery(TypedDict, total=False):
    since: str
    """The first moment that counts, rounded down to a quarter of an hour. Default: 30 days before `until`."""
    until: str
    """The moment before which the time ends, rounded up to a quarter of an hour. Default: now."""
    interval: Literal["hour", "day", "month"]
    """One row for each of these; `hour` takes 31 days at the most, `day` 400, `month` 800."""
    timezone: str
    """Where days and months begin: an IANA name such as `Europe/Berlin`."""


class WebhookDeliveriesQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    since: str
    """Only what is of this time or later, by the time that the list is in the order of."""
    until: str
    """Only what is of before this time."""
    status: Literal["succeeded", "failed"]
    """Only attempts that ended so."""
    event_type: Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]
    """Only attempts for this kind of event."""
    event_id: str
    """Only attempts of this event: the `webhook-id` that your receiver got."""


EventType = Literal["message.received", "message.status.updated", "message.standby.received", "message.sent_elsewhere", "conversation.control.updated", "conversation.updated", "template.status.updated", "template.category.updated", "media.ready", "media.failed", "connection.updated", "contact.opt_out.updated", "workspace.limit.reached", "payment.updated", "call.missed", "call.ended", "platform.error", "destination.events_lost", "webhook.test"]


WebhookEvent = Union["MessageReceivedEvent", "MessageStatusUpdatedEvent", "MessageStandbyReceivedEvent", "MessageSentElsewhereEvent", "ConversationControlUpdatedEvent", "ConversationUpdatedEvent", "TemplateStatusUpdatedEvent", "TemplateCategoryUpdatedEvent", "MediaReadyEvent", "MediaFailedEvent", "ConnectionUpdatedEvent", "ContactOptOutUpdatedEvent", "WorkspaceLimitReachedEvent", "PaymentUpdatedEvent", "CallMissedEvent", "CallEndedEvent", "PlatformErrorEvent", "DestinationEventsLostEvent", "WebhookTestEvent"]
"""What GET /events gives, and what Herald posts to a webhook; `type` distinguishes the events."""


ErrorCode = Literal[
    "API_KEY_EXPIRED",
    "API_KEY_INVALID",
    "API_KEY_MISSING",
    "API_KEY_REVOKED",
    "API_VERSION_NOT_SUPPORTED",
    "ASSIGNEE_NOT_MEMBER",
    "BACKLOG_LIMIT_REACHED",
    "BATCH_REFUSED",
    "CONNECTION_NOT_FOUND",
    "CONNECTION_NOT_READY",
    "CONTROL_NOT_ALLOWED",
    "CONVERSATION_NOT_FOUND",
    "DESTINATION_ADDRESS_NOT_ALLOWED",
    "DESTINATION_CONNECTION_NOT_FOUND",
    "DESTINATION_LIMIT_REACHED",
    "DESTINATION_NAME_TAKEN",
    "DESTINATION_NOT_FOUND",
    "EVENT_CURSOR_EXPIRED",
    "IDEMPOTENCY_KEY_INVALID",
    "IDEMPOTENCY_KEY_REQUIRED",
    "IDEMPOTENCY_KEY_REUSED",
    "INTERNAL_ERROR",
    "INVALID_REQUEST",
    "MEDIA_NOT_FOUND",
    "MEDIA_PENDING",
    "MEDIA_STORAGE_FULL",
    "MEDIA_TOO_LARGE",
    "MEDIA_TYPE_MISMATCH",
    "MEDIA_TYPE_NOT_SUPPORTED",
    "MESSAGE_NOT_CANCELABLE",
    "MESSAGE_NOT_FOUND",
    "MESSAGE_NOT_RECEIVED",
    "MESSAGE_NOT_RETRYABLE",
    "META_APP_ID_MISSING",
    "OPT_OUT_NOT_FOUND",
    "OPT_OUT_NOT_YOURS",
    "OTP_ATTEMPTS_EXHAUSTED",
    "OTP_CODE_ALREADY_USED",
    "OTP_CODE_EXPIRED",
    "OTP_CODE_INCORRECT",
    "OTP_NOT_FOUND",
    "OTP_PACKAGE_EXHAUSTED",
    "OTP_PACKAGE_REQUIRED",
    "OTP_PROJECT_REQUIRED",
    "OTP_RECIPIENT_INVALID",
    "OTP_RESEND_TOO_SOON",
    "OTP_SENDER_NOT_READY",
    "OUTCOME_UNKNOWN_NOT_CONFIRMED",
    "PAYLOAD_TOO_LARGE",
    "PLATFORM_REJECTED",
    "PLATFORM_TIMEOUT",
    "PLATFORM_UNAVAILABLE",
    "RATE_LIMITED",
    "RECIPIENT_LIMIT_REACHED",
    "RECIPIENT_NEEDS_PHONE",
    "RECIPIENT_OPTED_OUT",
    "REPLY_TARGET_NOT_FOUND",
    "SCOPE_REQUIRED",
    "SEND_AT_PASSED",
    "SERVICE_UNAVAILABLE",
    "SERVICE_WINDOW_CLOSED",
    "SPEND_LIMIT_REACHED",
    "SUBSCRIPTION_REQUIRED",
    "TAG_LIMIT_REACHED",
    "TAG_NOT_FOUND",
    "TAG_STARTED",
    "TEMPLATE_NOT_APPROVED",
    "TEMPLATE_NOT_FOUND",
    "TEMPLATE_PARAMETERS_MISMATCH",
    "UNSUPPORTED_CONTENT_TYPE",
    "UPLOAD_LIMIT_REACHED",
    "USAGE_TOO_LARGE",
    "VALIDATION_FAILED",
    "WEBHOOK_CONNECTION_NOT_FOUND",
    "WEBHOOK_DELIVERY_NOT_FOUND",
    "WEBHOOK_NOT_FOUND",
    "WEBHOOK_REPLAY_NOT_FOUND",
    "WEBHOOK_REPLAY_RUNNING",
    "WEBHOOK_REPLAY_TOO_LARGE",
    "WEBHOOK_SECRET_DIFFERS",
    "WEBHOOK_URL_NOT_ALLOWED",
    "WORKSPACE_LIMIT_REACHED",
]
"""Codes that errors may have; a later Herald may know more."""
