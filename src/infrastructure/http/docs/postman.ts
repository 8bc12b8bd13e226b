import type { OpenAPIObject } from '@nestjs/swagger';
import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_DELIVERY_ID,
  EXAMPLE_IDEMPOTENCY_KEY,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_OPT_OUT_ID,
  EXAMPLE_OTP_CODE,
  EXAMPLE_DESTINATION_ID,
  EXAMPLE_OTP_ID,
  EXAMPLE_REPLAY_ID,
} from '../../../common/example-ids.js';
import { OTP_SECURITY_SCHEME } from '../api-description.js';
import { operationsOf, type Operation } from '../openapi-operations.js';
import { exampleOf } from './code-samples.js';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
/** Postman makes a new UUID for each use and each request. */
const NEW_UUID = '{{$guid}}';

/** Example ids that variables replace: set by hand, or from the objects made last. */
const VARIABLES: Readonly<Record<string, string>> = {
  connection_id: EXAMPLE_CONNECTION_ID,
  message_id: EXAMPLE_MESSAGE_ID,
  media_id: EXAMPLE_MEDIA_ID,
  delivery_id: EXAMPLE_DELIVERY_ID,
  replay_id: EXAMPLE_REPLAY_ID,
  destination_id: EXAMPLE_DESTINATION_ID,
  opt_out_id: EXAMPLE_OPT_OUT_ID,
  otp_id: EXAMPLE_OTP_ID,
  otp_code: EXAMPLE_OTP_CODE,
};

/**
 * Runs in Postman after each answer, so that later requests use the objects of earlier ones. Wrapped in a function,
 * because Postman defines names such as `data`.
 */
const REMEMBER = `(function () {
  const made = {
    messages: 'message_id',
    media: 'media_id',
    'opt-outs': 'opt_out_id',
    deliveries: 'delivery_id',
    replay: 'replay_id',
    destinations: 'destination_id',
    send: 'otp_id',
  };
  const text = pm.response.text();
  const { data } = pm.response.code < 300 && text !== '' ? JSON.parse(text) : {};
  const name = made[pm.request.url.getPath().split('/').pop()];
  const id = data && (name === 'delivery_id' ? data[0] && data[0].id : data.id);
  if (name && id) pm.collectionVariables.set(name, id);
  if (data && data.test_code) pm.collectionVariables.set('otp_code', data.test_code);
})();`;

interface Entry {
  key: string;
  value: string;
  description?: string;
  disabled?: boolean;
}

interface Item {
  name: string;
  item?: Item[];
  request?: object;
}

/** The description as a Postman collection (v2.1): a folder per section, a request per example. */
export function postmanCollection(document: OpenAPIObject): object {
  const { info, tags = [], servers } = document;
  const address = String(servers?.[0]?.variables?.address?.default);
  const operations = operationsOf(document);
  const folders = tags.map(({ name, description }) => ({
    name,
    description,
    item: operations.filter(({ operation }) => operation.tags?.[0] === name).map((one) => itemOf(one, address)),
  }));
  return {
    info: {
      name: `${info.title} API`,
      description: `${info.description}\n\nSet the variables of the collection: \`address\`, \`api_key\`, \`otp_key\`, and \`connection_id\` from GET /connections.`,
      schema: SCHEMA,
    },
    auth: bearer('api_key'),
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: REMEMBER.split('\n') } }],
    variable: [
      { key: 'address', value: address },
      { key: 'api_key', value: '' },
      { key: 'otp_key', value: '' },
      ...Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    ],
    item: withVariables(folders.filter(({ item }) => item.length > 0)),
  };
}

const bearer = (variable: string): object => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
});

function withVariables(items: object): object {
  let text = JSON.stringify(items).replaceAll(EXAMPLE_IDEMPOTENCY_KEY, NEW_UUID);
  for (const [name, example] of Object.entries(VARIABLES)) text = text.replaceAll(`"${example}"`, `"{{${name}}}"`);
  // Bodies are text.
  for (const [name, example] of Object.entries(VARIABLES))
    text = text.replaceAll(`\\"${example}\\"`, `\\"{{${name}}}\\"`);
  return JSON.parse(text) as object;
}

/** A request, or a folder of requests where the operation has several examples. */
function itemOf({ method, path, operation }: ReturnType<typeof operationsOf>[number], address: string): Item {
  const name = operation.summary ?? operation.operationId;
  const json = operation.requestBody?.content?.['application/json'];
  const examples = Object.values(json?.examples ?? {});
  const made = (body?: unknown): object => requestOf(operation, method, path, address, body);
  if (examples.length < 2) return { name, request: made(examples[0]?.value ?? json?.example) };
  return {
    name,
    item: examples.map((example) => ({ name: `${name}: ${example.summary}`, request: made(example.value) })),
  };
}

function requestOf(operation: Operation, method: string, path: string, address: string, body: unknown): object {
  const { parameters = [], requestBody, security = [], description = '' } = operation;
  const inPlace = (place: string): Entry[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => ({
        key: parameter.name,
        value: exampleOf(parameter) ?? '',
        ...(parameter.description !== undefined && { description: parameter.description }),
        ...(place === 'query' && parameter.required !== true && { disabled: true }),
      }));
  const form = requestBody?.content?.['multipart/form-data'];
  const query = inPlace('query');
  const sent = query.filter(({ disabled }) => disabled !== true).map(({ key, value }) => `${key}=${value}`);
  const segments = path.slice(1).split('/').map(segmentOf);
  return {
    method,
    description: description.replaceAll('](/', `](${address}/`),
    ...(OTP_SECURITY_SCHEME in (security[0] ?? {}) && { auth: bearer('otp_key') }),
    header: [...inPlace('header'), ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }])],
    url: {
      raw: `{{address}}/${segments.join('/')}${sent.length > 0 ? `?${sent.join('&')}` : ''}`,
      host: ['{{address}}'],
      path: segments,
      query,
      variable: inPlace('path'),
    },
    ...(body !== undefined && {
      body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
    }),
    ...(form !== undefined && {
      body: {
        mode: 'formdata',
        formdata: [
          { key: 'connection_id', value: EXAMPLE_CONNECTION_ID, type: 'text' },
          { key: 'file', src: [], type: 'file' },
        ],
      },
    }),
  };
}

/** `{id}` as Postman writes it. */
const segmentOf = (segment: string): string => segment.replace(/^\{(.+)\}$/, ':$1');
