# Generated from openapi-admin.json by `npm run generate`.
from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union


class _AddConnectionRequestRequired(TypedDict):
    phone_number_id: str
    """The platform's id of the number, from the API setup page of the Meta app."""
    waba_id: str
    """Id of the WhatsApp Business Account that has the number."""
    token: str
    """Access token of a system user; it is stored encrypted, and shown nowhere."""


class AddConnectionRequest(_AddConnectionRequestRequired, total=False):
    phone_number: str
    """The number itself, digits only, where the platform does not report it."""
    throughput_per_second: int
    """Messages a second; left out: as the platform says."""
    marketing_route: Literal["auto", "messages"]
    """Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`."""


class AllConnectionsResponse(TypedDict):
    data: List[OperatedConnectionResponse]
    pagination: PaginationResponse


class ApiKeyListResponse(TypedDict):
    data: List[ApiKeyResponse]
    pagination: PaginationResponse


class ApiKeyResponse(TypedDict):
    id: str
    """The public part of the key's text."""
    workspace_id: str
    name: str
    scopes: List[Literal["connections:read", "messages:read", "messages:write", "templates:read", "templates:write", "profile:read", "profile:write", "media:read", "media:write", "webhooks:read", "webhooks:write", "otp:send", "otp:verify", "otp:read"]]
    otp_project_id: str | None
    """Of a key for one-time codes; null: one of the workspace."""
    expires_at: str | None
    """Null: never."""
    revoked_at: str | None
    last_used_at: str | None
    """The last use, or up to a minute before it; null: not used yet."""
    created_at: str


class AuditEventResponse(TypedDict):
    id: str
    occurred_at: str
    action: str
    workspace_id: str | None
    """Null: it concerns the whole service."""
    target: str | None
    """Id of what was changed."""
    actor_kind: Literal["key", "operator", "operator_key", "person", "setup_link", "service"]
    """A key of a workspace, an account that ran a command, an operator key, a person with a setup link, or the service itself."""
    actor: str | None
    """Id of the key, operator key or setup link, or the account's name."""
    address: str | None
    """The caller's address, or the machine on which a command ran."""
    details: Dict[str, Any] | None
    """What was changed; never a secret."""


class AuditListResponse(TypedDict):
    data: List[AuditEventResponse]
    pagination: PaginationResponse


class ChangeConnectionRequest(TypedDict):
    marketing_route: Literal["auto", "messages"]
    """Endpoint for marketing templates: what WhatsApp asks for (`auto`), or always `messages`."""


class ChangeKeyRequest(TypedDict, total=False):
    name: str
    """What it is called in lists."""
    scopes: Sequence[Literal["connections:read", "messages:read", "messages:write", "templates:read", "templates:write", "profile:read", "profile:write", "media:read", "media:write", "webhooks:read", "webhooks:write", "otp:send", "otp:verify", "otp:read"]]
    """What it may do from now on."""
    expires_in: int | None
    """Seconds from now after which it ends; null: never."""


class ChangeMemberRequest(TypedDict):
    role: Literal["viewer", "agent", "developer", "admin"]
    """What the person may do in this workspace from now on."""


class ChangeWorkspaceRequest(TypedDict, total=False):
    api_paid_until: str | None
    """Until when it has paid for sending; null: not at all. Not asked for with `BILLING=off`."""
    rate_per_second: int | None
    """Requests a second of each of its keys; null: the default of the service."""
    rate_burst: int | None
    """Requests that each key may make at once; null: the default of the service."""
    storage_limit_bytes: int | None
    """Bytes of stored files; null: the default of the service."""
    messages_per_day: int | None
    """Messages that are accepted in a day; null: any number."""
    spend_per_month: str | None
    """Estimated cost of the messages of a month, in the currency of the prices; null: any amount."""
    marketing_per_recipient_per_week: int | None
    """Marketing templates to one recipient in a week, from Monday on; null: any number."""
    time_zone: str
    """Where its days, weeks and months begin."""
    name: str
    """What it is called in lists."""
    external_id: str | None
    """Your own id of the customer; null: none."""


