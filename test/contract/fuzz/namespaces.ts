import { newId } from '../../../src/common/ids.js';
import type { Schema } from '../../support/schema-arbitrary.js';
import { anonymous, violation, sameAnswer } from './checks.js';
import type { Description, Operation } from './description.js';
import type { Fuzzer } from './fuzzer.js';
import { encode, type Request } from './request.js';
import type { Stage, Tenant } from './stage.js';

type Json = Record<string, unknown>;

interface IdPlace {
  /** `path.id`, `query.connection_id`, `body.media.id`. */
  name: string;
  put: (request: Request, id: string) => Request;
}

/** Operations in which no id can stand, and why; any other one without a place fails the test. */
export const WITHOUT_IDS: Readonly<Record<string, string>> = {
  keys_get: 'says what the key itself says',
  connections_list: 'lists what the key may see, without parameters',
  destinations_list: 'lists what the workspace has, without parameters',
  events_list: 'a cursor names its workspace: test/webhook/events.e2e-spec.ts sends those of others',
  webhook_get: 'a workspace has one',
  webhook_put: 'a workspace has one; its body has an address and switches',
  webhook_remove: 'a workspace has one',
  webhook_test: 'a workspace has one',
  webhook_rotateSecret: 'a workspace has one',
  webhook_verify: 'a workspace has one',
  optOuts_put: 'names a person by a number or a user id, which belong to no workspace',
  tags_put: 'makes the tag that it names, in its own workspace',
  replays_start: 'a workspace has one webhook; the body has times and kinds',
  usage_codes: 'the key identifies the project; the query has times',
  otp_send: 'the key identifies the project; the body has a number',
};

/** A caller's own words, and names of the platform's things: none of them names anything of ours. */
const NOT_IDS = new Set([
  'client_message_id',
  'idempotency_key',
  'catalog_id',
  'meta_message_id',
  'flow_id',
  'product_retailer_id',
  'thumbnail_product_retailer_id',
]);
/** Where a file may also be named by the platform's own id, which has any form; whose it is, the platform knows. */
const FILE_PLACE = /^body\.(?:messages\.)?(media|interactive\.header\.[a-z]+)\.id$/;
const MALFORMED = [
  '0',
  'null',
  '%00',
  "' or true --",
  '00000000-0000-0000-0000-00000000000g',
  newId().slice(1),
  '../..',
];

const LINK_BUTTON = {
  type: 'cta_url',
  body: { text: 'x' },
  action: { name: 'cta_url', parameters: { display_text: 'x', url: 'https://example.com' } },
};

/** Every place of an operation where an id, or a template's name, may stand: from its description alone. */
export function placesOf(operation: Operation, description: Description): IdPlace[] {
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path' && operation.id !== 'tags_put')
    .map(({ name }) => ({
      name: `path.${name}`,
      put: (request: Request, id: string) => ({ ...request, params: { ...request.params, [name]: id } }),
    }));
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && isId(parameter.name, parameter.schema))
    .map(({ name }) => ({
      name: `query.${name}`,
      // The second part of a cursor needs the first.
      put: (request: Request, id: string): Request => ({
        ...request,
        query: [
          [name, id],
          ...(name === 'before_id' ? [['before', new Date().toISOString()] as [string, string]] : []),
        ],
      }),
    }));
  const fields = operation.body === null ? [] : idFields(operation.body.schema, description);
  const body = [...new Set(fields)].map((field) => ({
    name: `body.${field}`,
    put: (request: Request, id: string) => ({ ...request, body: withField(request.body as Json, field, id) }),
  }));
  return [...path, ...query, ...body];
}

function isId(name: string, schema: Schema): boolean {
  return !NOT_IDS.has(name) && (schema.format === 'uuid' || /^(id|.*_id|template_name)$/.test(name));
}

/** Dotted paths of the properties that hold ids, in all variants of a body. */
function idFields(schema: Schema, description: Description, depth = 0): string[] {
  if (depth > 8) return [];
  if (typeof schema.$ref === 'string') return idFields(description.resolve(schema.$ref), description, depth + 1);
  const variants = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Schema[]);
  const { messages, ...others } = (schema.properties ?? {}) as Record<string, Schema>;
  const properties = Object.entries(others);
  const batched = messages === undefined ? [] : idFields(messages.items as Schema, description, depth + 1);
  return [
    ...batched.map((field) => `messages.${field}`),
    ...variants.flatMap((variant) => idFields(variant, description, depth + 1)),
    ...properties.flatMap(([name, property]) =>
      isId(name, property) ? [name] : idFields(property, description, depth + 1).map((field) => `${name}.${field}`),
    ),
  ];
}

function withField(body: Json, field: string, id: string): Json {
  const [name = '', ...rest] = field.split('.');
  if (rest.length === 0) return { ...body, [name]: id };
  if (name === 'messages') {
    const [first = {}] = body.messages as Json[];
    return { messages: [{ ...withField(first, rest.join('.'), id), idempotency_key: newId() }] };
  }
  // A file is in a message of its own kind.
  const { connection_id: connection, to } = body;
  if (name === 'interactive') {
    const kind = rest[1] ?? '';
    const header = { type: kind, [kind]: { id } };
    return { connection_id: connection, to, type: name, interactive: { ...LINK_BUTTON, header } };
  }
  return name === 'media'
    ? { connection_id: connection, to, type: 'image', media: { [rest.join('.')]: id } }
    : { ...body, [name]: withField((body[name] ?? {}) as Json, rest.join('.'), id) };
}

