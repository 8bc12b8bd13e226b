import createClient, { type Client } from 'openapi-fetch';
import { answerOf, check, dataOf, fetcherOf, type Keyed, keyed, requireOptions, waitSecondsOf } from './calls.js';
import { eventReader, everyItem, everyPage, type FollowOptions, type List, type ListPage } from './pages.js';
import type * as R from './resources.js';
import type { RetryOptions } from './retrying-fetch.js';
import type { paths } from './schema.js';

export interface HeraldClientOptions extends Partial<RetryOptions> {
  /** Where Herald answers, such as `https://herald.example.com`; with or without `/api/v1`. */
  baseUrl: string;
  apiKey: string;
  /** In the place of the global one, such as one that goes through a proxy. */
  fetch?: typeof fetch;
  /** Aborted, it ends every call of this client. */
  signal?: AbortSignal;
}

export type UploadOptions = {
  file: Blob;
  filename: string;
  type?: R.Media['type'];
  voice?: boolean;
} & (
  | { connection_id: string; connectionId?: undefined }
  | { /** The former name. */ connectionId: string; connection_id?: undefined }
);

export type HeraldClient = ReturnType<typeof createHeraldClient>;

const LONG_CALL_MS = 40_000;

/**
 * Calls the API. Every method resolves with the `data` of the answer, and rejects with a `HeraldError` by its code, or
 * with a `HeraldConnectionError` where no answer came.
 *
 * @throws TypeError that says in words which option is missing
 */