class CostResponse(TypedDict):
    currency: str
    amount: str


class _CreateInvitationRequestRequired(TypedDict):
    email: str
    """Who signs in first with this address, verified by the issuer, has the role."""
    role: Literal["viewer", "agent", "developer", "admin"]


class CreateInvitationRequest(_CreateInvitationRequestRequired, total=False):
    expires_in: int
    """Seconds after which the invitation has ended. Default: 604800."""


class _CreateKeyRequestRequired(TypedDict):
    name: str
    """What it is called in lists."""
    scopes: Sequence[Literal["connections:read", "messages:read", "messages:write", "templates:read", "templates:write", "profile:read", "profile:write", "media:read", "media:write", "webhooks:read", "webhooks:write", "otp:send", "otp:verify", "otp:read"]]
    """What it may do. One of an OTP project has scopes that begin with `otp:`, every other key has none of these."""


class CreateKeyRequest(_CreateKeyRequestRequired, total=False):
    expires_in: int
    """Seconds after which it ends; left out: never."""
    otp_project_id: str
    """The key is one of this OTP project, for one-time codes only."""


class _CreateOperatorKeyRequestRequired(TypedDict):
    name: str
    """What it is called in lists."""
    scopes: Sequence[Literal["workspaces:read", "workspaces:write", "keys:read", "keys:write", "operator-keys:read", "operator-keys:write", "connections:read", "connections:write", "people:read", "people:write", "erasures:write", "otp:read", "otp:write", "billing:read", "billing:write", "usage:read", "audit:read", "events:read", "installation:read"]]
    """What it may do. A key gives only scopes that it has."""


class CreateOperatorKeyRequest(_CreateOperatorKeyRequestRequired, total=False):
    workspace_ids: Sequence[str] | None
    """The only workspaces that exist for it. Null or left out: all, which no key gives that is limited itself."""
    expires_in: int
    """Seconds after which it ends; left out: never, which no key gives that ends itself."""


class _CreateOtpProjectRequestRequired(TypedDict):
    name: str
    """What it is called in lists."""
    mode: Literal["sandbox", "live"]
    """`sandbox` sends nothing, and answers with the code."""


class CreateOtpProjectRequest(_CreateOtpProjectRequestRequired, total=False):
    template_language: str
    """Language of the template that carries the codes. Default: en_US."""
    allowed_countries: Sequence[str]
    """Countries to which it may send, ISO 3166 alpha-2; left out: any."""


class CreateSetupLinkRequest(TypedDict, total=False):
    signup: Literal["cloud", "app", "manual"]
    """How the business gives access to its number: `cloud` by the dialog of Meta, `app` the same for a number that stays in the WhatsApp Business app, `manual` by ids and a token that it pastes. Default: `cloud` where embedded signup is set up, else `manual`."""
    return_url: str | None
    """Where the page leads at the end, with `setup` and `status` added; its origin must be one of SETUP_RETURN_ORIGINS."""
    expires_in: int
    """Seconds after which the link has ended. Default: 604800."""
    locale: str
    """Language of the dialog of Meta, such as `de_DE`; of the page too, where it has that language. Default: en_US."""


class _CreateWorkspaceRequestRequired(TypedDict):
    name: str
    """What it is called in lists."""


class CreateWorkspaceRequest(_CreateWorkspaceRequestRequired, total=False):
    external_id: str | None
    """Your own id of the customer, unique among all workspaces; GET /workspaces finds the workspace by it."""


class DeliveryTimesResponse(TypedDict):
    p50: int
    """Half of the delivered messages took no longer, about."""
    p95: int


class EffectiveLimitsResponse(TypedDict):
    needs_subscription: bool
    """Whether it must have paid in order to send."""
    rate_per_second: int
    rate_burst: int
    storage_limit_bytes: int | None
    """Null: any number."""


