import { newId } from '../../../src/common/ids.js';
import { anonymous, sameAnswer } from './checks.js';
import type { Operation } from './description.js';
import type { Fuzzer } from './fuzzer.js';
import { encode, type Request } from './request.js';

type Json = Record<string, unknown>;

interface IdPlace {
  name: string;
  put: (request: Request, id: string) => Request;
}

/** Every place of an operation where an id may stand. */
function placesOf({ operation, params, body }: Request): IdPlace[] {
  const path = Object.keys(params)
    .filter((name) => name === 'id')
    .map((name) => ({
      name: `path.${name}`,
      put: (request: Request, id: string) => ({ ...request, params: { ...request.params, [name]: id } }),
    }));
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.schema.format === 'uuid')
    .filter(({ name }) => name !== 'before_id')
    .map(({ name }) => ({
      name: `query.${name}`,
      put: (request: Request, id: string): Request => ({ ...request, query: [[name, id]] }),
    }));
  const fields = ['connection_id', 'id', 'media_object_id', 'reply_to_message_id'].filter(
    (name) => operation.id === 'messages_send' || name in ((body ?? {}) as Json),
  );
  const inBody = fields
    .filter((name) => operation.body !== null && !(operation.id === 'messages_send' && name === 'id'))
    .map((name) => ({
      name: `body.${name}`,
      put: (request: Request, id: string) => ({ ...request, body: { ...(request.body as Json), [name]: id } }),
    }));
  const ofMedia = {
    name: 'body.media.id',
    put: (request: Request, id: string) => {
      const { connection_id: connection, to } = request.body as Json;
      return { ...request, body: { connection_id: connection, to, type: 'image', media: { id } } };
    },
  };
  return [...path, ...query, ...inBody, ...(operation.id === 'messages_send' ? [ofMedia] : [])];
}

/** `namespace_rule`: what belongs to somebody else is answered as what does not exist, byte for byte. */
export async function everyNamespace(fuzzer: Fuzzer, operation: Operation): Promise<string[]> {
  const { own, foreign } = fuzzer.stage;
  const foreignIds = [
    foreign.connection.id,
    foreign.messages[0],
    foreign.messages[4],
    foreign.media.image,
    foreign.deliveries[0],
    foreign.challenges[0],
  ].filter((id) => id !== undefined);
  const body = {
    connection_id: own.connection.id,
    to: '15550001111',
    type: 'text',
    text: { body: 'x' },
    code: '000000',
  };
  const made = { pick: 0, query: {}, body: operation.body === null ? undefined : exampleOf(operation, body) };
  const request = await fuzzer.requestOf(operation, made, false);
  const places = placesOf(request);
  for (const place of places) {
    const unknown = newId();
    const wanted = await answerTo(fuzzer, operation, place.put(request, unknown), [unknown]);
    for (const id of foreignIds) {
      const bent = fresh(place.put(request, id));
      const call = encode(bent);
      const answer = await fuzzer.caller.send(call);
      fuzzer.ledger.count(operation.id, 'namespace', answer);
      const faults = [
        ...fuzzer.checks.ofOperation(operation, call, answer),
        ...sameAnswer(anonymous(answer, [id]), wanted),
      ];
      fuzzer.ledger.find(`${operation.id} namespace.${place.name}`, call, answer, faults);
    }
  }
  return places.map(({ name }) => name);
}

async function answerTo(fuzzer: Fuzzer, operation: Operation, request: Request, ids: string[]) {
  const answer = await fuzzer.caller.send(encode(fresh(request)));
  fuzzer.ledger.count(operation.id, 'namespace', answer);
  return anonymous(answer, ids);
}

/** A repeat under the same key would be answered for that alone. */
function fresh(request: Request): Request {
  const { 'idempotency-key': key, ...headers } = request.headers;
  return key === undefined ? request : { ...request, headers: { ...headers, 'idempotency-key': newId() } };
}

function exampleOf({ id, body }: Operation, message: Json): unknown {
  if (id === 'messages_send') {
    const { code: _code, ...rest } = message;
    return rest;
  }
  if (id === 'otp_verify') return { code: message.code };
  return Object.values(body?.examples ?? {})[0] ?? {};
}
