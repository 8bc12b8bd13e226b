import createClient, { type Client } from 'openapi-fetch';
import type { components, operations, paths } from './admin-schema.js';
import { answerOf, check, dataOf, fetcherOf, type Keyed, keyed, requireOptions, waitSecondsOf } from './calls.js';
import { eventReader, everyItem, type FollowOptions } from './pages.js';
import type { RetryOptions } from './retrying-fetch.js';

export interface HeraldAdminOptions extends Partial<RetryOptions> {
  /** Where Herald answers, such as `https://herald.example.com`. */
  baseUrl: string;
  /** `hrld_admin_...`, from `herald operator-key create`. */
  operatorKey: string;
  /** In the place of the global one, such as one that goes through a proxy. */
  fetch?: typeof fetch;
}

export type HeraldAdmin = ReturnType<typeof createHeraldAdmin>;

type Schemas = components['schemas'];
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;
/** What a list may be narrowed to; the iterator turns the pages. */
type Filter<Name extends keyof operations> = Omit<Query<Name>, 'before_id' | 'format'>;
type AdminEvent = Schemas['OperatorEventResponse'];
type AdminEventFilter = Omit<Query<'eventsAdmin_list'>, 'types' | 'wait'> & {
  types?: readonly AdminEvent['type'][];
};

/**
 * Calls the admin API. Every method resolves with the `data` of the answer, and rejects with a `HeraldError` by its code, or
 * with a `HeraldConnectionError` where no answer came.
 *
 * @throws TypeError that says in words which option is missing
 */