class EraseRequest(TypedDict, total=False):
    number: str
    """The person's number with its country code, without 00; a leading + may stand before it."""
    user_id: str
    """Instead of `number`: the person's user id, from `contact.user_id`."""
    dry_run: bool
    """Only counts, and changes nothing. Default: false."""


class ErasureResponse(TypedDict):
    erased: bool
    """All of it is gone."""
    more: bool
    """There is more than this call came to in ten seconds. A worker goes on with an erasure until it is done."""
    waits_for: List[str]
    """What is in progress and can be erased only when it has ended, such as a message that is being sent."""
    names: int
    """Spellings and ids under which the person was looked for."""
    counts: Dict[str, int]
    """How many of what, in this call."""


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


class ImportHistoryRequest(TypedDict, total=False):
    after: str
    """`next` of the answer before. Left out: from the beginning, which is harmless after an import."""


class ImportedHistoryResponse(TypedDict):
    notifications: int
    """Notifications with a part of the history that were read."""
    found: int
    """Messages in them, repeats included."""
    imported: int
    unreadable: int
    progress: int | None
    """Per cent of the history that the platform has handed over; null: it did not say."""
    declined: bool
    """The business does not share its history."""
    next: str | None
    """Pass it as `after` of another call: the time of this one was over. Null: all that came was read."""


class InstallationResponse(TypedDict):
    version: str
    ready: bool
    """Of the process that answered."""
    parts: List[ReadinessPartResponse]
    """What readiness looks at: the database, the sweeps of all workers, and more."""
    workers: int
    """Processes that send and deliver at this moment."""
    held: bool
    """The database is another one than before: nothing is sent until `herald restore` decides."""
    queues: List[QueueResponse]
    outcome_unknown: int
    """Messages that wait for a decision, of each number up to 1,000."""
    lanes: List[LaneResponse]
    """Numbers with messages that wait or are under way, the busiest first; up to 100."""


class InvitationListResponse(TypedDict):
    data: List[InvitationResponse]
    pagination: PaginationResponse


class InvitationResponse(TypedDict):
    id: str
    workspace_id: str
    email: str
    role: Literal["viewer", "agent", "developer", "admin"]
    status: Literal["open", "accepted", "revoked", "expired"]
    """`accepted`: a person signed in with the address, is a member, and the invitation has ended."""
    created_at: str
    expires_at: str
    accepted_at: str | None
    person_id: str | None
    """The person who accepted it; null: none yet."""
    revoked_at: str | None
    sign_in_url: str | None
    """Where the person signs in: send it to them, as Herald sends no e-mail. Null: no issuer is set up, so it cannot be accepted yet."""


class IssuedKeyResponse(TypedDict):
    id: str
    """The public part of the key's text."""
    workspace_id: str
    name: str
    scopes: List[Literal["connections:read", "messages:read", "messages:write", "templates:read", "templates:write", "profile:read", "profile:write", "media:read", "media:write", "webhooks:read", "webhooks:write", "otp:send", "otp:verify", "otp:read"]]
    otp_project_id: str | None
    """Of a key for one-time codes; null: one of the workspace."""
    expires_at: str | None
    """Null: never."""
    revoked_at: str | None
    last_used_at: str | None
    """The last use, or up to a minute before it; null: not used yet."""
    created_at: str
    key: str | None
    """The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat."""


class IssuedOperatorKeyResponse(TypedDict):
    id: str
    """The public part of the key's text, or the person's id."""
    name: str
    scopes: List[Literal["workspaces:read", "workspaces:write", "keys:read", "keys:write", "operator-keys:read", "operator-keys:write", "connections:read", "connections:write", "people:read", "people:write", "erasures:write", "otp:read", "otp:write", "billing:read", "billing:write", "usage:read", "audit:read", "events:read", "installation:read"]]
    workspace_ids: List[str] | None
    """The only workspaces that exist for it; null: all."""
    expires_at: str | None
    """When the key or the session ends; null: never."""
    revoked_at: str | None
    last_used_at: str | None
    """The last use, or up to a minute before it; null: not used yet."""
    created_at: str
    key: str | None
    """The whole text for the header Authorization. It is shown in this answer only: null in the answer to a repeat."""


