from __future__ import annotations

from typing import Union

from .. import models as m
from .._requests import Request, path_of
from .pages import AsyncPages, every_item
from .transport import AsyncTransport

API = "/api/v1"


class AsyncTags:
    """Groups of messages that were sent with the same `tag`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.TagsListQuery | None = None) -> AsyncPages[m.TagListItem]:
        """Newest first."""
        return every_item(self._transport, f"{API}/tags", filter)

    async def put(self, tag: str, body: m.PutTagRequest | None = None) -> m.TagResponse:
        """Makes a group before its first message, or changes one: paused, started at a time, or with a pace."""
        return await self._transport.data(Request("PUT", API + path_of("tags", tag), body=body or {}))

    async def get(self, tag: str) -> m.TagResponse:
        return await self._transport.data(Request("GET", API + path_of("tags", tag)))

    async def pause(self, tag: str) -> m.TagActionResult:
        """Nothing of it is sent until `resume`."""
        return await self._transport.data(Request("POST", API + path_of("tags", tag, "pause")))

    async def resume(self, tag: str) -> m.TagActionResult:
        return await self._transport.data(Request("POST", API + path_of("tags", tag, "resume")))

    async def cancel(self, tag: str) -> m.TagActionResult:
        """Fails what waits."""
        return await self._transport.data(Request("POST", API + path_of("tags", tag, "cancel")))

    async def retry(self, tag: str, body: m.RetryTagRequest | None = None) -> m.TagActionResult:
        """Queues failed messages again: of one category, or all but what was canceled or opted out."""
        return await self._transport.data(Request("POST", API + path_of("tags", tag, "retry"), body=body or {}))


class AsyncConversations:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.ConversationsListQuery | None = None) -> AsyncPages[m.ConversationResponse]:
        return every_item(self._transport, f"{API}/conversations", filter)

    async def get(self, id: str) -> m.ConversationResponse:
        return await self._transport.data(Request("GET", API + path_of("conversations", id)))

    async def update(self, id: str, body: m.UpdateConversationRequest) -> Union[m.ConversationResponse, m.UpdatedConversation]:
        """Closes, opens or assigns it; what is left out stays. The next message of the customer opens a closed one."""
        return await self._transport.data(Request("PATCH", API + path_of("conversations", id), body=body))

    async def control(self, id: str, body: m.ControlRequest) -> Union[m.ConversationResponse, m.ControlledConversation]:
        """Passes, releases or takes control, where several apps answer on a number."""
        return await self._transport.data(Request("POST", API + path_of("conversations", id, "control"), body=body))


class AsyncMembers:
    """The people of the workspace, to whom conversations can be assigned by `assignee_id`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.MembersListQuery | None = None) -> AsyncPages[m.WorkspaceMemberResponse]:
        return every_item(self._transport, f"{API}/members", filter)


class AsyncOptOuts:
    """Who wants no marketing, or no messages at all."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.OptOutsListQuery | None = None) -> AsyncPages[m.OptOutResponse]:
        return every_item(self._transport, f"{API}/opt-outs", filter)

    async def put(self, body: m.PutOptOutRequest) -> m.OptOutResponse:
        """Records an opt-out of your own; a repeat answers the same one."""
        return await self._transport.data(Request("PUT", f"{API}/opt-outs", body=body))

    async def remove(self, id: str) -> None:
        """Only one of your own; raises OPT_OUT_NOT_YOURS for what the person chose in WhatsApp."""
        await self._transport.send(Request("DELETE", API + path_of("opt-outs", id)))


class AsyncUsage:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self, query: m.UsageMessagesQuery | None = None) -> m.UsageResponse:
        """What was sent and received by time, and what it cost."""
        return await self._transport.send(Request("GET", f"{API}/usage", query or {}))

    async def codes(self, query: m.UsageCodesQuery | None = None) -> m.CodeUsageResponse:
        """The same of one-time codes, with a key of an OTP project."""
        return await self._transport.send(Request("GET", f"{API}/usage/codes", query or {}))
