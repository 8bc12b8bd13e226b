from __future__ import annotations

from typing import Any, List

from .. import admin_models as m
from .._requests import Options, Request, base_of, new_key, path_of
from .pages import AsyncPages, every_item
from .support import HttpClient
from .transport import AsyncTransport

API = "/api/admin/v1"


class AsyncHeraldAdmin:
    """
    Calls the admin API with an operator key, `hrld_admin_...` from `herald operator-key create`; errors, repeats and lists are those of
    AsyncHerald.
    """

    def __init__(
        self,
        base_url: str | None,
        operator_key: str | None,
        *,
        max_attempts: int = 4,
        max_pause: float = 10.0,
        timeout: float = 15.0,
        http_client: HttpClient | None = None,
    ) -> None:
        base = base_of(base_url, operator_key, "operator_key", "hrld_admin_...", (API, "/api/v1"))
        self._transport = transport = AsyncTransport(
            base, operator_key or "", Options(max_attempts, max_pause, timeout), http_client
        )
        self.workspaces = AsyncWorkspaces(transport)
        self.keys = AsyncKeys(transport)
        self.connections = AsyncAdminConnections(transport)
        self.otp_projects = AsyncOtpProjects(transport)
        self.otp_sender = AsyncOtpSender(transport)
        self.rates = AsyncRates(transport)
        self.usage = AsyncAdminUsage(transport)
        self.audit = AsyncAudit(transport)

    async def request(self, method: str, path: str, *, query: Any = None, body: Any = None, idempotency_key: str | None = None) -> Any:
        """The whole answer of an operation that has no method; repeated by the same rules."""
        return await self._transport.send(Request(method.upper(), path, query or {}, body, idempotency_key))

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncHeraldAdmin:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class AsyncWorkspaces:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.WorkspacesAdminListQuery | None = None) -> AsyncPages[m.WorkspaceResponse]:
        return every_item(self._transport, f"{API}/workspaces", filter)

    async def create(self, body: m.CreateWorkspaceRequest, *, idempotency_key: str | None = None) -> m.WorkspaceResponse:
        key = idempotency_key or new_key()
        return await self._transport.data(Request("POST", f"{API}/workspaces", body=body, key=key))

    async def get(self, id: str) -> m.WorkspaceResponse:
        return await self._transport.data(Request("GET", API + path_of("workspaces", id)))

    async def change(self, id: str, body: m.ChangeWorkspaceRequest) -> m.WorkspaceResponse:
        """What is left out stays as it is."""
        return await self._transport.data(Request("PATCH", API + path_of("workspaces", id), body=body))

    async def remove(self, id: str) -> m.WorkspaceResponse:
        """With everything in it. Answers at once; `get` raises WORKSPACE_NOT_FOUND when it is over."""
        return await self._transport.data(Request("DELETE", API + path_of("workspaces", id)))


class AsyncKeys:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, workspace_id: str, filter: m.KeysAdminListQuery | None = None) -> AsyncPages[m.ApiKeyResponse]:
        return every_item(self._transport, API + path_of("workspaces", workspace_id, "keys"), filter)

    async def create(
        self, workspace_id: str, body: m.CreateKeyRequest, *, idempotency_key: str | None = None
    ) -> m.IssuedKeyResponse:
        """Keep `key` of the answer: it is shown once."""
        path = API + path_of("workspaces", workspace_id, "keys")
        return await self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    async def change(self, workspace_id: str, id: str, body: m.ChangeKeyRequest) -> m.ApiKeyResponse:
        path = API + path_of("workspaces", workspace_id, "keys", id)
        return await self._transport.data(Request("PATCH", path, body=body))

    async def rotate(
        self, workspace_id: str, id: str, body: m.RotateKeyRequest | None = None, *, idempotency_key: str | None = None
    ) -> m.IssuedKeyResponse:
        """A new key in the place of the old one; both work for a while."""
        path = API + path_of("workspaces", workspace_id, "keys", id, "rotate")
        return await self._transport.data(Request("POST", path, body=body or {}, key=idempotency_key or new_key()))

    async def revoke(self, workspace_id: str, id: str) -> m.ApiKeyResponse:
        return await self._transport.data(Request("DELETE", API + path_of("workspaces", workspace_id, "keys", id)))


class AsyncAdminConnections:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, workspace_id: str) -> List[m.OperatedConnectionResponse]:
        return await self._transport.data(Request("GET", API + path_of("workspaces", workspace_id, "connections")))

    async def add(
        self, workspace_id: str, body: m.AddConnectionRequest, *, idempotency_key: str | None = None
    ) -> m.OperatedConnectionResponse:
        """Checked with the platform at once; raises NUMBER_REFUSED, whose message says what to mend."""
        path = API + path_of("workspaces", workspace_id, "connections")
        return await self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    async def change(self, workspace_id: str, id: str, body: m.ChangeConnectionRequest) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id)
        return await self._transport.data(Request("PATCH", path, body=body))

    async def check(self, workspace_id: str, id: str, *, idempotency_key: str | None = None) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id, "check")
        return await self._transport.data(Request("POST", path, key=idempotency_key or new_key()))

    async def disconnect(self, workspace_id: str, id: str) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id)
        return await self._transport.data(Request("DELETE", path))


class AsyncOtpProjects:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self, workspace_id: str) -> List[m.OtpProjectResponse]:
        return await self._transport.data(Request("GET", API + path_of("workspaces", workspace_id, "otp-projects")))

    async def create(
        self, workspace_id: str, body: m.CreateOtpProjectRequest, *, idempotency_key: str | None = None
    ) -> m.OtpProjectResponse:
        path = API + path_of("workspaces", workspace_id, "otp-projects")
        return await self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    async def list_packages(self, workspace_id: str, id: str) -> m.OtpPackagesData:
        path = API + path_of("workspaces", workspace_id, "otp-projects", id, "packages")
        return await self._transport.data(Request("GET", path))

    async def set_package(
        self, workspace_id: str, id: str, country: str, body: m.SetOtpPackageRequest
    ) -> m.OtpPackagesData:
        path = API + path_of("workspaces", workspace_id, "otp-projects", id, "packages", country)
        return await self._transport.data(Request("PUT", path, body=body))


class AsyncOtpSender:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self) -> m.OtpSenderData:
        return await self._transport.data(Request("GET", f"{API}/otp-sender"))

    async def set(self, body: m.SetOtpSenderRequest) -> m.OtpSenderData:
        return await self._transport.data(Request("PUT", f"{API}/otp-sender", body=body))


class AsyncRates:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def get(self) -> List[m.RateResponse]:
        return await self._transport.data(Request("GET", f"{API}/rates"))

    async def replace(self, body: m.ReplaceRatesRequest) -> m.ReplacedRatesData:
        return await self._transport.data(Request("PUT", f"{API}/rates", body=body))


class AsyncAdminUsage:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def get(self, filter: m.UsageAdminGetQuery | None = None) -> AsyncPages[m.WorkspaceUsageLine]:
        """One line a workspace, number, country and category."""
        return every_item(self._transport, f"{API}/usage", filter)


class AsyncAudit:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, filter: m.AuditAdminListQuery | None = None) -> AsyncPages[m.AuditEventResponse]:
        return every_item(self._transport, f"{API}/audit", filter)