class IssuedSetupLinkResponse(TypedDict):
    id: str
    workspace_id: str
    status: Literal["open", "completed", "revoked", "expired"]
    """`completed`: a number was connected with it, and the link has ended."""
    signup: Literal["cloud", "app", "manual"]
    locale: str
    return_url: str | None
    created_at: str
    expires_at: str
    opened_at: str | None
    """When its page was opened first; null: not yet."""
    completed_at: str | None
    revoked_at: str | None
    connection_id: str | None
    """The number that was connected with it; null: none yet."""
    steps: List[SetupStepResponse]
    """In their order, with what failed and who can mend it."""
    url: str | None
    """The address of its page: a person who has it can connect a number. It is in this answer only: null in the answer to a repeat."""


class KeywordsListResponse(TypedDict):
    data: List[KeywordsResponse]


_KeywordsResponseKeywords = TypedDict("_KeywordsResponseKeywords", {"in": "List[str]"})


class KeywordsResponse(_KeywordsResponseKeywords):
    language: str
    out: List[str]


class LaneResponse(TypedDict):
    connection_id: str
    workspace_id: str
    phone_number: str
    connection_status: str
    """State of the number."""
    queued: int
    scheduled: int
    due: int
    """Those whose turn has come."""
    in_flight: int
    oldest_due_ms: int | None
    paused_until: str | None
    pause_reason: str | None
    draining: bool
    """A worker sends from it at this moment."""


class ListedOperatorKeyResponse(TypedDict):
    id: str
    """The public part of the key's text, or the person's id."""
    name: str
    scopes: List[Literal["workspaces:read", "workspaces:write", "keys:read", "keys:write", "operator-keys:read", "operator-keys:write", "connections:read", "connections:write", "people:read", "people:write", "erasures:write", "otp:read", "otp:write", "billing:read", "billing:write", "usage:read", "audit:read", "events:read", "installation:read"]]
    workspace_ids: List[str] | None
    """The only workspaces that exist for it; null: all."""
    expires_at: str | None
    """When the key or the session ends; null: never."""
    revoked_at: str | None
    last_used_at: str | None
    """The last use, or up to a minute before it; null: not used yet."""
    created_at: str


class MemberListResponse(TypedDict):
    data: List[MemberResponse]
    pagination: PaginationResponse


class MemberResponse(TypedDict):
    id: str
    name: str
    email: str
    """As of the last sign-in."""
    role: Literal["viewer", "agent", "developer", "admin"]
    """The stronger one of both."""
    group_role: Literal["viewer", "agent", "developer", "admin", None]
    """By a group of the issuer, as of the last sign-in; null: by none."""
    given_role: Literal["viewer", "agent", "developer", "admin", None]
    """By an invitation, or set since; null: by none."""
    created_at: str
    """When the person became a member."""
    last_signed_in_at: str


class OperatedConnectionListResponse(TypedDict):
    data: List[OperatedConnectionResponse]


class OperatedConnectionResponse(TypedDict):
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
    workspace_id: str
    phone_number_id: str
    """The platform's id of the number."""
    waba_id: str
    """Id of the WhatsApp Business Account."""


class OperatorEventDataResponse(TypedDict):
    id: str | None
    """Id of the workspace, number, key or setup link."""
    operator_key_id: str | None
    """The operator key that made the change; null: a command, a key of the workspace, the platform, or Herald itself."""
    changes: Dict[str, Any] | None
    """What was set, as in the audit trail; never a secret."""


class OperatorEventResponse(TypedDict):
    id: str
    """Id of the change in the audit trail."""
    type: Literal["workspace.created", "workspace.changed", "workspace.deletion_started", "workspace.deleted", "connection.added", "connection.changed", "connection.removed", "setup.completed", "key.created", "key.changed", "key.ending", "key.revoked"]
    created_at: str
    workspace_id: str | None
    external_id: str | None
    """Your own id of the workspace, as it is now; null: it has none, or was deleted."""
    cursor: str
    """Pass it as `after` to go on behind this event."""
    data: OperatorEventDataResponse


