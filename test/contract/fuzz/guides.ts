import fc from 'fast-check';
import { newId } from '../../../src/common/ids.js';
import * as sample from '../../media/samples.js';
import { registerNumber } from '../../support/register-number.js';
import { templateArbitrary } from '../../support/template-arbitrary.js';
import { TIMEOUT_MS } from './caller.js';
import type { Made, Request } from './request.js';
import { DESTINATION, destinationOf, FILES, nextPhone, STAGE_TAG, type Stage, type Tenant } from './stage.js';
import { batchedMessage, placedMessage } from './message-guide.js';

type Json = Record<string, unknown>;
type Placed = Partial<Pick<Request, 'params' | 'body' | 'key'>> & {
  query?: Json;
  headers?: Record<string, string | undefined>;
};

/** What the schemas of an operation cannot say: the things of the workspace, and rules between fields. */
export interface Guide {
  /**
   * @param fresh make what the request uses up (a message to retry, a file to delete): it is going to succeed. Without
   * it the request is about to be bent, and things that stay will do.
   */
  place: (made: Made, stage: Stage, fresh: boolean) => Placed | Promise<Placed>;
  /** In the place of what the schema describes. */
  bodies?: fc.Arbitrary<unknown>;
  /** Codes that answer a request which is right in itself. */
  states?: readonly string[];
  /** How many positive requests, as a multiple of the others. */
  share?: number;
}

const pickOf = <T>(list: readonly T[], pick: number): T => list[pick % list.length] as T;

function connection(own: Tenant): Record<string, string> {
  return { id: own.connection.id };
}

const routedOf = new WeakMap<Tenant, Promise<{ id: string; phone: string; phoneNumberId: string }>>();

/** A conversation that the workspace owns, on a number of its own with another app: of others none is refused. */
async function routed(own: Tenant, { factories, simulator }: Stage['test']): Promise<string> {
  const make = async () => {
    const connection = await factories.connection({ organizationId: own.connection.organizationId });
    const { phoneNumberId } = connection;
    registerNumber(simulator, connection, 'Routed number');
    simulator.numbers.change(phoneNumberId, { secondResponder: 'ESCALATION' });
    return { ...(await factories.conversation({ connection })), phoneNumberId };
  };
  const made = routedOf.get(own) ?? make();
  routedOf.set(own, made);
  const { id, phone, phoneNumberId } = await made;
  simulator.threads.setOwner(phoneNumberId, phone, { owner: 'app', role: null });
  return id;
}

/** A cursor has two parts, and a filter names a number of the workspace. */
function listQuery(query: Json, own: Tenant): Json {
  // A list of states, which stands in the place of one.
  const { before_id: beforeId, statuses, ...rest } = query;
  return {
    ...rest,
    ...(statuses !== undefined && rest.status === undefined && { statuses: 'failed,outcome_unknown' }),
    ...(beforeId !== undefined && rest.before !== undefined && { before_id: beforeId }),
    ...(rest.connection_id !== undefined && { connection_id: own.connection.id }),
    // Of letters and digits alone.
    ...(rest.search !== undefined && { search: 'Ana' }),
  };
}

/** The last 30 days, whatever was drawn: most pairs of times are no range. */
function usageQuery({ since: _since, until: _until, ...rest }: Json, own: Tenant): Json {
  return {
    ...rest,
    ...(rest.timezone !== undefined && { timezone: 'Asia/Kathmandu' }),
    ...(rest.connection !== undefined && { connection: own.connection.id }),
    ...(rest.connection_id !== undefined && { connection_id: own.connection.id }),
  };
}

/** The platform refuses texts that have many variables for their length. */
function longer(type: string, text: unknown): { text?: string } {
  const isBody = type.toUpperCase() === 'BODY' && typeof text === 'string';
  return isBody ? { text: `${text} That is all we know of it for now.` } : {};
}