/**
 * `namespace_rule`: what belongs to another workspace, and what was deleted, is answered as what never existed, byte
 * for byte; what is no id is refused and reaches nothing.
 */
export async function everyNamespace(fuzzer: Fuzzer, operation: Operation): Promise<string[]> {
  const places = placesOf(operation, fuzzer.checks.description);
  const request = await fuzzer.requestOf(
    operation,
    { pick: 0, query: {}, body: exampleOf(operation, fuzzer.stage) },
    false,
  );
  for (const place of places) {
    const isName = place.name.endsWith('name');
    const unknown = isName ? 'unknown_name' : newId();
    const answerForUnknown = async () =>
      anonymous(await ask(fuzzer, operation, place.put(request, unknown)), [unknown]);
    const wanted = await answerForUnknown();
    const same: string[] = [...(isName ? ['of_the_other_workspace'] : foreignIds(fuzzer.stage.foreign))];
    same.push(isName ? 'deleted_here' : fuzzer.stage.own.deletedFile);
    for (const id of same) {
      const bent = place.put(request, id);
      let answer = await ask(fuzzer, operation, bent);
      let differences = sameAnswer(anonymous(answer, [id]), wanted);
      // A list may have grown between the two questions: a real difference between ids shows each time.
      for (let again = 0; again < 3 && differences.length > 0; again++) {
        const now = await answerForUnknown();
        answer = await ask(fuzzer, operation, bent);
        differences = sameAnswer(anonymous(answer, [id]), now);
      }
      judge(fuzzer, operation, place, bent, answer, differences);
    }
    for (const id of isName || FILE_PLACE.test(place.name) ? [] : MALFORMED) {
      const bent = place.put(request, id);
      const answer = await ask(fuzzer, operation, bent);
      // A check says what it would refuse.
      const isChecked = operation.id === 'messages_checkBatch' && answer.text.includes('"sendable":0');
      const refused = isChecked || (answer.status >= 400 && answer.status < 500);
      judge(
        fuzzer,
        operation,
        place,
        bent,
        answer,
        refused ? [] : [violation('namespace_rule', `took ${id} for an id`)],
      );
    }
  }
  return places.map(({ name }) => name);
}

async function ask(fuzzer: Fuzzer, operation: Operation, request: Request) {
  const answer = await fuzzer.caller.send(encode(fresh(request)));
  fuzzer.ledger.count(operation.id, 'namespace', answer);
  return answer;
}

function judge(
  fuzzer: Fuzzer,
  operation: Operation,
  place: IdPlace,
  request: Request,
  answer: Awaited<ReturnType<typeof ask>>,
  more: ReturnType<typeof sameAnswer>,
): void {
  const call = encode(request);
  const violations = [
    ...fuzzer.checks.ofOperation(operation, call, answer),
    ...more,
    ...shown(fuzzer.stage.foreign, answer),
  ];
  fuzzer.ledger.find(`${operation.id} namespace.${place.name}`, call, answer, violations);
}

/** Nothing of the other workspace may be in an answer, unless the caller has sent it. */
function shown(foreign: Tenant, answer: { text: string; status: number }) {
  if (answer.status >= 400) return [];
  const seen = foreignIds(foreign).filter((id) => answer.text.includes(id));
  return seen.length === 0 ? [] : [violation('namespace_rule', `shows ${seen.join(', ')}`)];
}

/** Every id that the other workspace has: none of them may ever be shown. */
export function foreignIds(foreign: Tenant): string[] {
  return [
    foreign.workspace.organizationId,
    foreign.connection.id,
    foreign.second.id,
    ...foreign.messages,
    ...Object.values(foreign.media),
    ...foreign.deliveries,
    ...foreign.challenges,
    foreign.optOut,
    ...foreign.contacts.flatMap(({ conversationId, earlier }) => [conversationId, earlier]),
  ];
}

/** A repeat under the same key would be answered for that alone. */
function fresh(request: Request): Request {
  const { 'idempotency-key': key, ...headers } = request.headers;
  const { messages } = (request.body ?? {}) as { messages?: Json[] };
  if (Array.isArray(messages)) {
    const renewed = messages.map((message) => ({ ...message, idempotency_key: newId() }));
    return { ...request, body: { ...(request.body as Json), messages: renewed } };
  }
  return key === undefined ? request : { ...request, headers: { ...headers, 'idempotency-key': newId() } };
}

function exampleOf({ id, body }: Operation, { own }: Stage): unknown {
  if (body === null) return undefined;
  if (id === 'messages_send' || id === 'messages_check') {
    return { connection_id: own.connection.id, to: '15550001111', type: 'text', text: { body: 'x' } };
  }
  if (id === 'otp_verify') return { code: '000000' };
  return Object.values(body.examples)[0] ?? {};
}