class OperatorEventsResponse(TypedDict):
    data: List[OperatorEventResponse]
    next: str
    """Pass it as `after` the next time, also where `data` is empty. Keep it only once you have stored the events."""
    done: bool
    """True: nothing more was there. False: ask again, at once after a page with events, else after a moment, or with `wait`."""


class OperatorKeyListResponse(TypedDict):
    data: List[ListedOperatorKeyResponse]
    pagination: PaginationResponse


class OperatorKeyResponse(TypedDict):
    id: str
    """The public part of the key's text, or the person's id."""
    name: str
    scopes: List[Literal["workspaces:read", "workspaces:write", "keys:read", "keys:write", "operator-keys:read", "operator-keys:write", "connections:read", "connections:write", "people:read", "people:write", "erasures:write", "otp:read", "otp:write", "billing:read", "billing:write", "usage:read", "audit:read", "events:read", "installation:read"]]
    workspace_ids: List[str] | None
    """The only workspaces that exist for it; null: all."""
    expires_at: str | None
    """When the key or the session ends; null: never."""
    version: str
    """Of Herald."""


class OtpAllowanceResponse(TypedDict):
    country: str
    monthly_limit: int


class OtpMonthResponse(TypedDict):
    country: str
    monthly_limit: int
    month: str
    reserved: int
    """Accepted and not sent yet."""
    used: int


class OtpPackagesData(TypedDict):
    allowances: List[OtpAllowanceResponse]
    months: List[OtpMonthResponse]
    """Newest month first."""


class OtpPackagesResponse(TypedDict):
    data: OtpPackagesData


class OtpProjectListResponse(TypedDict):
    data: List[OtpProjectResponse]


class OtpProjectResponse(TypedDict):
    id: str
    workspace_id: str
    name: str
    mode: Literal["sandbox", "live"]
    template_language: str
    allowed_countries: List[str] | None
    """Null: any country."""
    created_at: str


class OtpSenderData(TypedDict):
    phone_number_id: str
    phone_number: str | None
    template: str
    throughput_per_second: int
    status: Literal["connected", "disconnected"]
    """`disconnected`: the platform refuses its token; set it again."""
    languages: List[str] | None
    """In which the template is approved; null where only the stored sender was read."""


class OtpSenderResponse(TypedDict):
    data: OtpSenderData


class PaginationResponse(TypedDict):
    next_before: str | None
    """Pass it as `before` for the next page; null on the last one."""
    next_before_id: str | None
    """Pass it as `before_id` together with `before`."""


class PersonDetailResponse(TypedDict):
    id: str
    name: str
    email: str
    """As of the last sign-in."""
    issuer: str
    """Address of the issuer at which the person signs in."""
    is_operator: bool
    """Of all workspaces, by a group of the issuer."""
    created_at: str
    last_signed_in_at: str
    workspaces: List[WorkspaceOfPersonResponse]
    """At most 200, by name; an operator has all others too."""
    sessions: List[SessionOfPersonResponse]
    """At most 50, newest first; those that ended stay for up to a minute."""


class PersonListResponse(TypedDict):
    data: List[PersonResponse]
    pagination: PaginationResponse


class PersonResponse(TypedDict):
    id: str
    name: str
    email: str
    """As of the last sign-in."""
    issuer: str
    """Address of the issuer at which the person signs in."""
    is_operator: bool
    """Of all workspaces, by a group of the issuer."""
    created_at: str
    last_signed_in_at: str


class QueueResponse(TypedDict):
    queue: str
    waiting: int
    """Due or not."""
    in_flight: int
    oldest_due_ms: int
    """How long the oldest that is due has waited."""


class RateResponse(TypedDict):
    countries: List[str]
    """ISO 3166 alpha-2; `*`: all that no other price names."""
    category: str
    tier_from: int
    """From this message of a month on, counted from 1."""
    price: str
    currency: str
    valid_from: str
    """The first day of a month."""