const templates = templateArbitrary().map(({ name, language, category, parameterFormat, components }) => ({
  name,
  language,
  category,
  ...(parameterFormat === 'NAMED' && { parameter_format: 'NAMED' }),
  // Its own spelling of kinds is the platform's to take in either case; described are capitals.
  components: components.map(({ type, ...rest }) => ({
    type: type.toUpperCase(),
    ...rest,
    ...longer(type, rest.text),
  })),
}));
const textTemplates = fc
  .record({
    name: fc.stringMatching(/^[a-z0-9_]{1,40}$/),
    language: fc.constantFrom('en_US', 'de', 'pt_BR'),
    category: fc.constantFrom('UTILITY', 'MARKETING'),
    examples: fc.array(fc.constantFrom('Ana', '4711', 'größe', '12.50'), { maxLength: 3 }),
  })
  .map(({ examples, ...rest }) => ({
    ...rest,
    body: `Hello there, this is what we know: ${examples.map((_, n) => `{{${n + 1}}} and so on`).join(', ')} bye.`,
    ...(examples.length > 0 && { variable_examples: examples }),
  }));

// No worker takes it meanwhile.
const inAnHour = (): Date => new Date(Date.now() + 3_600_000);

/** A name of 1 to 512 characters that no template has had. */
const freshName = (name: unknown): string => `${String(name).slice(0, 40)}_${newId().replaceAll('-', '')}`;

const PLAIN_BODY = { type: 'BODY', text: 'Hello there, this is all for now.' };

async function madeTemplate(stage: Stage, template: Json): Promise<string> {
  const name = freshName(template.name);
  const { workspace } = stage.own;
  const path = `/connections/${workspace.connection.id}/templates`;
  const answer = await workspace.api.post(path, { ...template, name }, { timeoutMs: TIMEOUT_MS });
  if (answer.status !== 201) throw new Error(`no template: ${JSON.stringify([template, answer.body])}`);
  return name;
}

/** Changes of one workspace are limited: what is to succeed is done in a new one. */
async function ownDestination(stage: Stage, fresh: boolean): Promise<Placed> {
  if (!fresh) return { params: { id: stage.own.destination } };
  const key = await stage.subscribedKey();
  return { key, params: { id: await destinationOf(stage.test.api.as(key)) } };
}

