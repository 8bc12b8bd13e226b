# Generated from _async/admin.py by `npm run generate`.
from __future__ import annotations

from typing import Any, List

from .. import admin_models as m
from .._requests import Options, Request, base_of, new_key, path_of
from .pages import Pages, every_item
from .support import HttpClient
from .transport import Transport

API = "/api/admin/v1"


class HeraldAdmin:
    """
    Calls the admin API with an operator key, `hrld_admin_...` from `herald operator-key create`; errors, repeats and lists are those of
    Herald.
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
        self._transport = transport = Transport(
            base, operator_key or "", Options(max_attempts, max_pause, timeout), http_client
        )
        self.workspaces = Workspaces(transport)
        self.keys = Keys(transport)
        self.connections = AdminConnections(transport)
        self.otp_projects = OtpProjects(transport)
        self.otp_sender = OtpSender(transport)
        self.rates = Rates(transport)
        self.usage = AdminUsage(transport)
        self.audit = Audit(transport)

    def request(self, method: str, path: str, *, query: Any = None, body: Any = None, idempotency_key: str | None = None) -> Any:
        """The whole answer of an operation that has no method; repeated by the same rules."""
        return self._transport.send(Request(method.upper(), path, query or {}, body, idempotency_key))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> HeraldAdmin:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Workspaces:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, filter: m.WorkspacesAdminListQuery | None = None) -> Pages[m.WorkspaceResponse]:
        return every_item(self._transport, f"{API}/workspaces", filter)

    def create(self, body: m.CreateWorkspaceRequest, *, idempotency_key: str | None = None) -> m.WorkspaceResponse:
        key = idempotency_key or new_key()
        return self._transport.data(Request("POST", f"{API}/workspaces", body=body, key=key))

    def get(self, id: str) -> m.WorkspaceResponse:
        return self._transport.data(Request("GET", API + path_of("workspaces", id)))

    def change(self, id: str, body: m.ChangeWorkspaceRequest) -> m.WorkspaceResponse:
        """What is left out stays as it is."""
        return self._transport.data(Request("PATCH", API + path_of("workspaces", id), body=body))

    def remove(self, id: str) -> m.WorkspaceResponse:
        """With everything in it. Answers at once; `get` raises WORKSPACE_NOT_FOUND when it is over."""
        return self._transport.data(Request("DELETE", API + path_of("workspaces", id)))


class Keys:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, workspace_id: str, filter: m.KeysAdminListQuery | None = None) -> Pages[m.ApiKeyResponse]:
        return every_item(self._transport, API + path_of("workspaces", workspace_id, "keys"), filter)

    def create(
        self, workspace_id: str, body: m.CreateKeyRequest, *, idempotency_key: str | None = None
    ) -> m.IssuedKeyResponse:
        """Keep `key` of the answer: it is shown once."""
        path = API + path_of("workspaces", workspace_id, "keys")
        return self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    def change(self, workspace_id: str, id: str, body: m.ChangeKeyRequest) -> m.ApiKeyResponse:
        path = API + path_of("workspaces", workspace_id, "keys", id)
        return self._transport.data(Request("PATCH", path, body=body))

    def rotate(
        self, workspace_id: str, id: str, body: m.RotateKeyRequest | None = None, *, idempotency_key: str | None = None
    ) -> m.IssuedKeyResponse:
        """A new key in the place of the old one; both work for a while."""
        path = API + path_of("workspaces", workspace_id, "keys", id, "rotate")
        return self._transport.data(Request("POST", path, body=body or {}, key=idempotency_key or new_key()))

    def revoke(self, workspace_id: str, id: str) -> m.ApiKeyResponse:
        return self._transport.data(Request("DELETE", API + path_of("workspaces", workspace_id, "keys", id)))


class AdminConnections:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, workspace_id: str) -> List[m.OperatedConnectionResponse]:
        return self._transport.data(Request("GET", API + path_of("workspaces", workspace_id, "connections")))

    def add(
        self, workspace_id: str, body: m.AddConnectionRequest, *, idempotency_key: str | None = None
    ) -> m.OperatedConnectionResponse:
        """Checked with the platform at once; raises NUMBER_REFUSED, whose message says what to mend."""
        path = API + path_of("workspaces", workspace_id, "connections")
        return self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    def change(self, workspace_id: str, id: str, body: m.ChangeConnectionRequest) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id)
        return self._transport.data(Request("PATCH", path, body=body))

    def check(self, workspace_id: str, id: str, *, idempotency_key: str | None = None) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id, "check")
        return self._transport.data(Request("POST", path, key=idempotency_key or new_key()))

    def disconnect(self, workspace_id: str, id: str) -> m.OperatedConnectionResponse:
        path = API + path_of("workspaces", workspace_id, "connections", id)
        return self._transport.data(Request("DELETE", path))


class OtpProjects:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, workspace_id: str) -> List[m.OtpProjectResponse]:
        return self._transport.data(Request("GET", API + path_of("workspaces", workspace_id, "otp-projects")))

    def create(
        self, workspace_id: str, body: m.CreateOtpProjectRequest, *, idempotency_key: str | None = None
    ) -> m.OtpProjectResponse:
        path = API + path_of("workspaces", workspace_id, "otp-projects")
        return self._transport.data(Request("POST", path, body=body, key=idempotency_key or new_key()))

    def list_packages(self, workspace_id: str, id: str) -> m.OtpPackagesData:
        path = API + path_of("workspaces", workspace_id, "otp-projects", id, "packages")
        return self._transport.data(Request("GET", path))

    def set_package(
        self, workspace_id: str, id: str, country: str, body: m.SetOtpPackageRequest
    ) -> m.OtpPackagesData:
        path = API + path_of("workspaces", workspace_id, "otp-projects", id, "packages", country)
        return self._transport.data(Request("PUT", path, body=body))


class OtpSender:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> m.OtpSenderData:
        return self._transport.data(Request("GET", f"{API}/otp-sender"))

    def set(self, body: m.SetOtpSenderRequest) -> m.OtpSenderData:
        return self._transport.data(Request("PUT", f"{API}/otp-sender", body=body))


class Rates:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> List[m.RateResponse]:
        return self._transport.data(Request("GET", f"{API}/rates"))

    def replace(self, body: m.ReplaceRatesRequest) -> m.ReplacedRatesData:
        return self._transport.data(Request("PUT", f"{API}/rates", body=body))


class AdminUsage:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, filter: m.UsageAdminGetQuery | None = None) -> Pages[m.WorkspaceUsageLine]:
        """One line a workspace, number, country and category."""
        return every_item(self._transport, f"{API}/usage", filter)


class Audit:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, filter: m.AuditAdminListQuery | None = None) -> Pages[m.AuditEventResponse]:
        return every_item(self._transport, f"{API}/audit", filter)