class RatesResponse(TypedDict):
    data: List[RateResponse]


class ReadinessPartResponse(TypedDict):
    name: str
    ok: bool
    detail: str | None
    """One sentence or figure."""


class ReplaceRatesRequest(TypedDict):
    csv: str
    """All prices, as the file of `herald rates set` has them: comma-separated, one price a line, with a header."""


class ReplacedRatesData(TypedDict):
    prices: int
    """How many prices there are now."""
    unpriced: List[UnpricedResponse]
    """Since the month before."""


class ReplacedRatesResponse(TypedDict):
    data: ReplacedRatesData


class RequestedHistoryResponse(TypedDict):
    requested: Literal[True]
    """It comes in notifications of the platform, within minutes."""


class RotateKeyRequest(TypedDict, total=False):
    overlap_seconds: int
    """Seconds for which both keys work; 0 ends the old one at once. Default: 86400."""


class SessionOfPersonResponse(TypedDict):
    created_at: str
    last_seen_at: str
    """The last use, or up to a minute before it."""
    expires_at: str
    """When it ends at the latest."""


_SetKeywordsRequestKeywords = TypedDict("_SetKeywordsRequestKeywords", {"in": "Sequence[str]"})


class SetKeywordsRequest(_SetKeywordsRequestKeywords):
    out: Sequence[str]
    """A customer who writes only one of these wants no messages."""


class SetOtpPackageRequest(TypedDict):
    monthly_limit: int
    """Codes in each calendar month (UTC), from the present one on; 0 ends the package."""


class _SetOtpSenderRequestRequired(TypedDict):
    phone_number_id: str
    """The platform's id of the number. It is no number of a workspace."""
    waba_id: str
    """Id of its WhatsApp Business Account."""
    template: str
    """An approved template of the category AUTHENTICATION."""
    token: str
    """Access token of a system user; it is stored encrypted, and shown nowhere."""


class SetOtpSenderRequest(_SetOtpSenderRequestRequired, total=False):
    throughput_per_second: int
    """Messages a second; left out: as the platform says."""


class SetupLinkListResponse(TypedDict):
    data: List[SetupLinkResponse]
    pagination: PaginationResponse


class SetupLinkResponse(TypedDict):
    id: str
    workspace_id: str
    status: Literal["open", "completed", "revoked", "expired"]
    """`completed`: a number was connected with it, and the link has ended."""
    signup: Literal["cloud", "app", "manual"]
    locale: str
    return_url: str | None
    created_at: str
    expires_at: str
    opened_at: str | None
    """When its page was opened first; null: not yet."""
    completed_at: str | None
    revoked_at: str | None
    connection_id: str | None
    """The number that was connected with it; null: none yet."""
    steps: List[SetupStepResponse]
    """In their order, with what failed and who can mend it."""


class SetupProblemResponse(TypedDict):
    code: str
    """The kind of failure, for programs; there may be more kinds later."""
    message: str
    """What is wrong and what to do, in one or two sentences."""
    mended_by: Literal["business", "operator", "time"]
    """Who can mend it: who opened the link, who runs the service, or time alone."""
    platform_message: str | None
    """The words of the platform; null where it said nothing."""


class SetupStepResponse(TypedDict):
    name: Literal["access", "subscribe", "register", "connect", "history", "test"]
    state: Literal["open", "done", "failed"]
    """`open`: not tried yet, or to be done again."""
    at: str | None
    """When it was tried last; null: not yet."""
    problem: SetupProblemResponse | None
    """Why it failed; null where it did not."""


class SingleApiKeyResponse(TypedDict):
    data: ApiKeyResponse


class SingleErasureResponse(TypedDict):
    data: ErasureResponse


class SingleImportedHistoryResponse(TypedDict):
    data: ImportedHistoryResponse


class SingleInstallationResponse(TypedDict):
    data: InstallationResponse


class SingleInvitationResponse(TypedDict):
    data: InvitationResponse