export const GUIDES: Record<string, Guide> = {
  connections_list: { place: () => ({}) },

  messages_send: { place: placedMessage, states: ['TEMPLATE_NOT_FOUND'], share: 5 },
  messages_sendBatch: {
    place: ({ pick, body }, stage, fresh) => {
      const { validation, messages = [] } = body as { validation?: string; messages?: unknown[] };
      // Only a strict batch refuses what was bent in one message. Of every fourth template only the form is right.
      const placed = messages.map((message, n) =>
        batchedMessage({ pick: pick * 4 + 1 + (n % 3), query: {}, body: message }, stage),
      );
      return { body: { messages: placed, ...(fresh && validation !== undefined && { validation }) } };
    },
  },
  messages_checkBatch: {
    place: ({ pick, body }, stage) => {
      const { messages = [] } = body as { messages?: unknown[] };
      const placed = messages.map((message, n) =>
        batchedMessage({ pick: pick * 4 + 1 + (n % 3), query: {}, body: message }, stage),
      );
      return { body: { messages: placed } };
    },
  },
  messages_check: { place: (made, stage) => ({ body: placedMessage(made, stage).body }) },
  messages_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  messages_timeline: { place: ({ pick }, { own }) => ({ params: { id: pickOf(own.messages, pick) } }) },
  messages_get: { place: ({ pick }, { own }) => ({ params: { id: pickOf(own.messages, pick) } }) },
  messages_retry: {
    place: async ({ pick, body }, { own, test }, fresh) => {
      const { phone, conversationId } = pickOf(own.contacts, pick);
      const failed = { connection: own.connection, conversationId, recipient: phone, status: 'failed' as const };
      const id = fresh ? (await test.factories.message(failed)).id : (own.messages[4] ?? '');
      return { params: { id }, body, headers: pick % 2 === 0 ? { 'idempotency-key': newId() } : {} };
    },
  },

  messages_cancel: {
    place: async (_made, { own, test }, fresh) => {
      // To a recipient of its own: behind another message it would have its turn as soon as that one is sent.
      const waiting = { connection: own.connection, recipient: nextPhone().slice(1), nextAttemptAt: inAnHour() };
      return { params: { id: fresh ? (await test.factories.message(waiting)).id : (own.messages[4] ?? '') } };
    },
  },

  messages_read: {
    place: async ({ pick, body }, { own, test }) => {
      const { phone, conversationId } = pickOf(own.contacts, pick);
      const { connection } = own;
      const { id, metaMessageId } = await test.factories.message({
        connection,
        conversationId,
        recipient: phone,
        status: 'received',
      });
      const { phoneNumberId } = connection;
      test.simulator.inboundLog.add({ id: metaMessageId ?? '', phoneNumberId, party: phone, writtenAt: Date.now() });
      return { params: { id }, body };
    },
  },

  conversations_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  members_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  conversations_get: {
    place: ({ pick }, { own }) => ({ params: { id: pickOf(own.contacts, pick).conversationId } }),
  },

  conversations_update: {
    // No person is a member of the workspace of the stage.
    place: ({ pick, body }, { own }) => {
      const { assignee_id: _person, ...rest } = (body ?? {}) as Json;
      return {
        params: { id: pickOf(own.contacts, pick).conversationId },
        body: { closed: pick % 2 === 0, ...(pick % 3 === 0 && { assignee_id: null }), ...rest },
      };
    },
  },

  conversations_control: {
    place: async ({ body }, { own, test }) => {
      const conversation = await routed(own, test);
      const { action, role, ...rest } = body as Json;
      return {
        params: { id: conversation },
        body: { ...rest, action, ...(role !== undefined && action === 'pass' && { role: 'ai_agent' }) },
      };
    },
    // Another request may have passed it on meanwhile.
    states: ['CONTROL_NOT_ALLOWED'],
  },

  optOuts_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  optOuts_put: {
    // Exactly one name, of a person to whom nothing else goes.
    place: ({ body, pick }) => {
      const { to: _to, recipient: _recipient, ...settings } = body as Json;
      const name = pick % 2 === 0 ? { to: nextPhone() } : { recipient: `DE.${nextPhone().slice(1)}` };
      return { body: { ...settings, ...name } };
    },
  },
  optOuts_remove: {
    place: async (_, stage, fresh) => ({ params: { id: fresh ? await stage.optOut() : stage.own.optOut } }),
  },

  tags_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  // The tag of the stage has started: its start is not changed.
  tags_put: {
    place: ({ body }) => {
      const { start_at: _start, ...plan } = (body ?? {}) as Json;
      return { params: { tag: STAGE_TAG }, body: plan };
    },
  },
  ...Object.fromEntries(
    ['get', 'pause', 'resume', 'cancel', 'retry'].map((action) => [
      `tags_${action}`,
      { place: () => ({ params: { tag: STAGE_TAG } }) },
    ]),
  ),

  templates_list: {
    place: ({ query }, { own }) => ({
      params: connection(own),
      query: {
        ...query,
        ...(query.name !== undefined && { name: own.template }),
        ...(query.language !== undefined && { language: 'en_US' }),
        ...(query.after !== undefined && { after: Buffer.from('a/en_US').toString('base64url') }),
      },
    }),
  },
  templates_get: {
    place: ({ query }, { own }) => ({
      params: { ...connection(own), name: own.template },
      query: query.language === undefined ? {} : { language: 'en_US' },
    }),
  },
  templates_create: {
    bodies: fc.oneof(textTemplates, templates),
    place: ({ body }, { own }) => ({
      params: connection(own),
      body: { ...(body as Json), name: freshName((body as Json).name) },
    }),
    // What is right in form may break a rule of the platform, such as two buttons of one text.
    states: ['PLATFORM_REJECTED'],
  },
  templates_edit: {
    bodies: templates,
    place: async ({ body }, stage, fresh) => {
      const { language, components, ...rest } = body as Json;
      // The words of an authentication template are the platform's.
      const first = rest.category === 'AUTHENTICATION' ? components : [PLAIN_BODY];
      const name = fresh
        ? await madeTemplate(stage, { category: 'UTILITY', ...rest, language, components: first })
        : stage.own.otherTemplate;
      return { params: { ...connection(stage.own), name }, body: { language, components } };
    },
    // A template may be edited while it is approved, rejected or paused; these have just been handed in.
    states: ['PLATFORM_REJECTED'],
  },
  templates_remove: {
    place: async ({ pick }, stage, fresh) => {
      const language = pickOf(['en_US', 'de'], pick);
      const template = { name: 'gone', language, category: 'UTILITY', body: 'Hello, this one goes.' };
      const name = fresh ? await madeTemplate(stage, template) : stage.own.otherTemplate;
      return { params: { ...connection(stage.own), name } };
    },
  },
  templates_preview: {
    place: ({ body }, { own }) => {
      const { language, ...given } = body as Json;
      // They exclude each other, which the description says in words.
      const { parameters, ...rest } = given;
      if (given.components === undefined && parameters !== undefined) rest.parameters = parameters;
      const asked = { ...rest, template_name: own.template, ...(language !== undefined && { language: 'en_US' }) };
      return { params: connection(own), body: asked };
    },
  },

  profile_get: { place: (_, { own }) => ({ params: connection(own) }) },
  profile_update: {
    place: ({ pick, body }, { own }) => {
      if (body === undefined) return { params: connection(own) };
      const { email, ...rest } = body as Json;
      const given = email === undefined ? {} : { email: pick % 5 === 0 ? '' : `a${pick}@example.com` };
      return { params: connection(own), body: { ...rest, ...given } };
    },
    // A text of blanks is as good as none to the platform.
    states: ['PLATFORM_REJECTED'],
  },

  media_upload: {
    place: ({ pick, body }, { own }) => {
      const { type, voice } = body as { type?: string; voice?: string };
      const spoken = { bytes: sample.ogg(), name: 'memo.ogg', mimeType: 'audio/ogg' };
      const known = pickOf(Object.keys(FILES), pick);
      const speaks = voice === 'true' && (type ?? 'audio') === 'audio';
      const file = speaks ? spoken : FILES[type ?? known];
      const form = { connection_id: own.connection.id, type, voice: speaks ? voice : voice && 'false', file };
      return { body: form };
    },
  },
  media_list: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  media_get: {
    place: ({ pick }, { own }) => ({ params: { id: pickOf(Object.values(own.media), pick) } }),
  },
  media_link: {
    place: ({ pick }, { own }) => ({ params: { id: pickOf(Object.values(own.media), pick) } }),
  },
  media_delete: {
    place: async (_, stage, fresh) => ({
      params: { id: fresh ? await stage.upload() : (stage.own.media.image ?? '') },
    }),
  },

  // A cursor made up is none.
  events_list: {
    place: ({ query, pick }) => ({
      query: {
        ...query,
        ...(query.wait !== undefined && { wait: 0 }),
        ...(query.after !== undefined && { after: 'now' }),
        ...(query.types !== undefined && { types: pickOf(['message.received', 'webhook.test,media.ready'], pick) }),
      },
    }),
  },
  destinations_list: { place: () => ({}) },
  destinations_create: {
    place: async ({ body }, stage, fresh) => {
      const { events, active } = (body ?? {}) as Json;
      // One kind, and a name that the workspace has not used; a workspace has a few destinations.
      const placed = { body: { ...DESTINATION, events, active, name: newId() } };
      return fresh ? { ...placed, key: await stage.subscribedKey() } : placed;
    },
  },
  destinations_change: {
    place: async ({ body }, stage, fresh) => {
      const { events, active } = (body ?? {}) as Json;
      return { ...(await ownDestination(stage, fresh)), body: { events, active, name: newId() } };
    },
  },
  destinations_replay: {
    place: async ({ body }, stage, fresh) => ({
      ...(await ownDestination(stage, fresh)),
      body: { ...(body as Json), since: '2026-11-01T00:00:00.000Z' },
    }),
  },
  ...Object.fromEntries(
    ['get', 'pause', 'resume', 'remove', 'test'].map((action) => [
      `destinations_${action}`,
      { place: (_: Made, stage: Stage, fresh: boolean) => ownDestination(stage, fresh) },
    ]),
  ),
  replays_start: {
    // A time that has begun and not ended yet.
    place: ({ body }) => {
      const { since: _, until, ...rest } = body as Json;
      const later = until === undefined ? {} : { until: new Date(Date.now() + 60_000).toISOString() };
      return { body: { ...rest, since: '2026-01-01T00:00:00.000Z', ...later } };
    },
    states: ['WEBHOOK_REPLAY_RUNNING'],
  },
  replays_get: { place: (_, { own }) => ({ params: { id: own.replay } }) },
  keys_get: { place: () => ({}) },
  webhook_get: { place: () => ({}) },
  webhook_put: {
    place: async ({ pick, body }, stage, fresh) => {
      const { hookUrl, own } = stage;
      const { connection_ids: _, headers, ...settings } = body as Json;
      // Numbers of the workspace only; the values of headers have rules of their own.
      const numbers = pick % 2 === 0 ? {} : { connection_ids: pick % 3 === 0 ? [] : [own.connection.id] };
      const added = headers === undefined ? {} : { headers: { 'X-Fuzz': `value ${pick}` } };
      // Changes of one workspace are limited.
      const isOwn = pick % 2 === 1 && pick % 3 !== 0;
      const placed = { body: { ...settings, ...numbers, ...added, url: `${hookUrl}/${pick}` } };
      return fresh && !isOwn ? { ...placed, key: await stage.subscribedKey() } : placed;
    },
    // The workspaces have webhooks, with secrets of their own.
    states: ['WEBHOOK_SECRET_DIFFERS'],
  },
  webhook_remove: {
    place: async (_, stage, fresh) => (fresh ? { key: await stage.subscribedKey() } : {}),
  },
  webhook_test: { place: () => ({}) },
  webhook_verify: {
    place: async (_, stage, fresh) => (fresh ? { key: await stage.subscribedKey() } : {}),
    // A workspace has three runs at once.
    states: ['RATE_LIMITED'],
  },
  webhook_rotateSecret: {
    place: async (_, stage, fresh) => (fresh ? { key: await stage.subscribedKey() } : {}),
  },
  webhook_deliveries: { place: ({ query }, { own }) => ({ query: listQuery(query, own) }) },
  webhook_delivery: { place: ({ pick }, { own }) => ({ params: { id: pickOf(own.deliveries, pick) } }) },
  webhook_replay: { place: ({ pick }, { own }) => ({ params: { id: pickOf(own.deliveries, pick) } }) },

  otp_send: {
    place: ({ body }) => ({
      body: { ...(body as Json), to: nextPhone() },
      headers: { 'idempotency-key': `fuzz-${newId()}` },
    }),
  },
  otp_verify: {
    place: async ({ body }, { own }, fresh) => {
      if (!fresh) return { body: { ...(body as Json), id: own.challenges[0] } };
      const { id, test_code: code } = (await own.otp.send(nextPhone())).body.data;
      return { body: { id, code } };
    },
  },
  usage_messages: { place: ({ query }, { own }) => ({ query: usageQuery(query, own) }) },
  usage_codes: { place: ({ query }, { own }) => ({ query: usageQuery(query, own) }) },
  otp_get: { place: ({ pick }, { own }) => ({ params: { id: pickOf(own.challenges, pick) } }) },
};
