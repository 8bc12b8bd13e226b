# Generated from _async/client.py by `npm run generate`.
from __future__ import annotations

from typing import Any, Iterator, Callable, Iterable, Literal, Sequence, Union, cast

from .. import models as m
from .._requests import FileContent, ListPage, Options, Request, base_of, new_key, path_of
from ..errors import HeraldConnectionError, HeraldError
from .inbox import Conversations, Members, OptOuts, Tags, Usage
from .pages import CursorStore, Pages, every_event, every_item
from .support import Stop, HttpClient
from .transport import Transport

API = "/api/v1"
MediaType = Literal["image", "video", "audio", "document", "sticker"]
# That GET /events is asked to wait for one event.
MOST_WAIT_SECONDS = 20
LONG_CALL_SECONDS = 40.0


class Herald:
    """
    Calls the API. Every method returns the `data` of the answer, and raises a HeraldError by its code, or a HeraldConnectionError
    where no answer came.

    `base_url` is where Herald answers, such as `https://herald.example.com`. `max_attempts` are the tries in all, `max_pause` the
    longest pause before a further one, `timeout` the seconds of one try. `http_client` is yours where you give one, such as one that
    goes through a proxy: close it yourself. Raises ValueError that says in words what is missing.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        max_attempts: int = 4,
        max_pause: float = 10.0,
        timeout: float = 15.0,
        http_client: HttpClient | None = None,
    ) -> None:
        base = base_of(base_url, api_key, "api_key", "hrld_live_...", (API,))
        self._transport = transport = Transport(
            base, api_key or "", Options(max_attempts, max_pause, timeout), http_client
        )
        self.key = Key(transport)
        self.connections = Connections(transport)
        self.messages = Messages(transport)
        self.tags = Tags(transport)
        self.conversations = Conversations(transport)
        self.members = Members(transport)
        self.opt_outs = OptOuts(transport)
        self.usage = Usage(transport)
        self.templates = Templates(transport)
        self.profile = Profile(transport)
        self.media = Media(transport)
        self.webhook = Webhook(transport)
        # Below what one try may take.
        self.events = Events(transport, min(MOST_WAIT_SECONDS, max(0, int(timeout) - 5)))
        self.otp = Otp(transport)

    def request(self, method: str, path: str, *, query: Any = None, body: Any = None, idempotency_key: str | None = None) -> Any:
        """The whole answer of an operation that has no method, such as `request("GET", "/api/v1/key")`; repeated by the same rules."""
        return self._transport.send(Request(method.upper(), path, query or {}, body, idempotency_key))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Herald:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Key:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> m.KeyData:
        """What this key may do: its workspace, scopes and rate."""
        return self._transport.data(Request("GET", f"{API}/key"))


class Connections:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Pages[m.ConnectionResponse]:
        """All numbers."""

        def read(_cursor: str | None) -> ListPage[m.ConnectionResponse]:
            return ListPage(self._transport.data(Request("GET", f"{API}/connections")), None)

        return Pages(read)


class Messages:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, message: m.SendMessage, *, idempotency_key: str | None = None) -> m.QueuedMessage:
        """Repeat the key when you repeat the call; without it a new one is made, which covers the repeats of this client only."""
        key = idempotency_key or new_key()
        return self._transport.data(Request("POST", f"{API}/messages", body=message, key=key))

    def check(self, message: m.SendMessage) -> m.MessageCheck:
        """What would become of a message; sends and stores nothing."""
        return self._transport.data(Request("POST", f"{API}/messages/check", body=message))

    def check_batch(self, body: m.MessagesCheckBatchBody) -> m.BatchCheckResponse:
        """What would become of up to a hundred, by index; sends and stores nothing."""
        return self._transport.send(Request("POST", f"{API}/messages/batch/check", body=body))

    def send_batch(
        self, messages: Iterable[Union[m.SendMessage, m.BatchMessage]], *, validation: Literal["strict", "permissive"] = "strict"
    ) -> m.SendBatchResponse:
        """
        Up to a hundred at once, each with its own `idempotency_key`; without one it gets a new one, as with `send`. `permissive` takes
        the messages that can be sent where others cannot, which `errors` names; `strict`: all or none.
        """
        keyed: Sequence[Any] = [{"idempotency_key": new_key(), **cast(Any, message)} for message in messages]
        body = {"messages": keyed, "validation": validation}
        return self._transport.send(Request("POST", f"{API}/messages/batch", body=body))

    def get(self, id: str) -> m.MessageResponse:
        return self._transport.data(Request("GET", API + path_of("messages", id)))

    def timeline(self, id: str) -> m.TimelineResponse:
        """Whole: its history in `data`, beside it `explanation` and `not_kept`."""
        return self._transport.send(Request("GET", API + path_of("messages", id, "timeline")))

    def list(self, filter: m.MessagesListQuery | None = None) -> Pages[m.MessageListItem]:
        return every_item(self._transport, f"{API}/messages", filter)

    def cancel(self, id: str) -> Union[m.MessageResponse, m.CanceledMessage]:
        """Takes back what is scheduled or queued; raises MESSAGE_NOT_CANCELABLE once it was taken for sending."""
        return self._transport.data(Request("POST", API + path_of("messages", id, "cancel")))

    def mark_read(self, id: str, *, typing: bool = False) -> m.ReadMessage:
        body = {"typing_indicator": typing}
        return self._transport.data(Request("POST", API + path_of("messages", id, "read"), body=body))

    def retry(
        self, id: str, *, confirm_outcome_unknown: bool = False, idempotency_key: str | None = None
    ) -> m.MessageResponse:
        """`confirm_outcome_unknown` sends a message again whose outcome is unknown: the recipient may then get it twice."""
        body = {"confirm_outcome_unknown": confirm_outcome_unknown}
        path = API + path_of("messages", id, "retry")
        return self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))


class Templates:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, connection_id: str, filter: m.TemplatesListQuery | None = None) -> Pages[m.TemplateResponse]:
        """Every template; `limit` is the length of a page."""

        def read(cursor: str | None) -> ListPage[m.TemplateResponse]:
            path = API + path_of("connections", connection_id, "templates")
            answer = self._transport.send(Request("GET", path, {**(filter or {}), "after": cursor}))
            return ListPage(answer["data"], answer["pagination"]["next_after"])

        return Pages(read)

    def get(self, connection_id: str, name: str, language: str | None = None) -> m.TemplateVersionsData:
        path = API + path_of("connections", connection_id, "templates", name)
        return self._transport.data(Request("GET", path, {"language": language}))

    def create(self, connection_id: str, body: m.CreateTemplate) -> m.TemplateResponse:
        path = API + path_of("connections", connection_id, "templates")
        return self._transport.data(Request("POST", path, body=body))

    def edit(self, connection_id: str, name: str, body: m.EditTemplate) -> m.TemplateResponse:
        path = API + path_of("connections", connection_id, "templates", name)
        return self._transport.data(Request("PATCH", path, body=body))

    def remove(self, connection_id: str, name: str) -> m.DeletedTemplate:
        path = API + path_of("connections", connection_id, "templates", name)
        return self._transport.data(Request("DELETE", path))

    def preview(self, connection_id: str, body: m.PreviewTemplateRequest) -> m.PreviewData:
        path = API + path_of("connections", connection_id, "templates", "preview")
        return self._transport.data(Request("POST", path, body=body))


class Profile:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, connection_id: str) -> m.ProfileResponse:
        return self._transport.data(Request("GET", API + path_of("connections", connection_id, "profile")))

    def update(self, connection_id: str, body: m.UpdateProfileRequest) -> m.ProfileResponse:
        path = API + path_of("connections", connection_id, "profile")
        return self._transport.data(Request("PUT", path, body=body))


class Media:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def upload(
        self,
        connection_id: str,
        file: FileContent,
        *,
        filename: str,
        type: MediaType | None = None,
        voice: bool | None = None,
    ) -> m.MediaResponse:
        """`file` is bytes, or a file that was opened with "rb"."""
        form = {"connection_id": connection_id}
        if type is not None:
            form["type"] = type
        if voice is not None:
            form["voice"] = "true" if voice else "false"
        return self._transport.data(Request("POST", f"{API}/media", form=form, file=(filename, file)))

    def list(self, filter: m.MediaListQuery | None = None) -> Pages[m.MediaResponse]:
        return every_item(self._transport, f"{API}/media", filter)

    def get(self, id: str) -> m.MediaResponse:
        return self._transport.data(Request("GET", API + path_of("media", id)))

    def link(self, id: str, query: m.MediaLinkQuery | None = None) -> m.MediaLinkData:
        return self._transport.data(Request("GET", API + path_of("media", id, "url"), query or {}))

    def remove(self, id: str) -> None:
        self._transport.send(Request("DELETE", API + path_of("media", id)))


class Webhook:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> m.WebhookSettings:
        return self._transport.data(Request("GET", f"{API}/webhook"))

    def set(self, body: m.ConfigureWebhookRequest) -> m.WebhookSettingsWithSecret:
        """The first answer has the `secret`, and no other."""
        return self._transport.data(Request("PUT", f"{API}/webhook", body=body))

    def remove(self) -> None:
        self._transport.send(Request("DELETE", f"{API}/webhook"))

    def test(self, body: m.TestWebhookRequest | None = None) -> m.QueuedEventData:
        return self._transport.data(Request("POST", f"{API}/webhook/test", body=body or {}))

    def verify(self) -> m.ConformanceData:
        """Sends your receiver everything that may come, and says what it does wrong. Takes up to 25 seconds."""
        return self._transport.data(Request("POST", f"{API}/webhook/verify", least_timeout=LONG_CALL_SECONDS))

    def rotate_secret(self) -> m.WebhookSettingsWithSecret:
        return self._transport.data(Request("POST", f"{API}/webhook/rotate-secret"))

    def deliveries(self, filter: m.WebhookDeliveriesQuery | None = None) -> Pages[m.DeliveryResponse]:
        return every_item(self._transport, f"{API}/webhook/deliveries", filter)

    def delivery(self, id: str) -> m.DeliveryWithEvent:
        return self._transport.data(Request("GET", API + path_of("webhook", "deliveries", id)))

    def replay(self, id: str) -> m.QueuedEventData:
        return self._transport.data(Request("POST", API + path_of("webhook", "deliveries", id, "replay")))

    def replay_many(self, body: m.StartReplayRequest) -> m.ReplayData:
        return self._transport.data(Request("POST", f"{API}/webhook/replay", body=body))

    def replay_state(self, id: str) -> m.ReplayData:
        return self._transport.data(Request("GET", API + path_of("webhook", "replay", id)))


class Events:
    def __init__(self, transport: Transport, wait: int) -> None:
        self._transport = transport
        self._wait = wait

    def list(
        self, *, after: str | None = None, types: Sequence[m.EventType] | None = None, limit: int = 250
    ) -> Pages[m.WebhookEvent]:
        """What is there, oldest first. Store the `cursor` of each event with what you did about it."""

        def read(cursor: str | None) -> ListPage[m.WebhookEvent]:
            query = {"limit": limit, "after": cursor or after, "types": types and ",".join(types)}
            answer = self._transport.send(Request("GET", f"{API}/events", query))
            return ListPage(answer["data"], None if answer["done"] else answer["next"])

        return Pages(read)

    def follow(
        self,
        *,
        after: str | None = None,
        types: Sequence[m.EventType] | None = None,
        limit: int = 250,
        every: float | None = None,
        stop: Stop | None = None,
        store: CursorStore | None = None,
        on_interruption: Callable[[Union[HeraldError, HeraldConnectionError]], None] | None = None,
    ) -> Iterator[m.WebhookEvent]:
        """
        What is there, and then what comes, within 300 ms mostly, until you leave the loop or `stop` is set; each once. Restarts and
        lost networks only delay it; with `store` it also goes on where it was after a restart of yours. Begins behind `after`, a
        cursor that you have stored, or "now"; without it at the oldest that is kept. `every`: seconds between two requests where
        nothing more is there; left out, the server is asked to wait for the next event. `on_interruption` gets what keeps it
        from reading, for your log.
        """
        # Where Herald may not wait as `timeout` is short, it is asked once a second.
        asks = every is not None or self._wait == 0

        def read(cursor: str | None) -> m.EventsResponse:
            wait = 0 if asks else self._wait
            query = {"limit": limit, "wait": wait, "after": cursor, "types": types and ",".join(types)}
            return self._transport.send(Request("GET", f"{API}/events", query))

        return every_event(read, after, (every or 1.0) if asks else None, stop, store, on_interruption)


class Otp:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, body: m.SendOtpRequest, *, idempotency_key: str | None = None) -> m.OtpChallengeResponse:
        key = idempotency_key or new_key()
        return self._transport.data(Request("POST", f"{API}/otp/send", body=body, key=key))

    def verify(self, body: m.VerifyOtpRequest) -> m.OtpChallengeResponse:
        return self._transport.data(Request("POST", f"{API}/otp/verify", body=body))

    def get(self, id: str) -> m.OtpChallengeResponse:
        return self._transport.data(Request("GET", API + path_of("otp", id)))