class SingleIssuedKeyResponse(TypedDict):
    data: IssuedKeyResponse


class SingleIssuedOperatorKeyResponse(TypedDict):
    data: IssuedOperatorKeyResponse


class SingleIssuedSetupLinkResponse(TypedDict):
    data: IssuedSetupLinkResponse


class SingleListedOperatorKeyResponse(TypedDict):
    data: ListedOperatorKeyResponse


class SingleMemberResponse(TypedDict):
    data: MemberResponse


class SingleOperatedConnectionResponse(TypedDict):
    data: OperatedConnectionResponse


class SingleOperatorKeyResponse(TypedDict):
    data: OperatorKeyResponse


class SingleOtpProjectResponse(TypedDict):
    data: OtpProjectResponse


class SinglePersonResponse(TypedDict):
    data: PersonDetailResponse


class SingleRequestedHistoryResponse(TypedDict):
    data: RequestedHistoryResponse


class SingleSetupLinkResponse(TypedDict):
    data: SetupLinkResponse


class SingleWorkspaceResponse(TypedDict):
    data: WorkspaceResponse


class UnpricedResponse(TypedDict):
    category: str
    countries: List[str]
    messages: int


class WorkspaceListResponse(TypedDict):
    data: List[WorkspaceResponse]
    pagination: PaginationResponse


class WorkspaceOfPersonResponse(TypedDict):
    id: str
    name: str
    role: Literal["viewer", "agent", "developer", "admin", "operator"]


class WorkspaceResponse(TypedDict):
    id: str
    name: str
    external_id: str | None
    """Your own id of the customer."""
    state: Literal["active", "deleting"]
    """`deleting`: its keys and numbers end, its data goes; once that is over it does not exist."""
    deletion_requested_at: str | None
    api_paid_until: str | None
    """Until when it has paid for sending."""
    rate_per_second: int | None
    """Null, here and below: the default of the service."""
    rate_burst: int | None
    storage_limit_bytes: int | None
    messages_per_day: int | None
    """Null, here and below: any number."""
    spend_per_month: str | None
    marketing_per_recipient_per_week: int | None
    time_zone: str
    storage_used_bytes: int
    created_at: str
    effective: EffectiveLimitsResponse


class WorkspaceUsageLine(TypedDict):
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
    workspace_id: str
    workspace: str
    """Its name."""
    connection: str
    """The number, or the id of one that is gone."""
    country: str
    """ISO 3166 alpha-2; empty: not known."""
    category: str
    """Empty: not known."""


class WorkspaceUsageResponse(TypedDict):
    data: List[WorkspaceUsageLine]
    pagination: PaginationResponse


class AuditAdminListQuery(TypedDict, total=False):
    workspace_id: str
    """Only of this workspace, a deleted one too."""
    actor: str
    """Only what this key, operator key, person or account did: its id, or the account's name."""
    action: Literal["workspace.created", "workspace.limits_changed", "workspace.subscription_changed", "workspace.opt_out_keywords_changed", "workspace.deletion_started", "workspace.deleted", "workspace.changed", "key.created", "key.changed", "key.revoked", "key.rotated", "key.ending", "connection.added", "connection.changed", "connection.disconnected", "setup_link.created", "setup_link.revoked", "setup.completed", "operator_key.created", "operator_key.revoked", "operator_key.rotated", "person.signed_in", "person.signed_out", "person.signed_out_everywhere", "person.groups_changed", "membership.changed", "membership.removed", "invitation.created", "invitation.accepted", "invitation.revoked", "webhook.created", "webhook.changed", "webhook.removed", "webhook.secret_rotated", "destination.created", "destination.changed", "destination.replayed", "destination.removed", "otp_project.created", "otp_sender.set", "otp_package.set", "usage_rates.set", "contact.erasure_started", "contact.erased", "secrets.rotation_started", "database.restored", "database.confirmed", "database.continued"]
    """Only this kind of change."""
    since: str
    """From this time on."""
    until: str
    """Before this time."""
    limit: int
    """How many at the most: up to 100, with `format=ndjson` up to 10,000."""
    before: str
    """Together with `before_id`: the `occurred_at` of the last event of the previous page."""


class AllConnectionsAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    workspace_id: str
    """Only of this workspace."""
    status: Literal["connected", "pending", "disconnected", "restricted"]
    """Only those in this state."""
    phone_number_id: str
    """Only the one with this id of the platform."""


class EventsAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    wait: int
    """Seconds to wait for an event where none is there; 0: answer at once."""
    after: str
    """`next` of the answer before, or the `cursor` of an event. `now`: only what comes from now on. Left out: from the oldest event that is kept."""
    types: str
    """Only events of these types, separated by commas, such as `connection.added,setup.completed`; others are passed over."""


class OperatorKeysAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


class PeopleAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    email: str
    """Only who has this e-mail address, in any case."""


class UsageAdminGetQuery(TypedDict, total=False):
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    limit: int
    """Workspaces in one page, at the most; those that sent nothing have no line."""
    month: str
    """A month of UTC, such as `2026-10`; left out: the present one."""
    workspace_id: str
    """Only of this workspace."""


class WorkspacesAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""
    name: str
    """Only those whose name begins so, in any case."""
    external_id: str
    """Only the one with this id of yours."""


class InvitationsAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


class KeysAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


class MembersAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


class SetupLinksAdminListQuery(TypedDict, total=False):
    limit: int
    """How many at the most."""
    before: str
    """Only what is older than this time, such as `2026-11-21T08:00:00.000Z`."""


ErrorCode = Literal[
    "API_KEY_EXPIRED",
    "API_KEY_INVALID",
    "API_KEY_MISSING",
    "API_KEY_REVOKED",
    "CONNECTION_NOT_FOUND",
    "CONNECTION_NOT_READY",
    "EVENT_CURSOR_EXPIRED",
    "HISTORY_REFUSED",
    "IDEMPOTENCY_KEY_INVALID",
    "IDEMPOTENCY_KEY_REUSED",
    "INTERNAL_ERROR",
    "INVALID_REQUEST",
    "INVITATION_NOT_FOUND",
    "INVITATION_USED",
    "KEY_BEYOND_ROLE",
    "KEY_ENDED",
    "KEY_NOT_FOUND",
    "KEY_PROJECT_NOT_FOUND",
    "KEY_SCOPES_MIXED",
    "KEY_WORKSPACE_NOT_FOUND",
    "NUMBER_REFUSED",
    "NUMBER_TAKEN",
    "OPERATOR_KEY_BEYOND",
    "OPERATOR_KEY_ENDED",
    "OPERATOR_KEY_LIMITED",
    "OPERATOR_KEY_NOT_FOUND",
    "OPERATOR_KEY_REQUIRED",
    "OPT_OUT_KEYWORDS_INVALID",
    "OTP_PACKAGE_NOT_POSSIBLE",
    "OTP_PROJECT_NOT_FOUND",
    "OTP_SENDER_NOT_SET",
    "OTP_SENDER_REFUSED",
    "PAYLOAD_TOO_LARGE",
    "PERSON_NOT_FOUND",
    "RATES_INVALID",
    "RATES_IN_USE",
    "RATE_LIMITED",
    "ROLE_BY_GROUP",
    "SCOPE_REQUIRED",
    "SERVICE_UNAVAILABLE",
    "SETUP_LINK_NOT_FOUND",
    "SETUP_LINK_USED",
    "SETUP_RETURN_URL_REFUSED",
    "SETUP_SIGNUP_OFF",
    "SPEND_LIMIT_NEEDS_PRICES",
    "UNSUPPORTED_CONTENT_TYPE",
    "WORKSPACE_DELETING",
    "WORKSPACE_EXTERNAL_ID_FIXED",
    "WORKSPACE_EXTERNAL_ID_TAKEN",
    "WORKSPACE_NOT_FOUND",
]
"""Codes that errors may have; a later Herald may know more."""