export function createHeraldAdmin(options: HeraldAdminOptions) {
  const { baseUrl, operatorKey, fetch: fetcher = fetch } = options;
  requireOptions(baseUrl, { operatorKey });
  const api: Client<paths> = createClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, '').replace(/\/api\/(admin\/)?v1$/, ''),
    headers: { authorization: `Bearer ${operatorKey}` },
    fetch: fetcherOf(fetcher, options),
  });
  const eventsFrom = eventReader(
    async (query, signal) => answerOf(await api.GET('/api/admin/v1/events', { params: { query }, ...signal })),
    waitSecondsOf(options),
  );
  const of = (workspace_id: string) => ({ workspace_id });

  return {
    /** Every operation by its path, as openapi-fetch has it, with the same key and repeats; never throws for a status. */
    api,
    operatorKey: {
      /** What this key may do: its scopes and workspaces. */
      get: async () => dataOf(await api.GET('/api/admin/v1/key')),
    },
    /** Keys of the admin API. A key gives no more than it has. */
    operatorKeys: {
      list: (filter: Filter<'operatorKeysAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/operator-keys', { params: { query: { ...filter, ...place } } })),
        ),
      /** Keep `key` of the answer: it is shown once. */
      create: async (body: Schemas['CreateOperatorKeyRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(await api.POST('/api/admin/v1/operator-keys', { body, params: { header: keyed(idempotencyKey) } })),
      get: async (id: string) =>
        dataOf(await api.GET('/api/admin/v1/operator-keys/{id}', { params: { path: { id } } })),
      /** A new key in the place of the old one; both work for a while. */
      rotate: async (id: string, body: Schemas['RotateKeyRequest'] = {}, { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/operator-keys/{id}/rotate', {
            params: { path: { id }, header: keyed(idempotencyKey) },
            body,
          }),
        ),
      /** That of this client, too. */
      revoke: async (id: string) =>
        dataOf(await api.DELETE('/api/admin/v1/operator-keys/{id}', { params: { path: { id } } })),
    },
    workspaces: {
      list: (filter: Filter<'workspacesAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/workspaces', { params: { query: { ...filter, ...place } } })),
        ),
      create: async (body: Schemas['CreateWorkspaceRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(await api.POST('/api/admin/v1/workspaces', { body, params: { header: keyed(idempotencyKey) } })),
      get: async (id: string) =>
        dataOf(await api.GET('/api/admin/v1/workspaces/{workspace_id}', { params: { path: of(id) } })),
      /** What is left out stays as it is. */
      change: async (id: string, body: Schemas['ChangeWorkspaceRequest']) =>
        dataOf(await api.PATCH('/api/admin/v1/workspaces/{workspace_id}', { params: { path: of(id) }, body })),
      /** With everything in it. Answers at once; `get` throws WORKSPACE_NOT_FOUND when it is over. */
      remove: async (id: string) =>
        dataOf(await api.DELETE('/api/admin/v1/workspaces/{workspace_id}', { params: { path: of(id) } })),
    },
    keys: {
      list: (workspaceId: string, filter: Filter<'keysAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(
            await api.GET('/api/admin/v1/workspaces/{workspace_id}/keys', {
              params: { path: of(workspaceId), query: { ...filter, ...place } },
            }),
          ),
        ),
      /** Keep `key` of the answer: it is shown once. */
      create: async (workspaceId: string, body: Schemas['CreateKeyRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/keys', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
      change: async (workspaceId: string, id: string, body: Schemas['ChangeKeyRequest']) =>
        dataOf(
          await api.PATCH('/api/admin/v1/workspaces/{workspace_id}/keys/{id}', {
            params: { path: { ...of(workspaceId), id } },
            body,
          }),
        ),
      /** A new key in the place of the old one; both work for a while. */
      rotate: async (
        workspaceId: string,
        id: string,
        body: Schemas['RotateKeyRequest'] = {},
        { idempotencyKey }: Keyed = {},
      ) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/keys/{id}/rotate', {
            params: { path: { ...of(workspaceId), id }, header: keyed(idempotencyKey) },
            body,
          }),
        ),
      revoke: async (workspaceId: string, id: string) =>
        dataOf(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/keys/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
    },
    /** Everybody who signs in. */
    people: {
      list: (filter: Filter<'peopleAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/people', { params: { query: { ...filter, ...place } } })),
        ),
      /** With workspaces and sessions. */
      get: async (id: string) => dataOf(await api.GET('/api/admin/v1/people/{id}', { params: { path: { id } } })),
      endSessions: async (id: string) =>
        check(await api.DELETE('/api/admin/v1/people/{id}/sessions', { params: { path: { id } } })),
    },
    /** People of a workspace. */
    members: {
      list: (workspaceId: string, filter: Filter<'membersAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(
            await api.GET('/api/admin/v1/workspaces/{workspace_id}/people', {
              params: { path: of(workspaceId), query: { ...filter, ...place } },
            }),
          ),
        ),
      change: async (workspaceId: string, id: string, body: Schemas['ChangeMemberRequest']) =>
        dataOf(
          await api.PATCH('/api/admin/v1/workspaces/{workspace_id}/people/{id}', {
            params: { path: { ...of(workspaceId), id } },
            body,
          }),
        ),
      remove: async (workspaceId: string, id: string) =>
        check(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/people/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
      endSessions: async (workspaceId: string, id: string) =>
        check(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/people/{id}/sessions', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
    },
    erasures: {
      /** What the workspace holds of one person. While `more` of the answer is true a worker goes on by itself. */
      create: async (workspaceId: string, body: Schemas['EraseRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/erasures', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
    },
    invitations: {
      list: (workspaceId: string, filter: Filter<'invitationsAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(
            await api.GET('/api/admin/v1/workspaces/{workspace_id}/invitations', {
              params: { path: of(workspaceId), query: { ...filter, ...place } },
            }),
          ),
        ),
      create: async (workspaceId: string, body: Schemas['CreateInvitationRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/invitations', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
      revoke: async (workspaceId: string, id: string) =>
        dataOf(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/invitations/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
    },
    /** Numbers of all workspaces. */
    allConnections: {
      list: (filter: Filter<'allConnectionsAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/connections', { params: { query: { ...filter, ...place } } })),
        ),
    },
    connections: {
      list: async (workspaceId: string) =>
        dataOf(
          await api.GET('/api/admin/v1/workspaces/{workspace_id}/connections', { params: { path: of(workspaceId) } }),
        ),
      /** Checked with the platform at once; throws NUMBER_REFUSED, whose message says what to mend. */
      add: async (workspaceId: string, body: Schemas['AddConnectionRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/connections', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
      change: async (workspaceId: string, id: string, body: Schemas['ChangeConnectionRequest']) =>
        dataOf(
          await api.PATCH('/api/admin/v1/workspaces/{workspace_id}/connections/{id}', {
            params: { path: { ...of(workspaceId), id } },
            body,
          }),
        ),
      check: async (workspaceId: string, id: string, { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/connections/{id}/check', {
            params: { path: { ...of(workspaceId), id }, header: keyed(idempotencyKey) },
          }),
        ),
      disconnect: async (workspaceId: string, id: string) =>
        dataOf(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/connections/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
    },
    optOutKeywords: {
      list: async (workspaceId: string) =>
        dataOf(
          await api.GET('/api/admin/v1/workspaces/{workspace_id}/opt-out-keywords', {
            params: { path: of(workspaceId) },
          }),
        ),
      /** Replaces the words of a language. */
      set: async (workspaceId: string, language: string, body: Schemas['SetKeywordsRequest']) =>
        dataOf(
          await api.PUT('/api/admin/v1/workspaces/{workspace_id}/opt-out-keywords/{language}', {
            params: { path: { ...of(workspaceId), language } },
            body,
          }),
        ),
      remove: async (workspaceId: string, language: string) =>
        dataOf(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/opt-out-keywords/{language}', {
            params: { path: { ...of(workspaceId), language } },
          }),
        ),
    },
    history: {
      /** Asks WhatsApp for the history of a number of the WhatsApp Business app. */
      request: async (workspaceId: string, id: string, { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/connections/{id}/history/request', {
            params: { path: { ...of(workspaceId), id }, header: keyed(idempotencyKey) },
          }),
        ),
      /** Imports what has come, for ten seconds; while `next` is not null, call it again with it as `after`. */
      run: async (
        workspaceId: string,
        id: string,
        body: Schemas['ImportHistoryRequest'] = {},
        { idempotencyKey }: Keyed = {},
      ) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/connections/{id}/history/import', {
            params: { path: { ...of(workspaceId), id }, header: keyed(idempotencyKey) },
            body,
          }),
        ),
    },
    /** Pages on which a business connects its number itself. */
    setupLinks: {
      list: (workspaceId: string, filter: Filter<'setupLinksAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(
            await api.GET('/api/admin/v1/workspaces/{workspace_id}/setup-links', {
              params: { path: of(workspaceId), query: { ...filter, ...place } },
            }),
          ),
        ),
      /** Send `url` of the answer to the business: it is shown once. */
      create: async (
        workspaceId: string,
        body: Schemas['CreateSetupLinkRequest'] = {},
        { idempotencyKey }: Keyed = {},
      ) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/setup-links', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
      /** How far the business is. */
      get: async (workspaceId: string, id: string) =>
        dataOf(
          await api.GET('/api/admin/v1/workspaces/{workspace_id}/setup-links/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
      revoke: async (workspaceId: string, id: string) =>
        dataOf(
          await api.DELETE('/api/admin/v1/workspaces/{workspace_id}/setup-links/{id}', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
    },
    otpProjects: {
      list: async (workspaceId: string) =>
        dataOf(
          await api.GET('/api/admin/v1/workspaces/{workspace_id}/otp-projects', { params: { path: of(workspaceId) } }),
        ),
      create: async (workspaceId: string, body: Schemas['CreateOtpProjectRequest'], { idempotencyKey }: Keyed = {}) =>
        dataOf(
          await api.POST('/api/admin/v1/workspaces/{workspace_id}/otp-projects', {
            params: { path: of(workspaceId), header: keyed(idempotencyKey) },
            body,
          }),
        ),
      listPackages: async (workspaceId: string, id: string) =>
        dataOf(
          await api.GET('/api/admin/v1/workspaces/{workspace_id}/otp-projects/{id}/packages', {
            params: { path: { ...of(workspaceId), id } },
          }),
        ),
      setPackage: async (workspaceId: string, id: string, country: string, body: Schemas['SetOtpPackageRequest']) =>
        dataOf(
          await api.PUT('/api/admin/v1/workspaces/{workspace_id}/otp-projects/{id}/packages/{country}', {
            params: { path: { ...of(workspaceId), id, country } },
            body,
          }),
        ),
    },
    otpSender: {
      get: async () => dataOf(await api.GET('/api/admin/v1/otp-sender')),
      set: async (body: Schemas['SetOtpSenderRequest']) => dataOf(await api.PUT('/api/admin/v1/otp-sender', { body })),
    },
    rates: {
      get: async () => dataOf(await api.GET('/api/admin/v1/rates')),
      replace: async (body: Schemas['ReplaceRatesRequest']) => dataOf(await api.PUT('/api/admin/v1/rates', { body })),
    },
    usage: {
      /** One line a workspace, number, country and category. */
      get: (filter: Filter<'usageAdmin_get'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/usage', { params: { query: { ...filter, ...place } } })),
        ),
    },
    events: {
      /** What is there, oldest first. Store the `cursor` of each event with what you did about it. */
      list: (filter: AdminEventFilter = {}) => eventsFrom(filter),
      /** What is there, and then what comes, until you stop; each once. As `events.follow` of the other client. */
      follow: (filter: AdminEventFilter = {}, follow: FollowOptions = {}) => eventsFrom(filter, follow),
    },
    installation: {
      /** Readiness, workers and queues. */
      get: async () => dataOf(await api.GET('/api/admin/v1/installation')),
    },
    audit: {
      list: (filter: Filter<'auditAdmin_list'> = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/admin/v1/audit', { params: { query: { ...filter, ...place } } })),
        ),
    },
  };
}