export function createHeraldClient(options: HeraldClientOptions) {
  const { baseUrl, apiKey, fetch: fetcher = fetch } = options;
  requireOptions(baseUrl, { apiKey });
  const { timeoutMs = 15_000 } = options;
  const clientWith = (retry: Partial<RetryOptions>): Client<paths> =>
    createClient<paths>({
      baseUrl: baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
      headers: { authorization: `Bearer ${apiKey}` },
      fetch: fetcherOf(fetcher, retry),
      ...(options.signal && { signal: options.signal }),
    });
  const api = clientWith(options);

  // For the one call that may take longer than others.
  const patient = clientWith({ ...options, timeoutMs: Math.max(timeoutMs, LONG_CALL_MS) });

  const eventsFrom = eventReader(
    async (query, signal) => answerOf(await api.GET('/api/v1/events', { params: { query }, ...signal })),
    waitSecondsOf(options),
  );

  const eventPageOf =
    ({ after: start, types, ...filter }: R.EventFilter) =>
    async (cursor: string | null = start ?? null): Promise<ListPage<R.Event>> => {
      const query = { ...filter, after: cursor ?? undefined, types: types?.join(',') };
      const { data, next, done } = answerOf(await api.GET('/api/v1/events', { params: { query } }));
      return { items: data, next: done ? null : next };
    };

  return {
    /** Every operation by its path, as openapi-fetch has it, with the same key and repeats; never throws for a status. */
    api,
    key: {
      /** What this key may do: its workspace, scopes and rate. */
      get: async () => dataOf(await api.GET('/api/v1/key')),
    },
    connections: {
      /** All numbers: await it, or go through it. */
      list: () => everyPage(async () => ({ items: dataOf(await api.GET('/api/v1/connections')), next: null })),
    },
    messages: {
      send: async (body: R.SendMessage, { idempotencyKey }: Keyed = {}) =>
        dataOf(await api.POST('/api/v1/messages', { body, params: { header: keyed(idempotencyKey) } })),
      /** What would become of a message; sends and stores nothing. */
      check: async (body: R.SendMessage) => dataOf(await api.POST('/api/v1/messages/check', { body })),
      /** What would become of up to a hundred, by index; sends and stores nothing. */
      checkBatch: async (body: R.CheckBatch) => answerOf(await api.POST('/api/v1/messages/batch/check', { body })),
      /** Many at once, each with its own `idempotency_key`; without one it gets a new one, as with `send`. */
      sendBatch: async ({ messages, ...options }: R.SendBatch) =>
        answerOf(
          await api.POST('/api/v1/messages/batch', {
            body: { messages: messages.map(withKey), ...options },
          }),
        ),
      get: async (id: string) => dataOf(await api.GET('/api/v1/messages/{id}', { params: { path: { id } } })),
      /** Whole: its history in `data`, beside it `explanation` and `not_kept`. */
      timeline: async (id: string) =>
        answerOf(await api.GET('/api/v1/messages/{id}/timeline', { params: { path: { id } } })),
      list: (filter: R.MessageFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/messages', { params: { query: { ...filter, ...place } } })),
        ),
      /** Takes back what is scheduled or queued; throws MESSAGE_NOT_CANCELABLE once it was taken for sending. */
      cancel: async (id: string) =>
        dataOf(await api.POST('/api/v1/messages/{id}/cancel', { params: { path: { id } } })),
      markRead: async (id: string, { typing = false }: { typing?: boolean } = {}) =>
        dataOf(
          await api.POST('/api/v1/messages/{id}/read', {
            params: { path: { id } },
            body: { typing_indicator: typing },
          }),
        ),
      retry: async (id: string, { confirmOutcomeUnknown = false, idempotencyKey }: Keyed & ConfirmedRetry = {}) =>
        dataOf(
          await api.POST('/api/v1/messages/{id}/retry', {
            params: { path: { id }, header: keyed(idempotencyKey) },
            body: { confirm_outcome_unknown: confirmOutcomeUnknown },
          }),
        ),
    },
    /** Groups of messages that were sent with the same `tag`. */
    tags: {
      /** Groups of messages, newest first. */
      list: () =>
        everyItem(async (place) => answerOf(await api.GET('/api/v1/tags', { params: { query: { ...place } } }))),
      /** Makes a group before its first message, or changes one: paused, started at a time, or with a pace. */
      put: async (tag: string, body: R.PutTag = {}) =>
        dataOf(await api.PUT('/api/v1/tags/{tag}', { params: { path: { tag } }, body })),
      get: async (tag: string) => dataOf(await api.GET('/api/v1/tags/{tag}', { params: { path: { tag } } })),
      /** Nothing of it is sent until `resume`. */
      pause: async (tag: string) => dataOf(await api.POST('/api/v1/tags/{tag}/pause', { params: { path: { tag } } })),
      resume: async (tag: string) => dataOf(await api.POST('/api/v1/tags/{tag}/resume', { params: { path: { tag } } })),
      /** Fails what waits. */
      cancel: async (tag: string) => dataOf(await api.POST('/api/v1/tags/{tag}/cancel', { params: { path: { tag } } })),
      /** Queues failed messages again: of one category, or all but what was canceled or opted out. */
      retry: async (tag: string, body: R.RetryTag = {}) =>
        dataOf(await api.POST('/api/v1/tags/{tag}/retry', { params: { path: { tag } }, body })),
    },
    conversations: {
      list: (filter: R.ConversationFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/conversations', { params: { query: { ...filter, ...place } } })),
        ),
      get: async (id: string) => dataOf(await api.GET('/api/v1/conversations/{id}', { params: { path: { id } } })),
      /** Closes, opens or assigns it; what is left out stays. The next message of the customer opens a closed one. */
      update: async (id: string, body: R.UpdateConversation) =>
        dataOf(await api.PATCH('/api/v1/conversations/{id}', { params: { path: { id } }, body })),
      /** Passes, releases or takes control, where several apps answer on a number. */
      control: async (id: string, body: R.ControlConversation) =>
        dataOf(await api.POST('/api/v1/conversations/{id}/control', { params: { path: { id } }, body })),
    },
    members: {
      /** The people of the workspace, to whom conversations can be assigned by `assignee_id`. */
      list: (filter: R.MemberFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/members', { params: { query: { ...filter, ...place } } })),
        ),
    },
    optOuts: {
      /** Who wants no marketing, or no messages at all. */
      list: (filter: R.OptOutFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/opt-outs', { params: { query: { ...filter, ...place } } })),
        ),
      /** Records an opt-out of your own; a repeat answers the same one. */
      put: async (body: R.PutOptOut) => dataOf(await api.PUT('/api/v1/opt-outs', { body })),
      /** Only one of your own; throws OPT_OUT_NOT_YOURS for what the person chose in WhatsApp. */
      remove: async (id: string) => check(await api.DELETE('/api/v1/opt-outs/{id}', { params: { path: { id } } })),
    },
    usage: {
      /** What was sent and received by time, and what it cost. */
      get: async (query: R.UsageQuestion = {}): Promise<R.Usage> =>
        answerOf(await api.GET('/api/v1/usage', { params: { query } })),
      /** The same as `get`. */
      messages: async (query: R.UsageQuestion = {}) => answerOf(await api.GET('/api/v1/usage', { params: { query } })),
      /** The same of one-time codes, with a key of an OTP project. */
      codes: async (query: R.CodeUsageQuestion = {}) =>
        answerOf(await api.GET('/api/v1/usage/codes', { params: { query } })),
    },
    templates: {
      /** Awaited, it is the first page; gone through, every template, one request a page. `limit` is the length of a page. */
      list: (id: string, filter: R.TemplateFilter = {}) =>
        everyPage(async (cursor) => {
          const query = { ...filter, after: cursor ?? undefined };
          const params = { path: { id }, query };
          const { data, pagination } = answerOf(await api.GET('/api/v1/connections/{id}/templates', { params }));
          return { items: data, next: pagination.next_after };
        }),
      get: async (id: string, name: string, language?: string) =>
        dataOf(
          await api.GET('/api/v1/connections/{id}/templates/{name}', {
            params: { path: { id, name }, query: { language } },
          }),
        ),
      create: async (id: string, body: R.CreateTemplate) =>
        dataOf(await api.POST('/api/v1/connections/{id}/templates', { params: { path: { id } }, body })),
      edit: async (id: string, name: string, body: R.EditTemplate) =>
        dataOf(await api.PATCH('/api/v1/connections/{id}/templates/{name}', { params: { path: { id, name } }, body })),
      remove: async (id: string, name: string) =>
        dataOf(await api.DELETE('/api/v1/connections/{id}/templates/{name}', { params: { path: { id, name } } })),
      preview: async (id: string, body: R.PreviewTemplate) =>
        dataOf(await api.POST('/api/v1/connections/{id}/templates/preview', { params: { path: { id } }, body })),
    },
    profile: {
      get: async (id: string) =>
        dataOf(await api.GET('/api/v1/connections/{id}/profile', { params: { path: { id } } })),
      update: async (id: string, body: R.UpdateProfile) =>
        dataOf(await api.PUT('/api/v1/connections/{id}/profile', { params: { path: { id } }, body })),
    },
    media: {
      upload: async (upload: UploadOptions) =>
        dataOf(
          await api.POST('/api/v1/media', {
            body: { connection_id: numberOf(upload), file: upload.filename },
            bodySerializer: () => formOf(upload),
          }),
        ),
      list: (filter: R.MediaFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/media', { params: { query: { ...filter, ...place } } })),
        ),
      get: async (id: string) => dataOf(await api.GET('/api/v1/media/{id}', { params: { path: { id } } })),
      link: async (id: string, query: R.MediaLinkOptions = {}) =>
        dataOf(await api.GET('/api/v1/media/{id}/url', { params: { path: { id }, query } })),
      remove: async (id: string) => check(await api.DELETE('/api/v1/media/{id}', { params: { path: { id } } })),
    },
    /** Brokers and queues that the events are written to. */
    destinations: {
      list: async () => dataOf(await api.GET('/api/v1/destinations')),
      create: async (body: R.CreateDestination) => dataOf(await api.POST('/api/v1/destinations', { body })),
      get: async (id: string) => dataOf(await api.GET('/api/v1/destinations/{id}', { params: { path: { id } } })),
      change: async (id: string, body: R.ChangeDestination) =>
        dataOf(await api.PATCH('/api/v1/destinations/{id}', { params: { path: { id } }, body })),
      remove: async (id: string) => check(await api.DELETE('/api/v1/destinations/{id}', { params: { path: { id } } })),
      pause: async (id: string) =>
        dataOf(await api.POST('/api/v1/destinations/{id}/pause', { params: { path: { id } } })),
      resume: async (id: string) =>
        dataOf(await api.POST('/api/v1/destinations/{id}/resume', { params: { path: { id } } })),
      /** Writes one test event now; the answer says whether the broker took it. */
      test: async (id: string) =>
        dataOf(await api.POST('/api/v1/destinations/{id}/test', { params: { path: { id } } })),
      /** Goes back to a time: the events since then are written again. */
      replay: async (id: string, body: R.ReplayDestination) =>
        dataOf(await api.POST('/api/v1/destinations/{id}/replay', { params: { path: { id } }, body })),
    },
    webhook: {
      get: async () => dataOf(await api.GET('/api/v1/webhook')),
      set: async (body: R.ConfigureWebhook) => dataOf(await api.PUT('/api/v1/webhook', { body })),
      remove: async () => check(await api.DELETE('/api/v1/webhook')),
      test: async (body: R.TestWebhook = {}) => dataOf(await api.POST('/api/v1/webhook/test', { body })),
      /** Sends your receiver everything that may come, and says what it does wrong. Takes up to 25 seconds. */
      verify: async () => dataOf(await patient.POST('/api/v1/webhook/verify')),
      rotateSecret: async () => dataOf(await api.POST('/api/v1/webhook/rotate-secret')),
      deliveries: (filter: R.DeliveryFilter = {}) =>
        everyItem(async (place) =>
          answerOf(await api.GET('/api/v1/webhook/deliveries', { params: { query: { ...filter, ...place } } })),
        ),
      delivery: async (id: string) =>
        dataOf(await api.GET('/api/v1/webhook/deliveries/{id}', { params: { path: { id } } })),
      replay: async (id: string) =>
        dataOf(await api.POST('/api/v1/webhook/deliveries/{id}/replay', { params: { path: { id } } })),
      replayMany: async (body: R.StartReplay) => dataOf(await api.POST('/api/v1/webhook/replay', { body })),
      replayState: async (id: string) =>
        dataOf(await api.GET('/api/v1/webhook/replay/{id}', { params: { path: { id } } })),
    },
    events: {
      /** What is there, oldest first. Store the `cursor` of each event with what you did about it. */
      list: (filter: R.EventFilter = {}): List<R.Event> =>
        Object.assign(eventsFrom(filter), { page: eventPageOf(filter) }),
      /**
       * What is there, and then what comes, within 300 ms mostly, until you stop; each once. Restarts and lost networks
       * only delay it; with `store` it also goes on where it was after a restart of yours.
       */
      follow: (
        { signal, everyMs, store, onInterruption, ...filter }: R.EventFilter & FollowOptions = {},
        more: FollowOptions = {},
      ) =>
        eventsFrom(filter, {
          ...(signal && { signal }),
          ...(everyMs !== undefined && { everyMs }),
          ...(store && { store }),
          ...(onInterruption && { onInterruption }),
          ...more,
        }),
    },
    otp: {
      send: async (body: R.SendOtp, { idempotencyKey }: Keyed = {}) =>
        dataOf(await api.POST('/api/v1/otp/send', { body, params: { header: keyed(idempotencyKey) } })),
      verify: async (body: R.VerifyOtp) => dataOf(await api.POST('/api/v1/otp/verify', { body })),
      get: async (id: string) => dataOf(await api.GET('/api/v1/otp/{id}', { params: { path: { id } } })),
    },
  };
}

interface ConfirmedRetry {
  /** Send a message again whose outcome is unknown: the recipient may then get it twice. */
  confirmOutcomeUnknown?: boolean;
}

/** Made once for all tries of one call. */
function withKey(message: R.BatchMessage): R.KeyedMessage {
  return { ...message, idempotency_key: message.idempotency_key ?? crypto.randomUUID() };
}

function numberOf({ connection_id: id, connectionId }: UploadOptions): string {
  const given = id ?? connectionId;
  if (typeof given !== 'string') throw new TypeError('connection_id is missing. Take it from connections.list().');
  return given;
}

function formOf(upload: UploadOptions): FormData {
  const { file, filename, type, voice } = upload;
  const form = new FormData();
  form.set('connection_id', numberOf(upload));
  // Herald wants the fields first: it decides by them while the file comes in.
  if (type !== undefined) form.set('type', type);
  if (voice !== undefined) form.set('voice', String(voice));
  form.set('file', file, filename);
  return form;
}
