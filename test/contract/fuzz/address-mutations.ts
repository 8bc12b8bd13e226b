import { TAG } from '../../../src/modules/message-state/tag.types.js';
import type { Operation, Parameter } from './description.js';
import { chosen, FAULTY, only, type Mutation, type Refusal } from './mutation.js';
import { encode, type Request } from './request.js';

const UUID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';

/** Path segments as they go over the wire; none is an id. */
const NO_IDS = [
  'x',
  '0',
  '-1',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  '%00',
  '%2e%2e',
  '..%2f..%2fetc%2fpasswd',
  '%252e',
  "'%20or%201=1--",
  '%22',
  '%7b%7d',
  '*',
  '~',
  '@',
  ':id',
  '{id}',
  `${UUID}x`,
  UUID.slice(1),
  `{${UUID}}`,
  `${UUID}%00`,
  `%20${UUID}`,
  UUID.replaceAll('-', ''),
  'a'.repeat(4_000),
  ...[`urn:uuid:${UUID}`, '٠١٩٣٦f6e'].map(encodeURIComponent),
];

/** A percent sign that encodes nothing. */
const BROKEN_PERCENTS = ['%', '%z', '%2', 'a%gg', '%u0041', '%ff', '%ed%a0%80', '%c0%80'];

const hasPath = (operation: Operation): boolean => operation.parameters.some((one) => one.in === 'path');
const hasQuery = (operation: Operation): boolean => operation.parameters.some((one) => one.in === 'query');
const queryOf = ({ operation }: Request): Parameter[] => operation.parameters.filter((one) => one.in === 'query');

/** Values that the parameter must not have, encoded. */
function badValues({ schema }: Parameter): string[] {
  const unstorable = ['%00', 'a%00b'];
  if (schema.type === 'integer') {
    const { minimum = 0, maximum = 1_000 } = schema as { minimum?: number; maximum?: number };
    const around = [minimum - 1, maximum + 1, -1].map(String);
    return [...around, 'abc', '1.5', '', 'NaN', '1e3', '0x10', '99999999999999999999', '%205', '1;', 'true', '%D9%A5'];
  }
  if (Array.isArray(schema.enum)) return ['nope', '', String(schema.enum[0]).concat('%20'), '__proto__', ...unstorable];
  if (schema.format === 'uuid') return ['x', '', `${UUID}0`, `%7b${UUID}%7d`, UUID.replaceAll('-', ''), ...unstorable];
  if (schema.format === 'date-time') {
    const times = ['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00'];
    return [...times, '1700000000', '', '2026-01-01T25:00:00Z', 'T', '2026-01-01%2000:00:00Z', ...unstorable];
  }
  if (typeof schema.pattern === 'string') {
    const pattern = new RegExp(schema.pattern, 'u');
    const others = ['abc', '', '+', '12345678a', '12345678%0A'].filter((one) => !pattern.test(decodeURIComponent(one)));
    return [...others, ...unstorable];
  }
  if (schema.maxLength !== undefined) return ['x'.repeat(Number(schema.maxLength) + 1), ...unstorable];
  return unstorable;
}

/** The other parameters go, so that only one thing is wrong. */
function asking(request: Request, query: string): ReturnType<typeof encode> {
  const call = encode({ ...request, query: [] });
  return { ...call, target: `${call.target}?${query}` };
}

function withSegment(request: Request, place: number, segment: string) {
  const names = Object.keys(request.params);
  const mark = 'zzzzzz';
  const name = chosen(names, place);
  const call = encode({ ...request, params: { ...request.params, [name]: mark } });
  return { call: { ...call, target: call.target.replace(mark, segment) }, name };
}

const NOT_THERE: Refusal = {
  statuses: [400, 404],
  codes: [
    'INVALID_REQUEST',
    'CONNECTION_NOT_FOUND',
    'CONVERSATION_NOT_FOUND',
    'MESSAGE_NOT_FOUND',
    'TEMPLATE_NOT_FOUND',
    'MEDIA_NOT_FOUND',
    'OTP_NOT_FOUND',
    'WEBHOOK_DELIVERY_NOT_FOUND',
    'DESTINATION_NOT_FOUND',
    'WEBHOOK_REPLAY_NOT_FOUND',
    'OPT_OUT_NOT_FOUND',
    'TAG_NOT_FOUND',
  ],
};

export const ADDRESS_MUTATIONS: readonly Mutation[] = [
  {
    kind: 'path_value',
    // A PUT makes the tag, or says what a name may have.
    applies: (operation) => hasPath(operation) && operation.id !== 'tags_put',
    bend: (request, { place, variant }) => {
      // Many of them may be tags, which messages may have.
      const values = request.operation.id.startsWith('tags_') ? NO_IDS.filter((value) => !TAG.test(value)) : NO_IDS;
      return { call: withSegment(request, place, chosen(values, variant)).call, refusal: NOT_THERE };
    },
  },
  {
    kind: 'path_percent',
    applies: hasPath,
    bend: (request, { place, variant }) => ({
      call: withSegment(request, place, chosen(BROKEN_PERCENTS, variant)).call,
      refusal: only(400, 'INVALID_REQUEST'),
      unrouted: true,
    }),
  },
  {
    kind: 'query_value',
    share: 5,
    applies: hasQuery,
    bend: (request, { place, variant }) => {
      const parameter = chosen(queryOf(request), place);
      const value = chosen(badValues(parameter), variant);
      return { call: asking(request, `${parameter.name}=${value}`), refusal: FAULTY };
    },
  },
  {
    kind: 'query_repeated',
    applies: hasQuery,
    bend: (request, { place, variant }) => {
      const { name } = chosen(queryOf(request), place);
      const [first, second] = chosen(
        [
          ['1', '1'],
          ['', ''],
          ['a', 'b'],
        ] as const,
        variant,
      );
      return { call: asking(request, `${name}=${first}&${name}=${second}`), refusal: FAULTY };
    },
  },
  {
    kind: 'query_odd',
    mayPass: true,
    applies: () => true,
    bend: (request, { variant }) => {
      const odd = ['%', '%zz=1', '=', '&&&', '__proto__[a]=1', 'constructor=1', 'limit[]=1', 'a[b][c]=1', '?', '%00=1'];
      const call = asking(request, chosen([...odd, 'x='.concat('y'.repeat(3_000)), '%ed%a0%80=1'], variant));
      return { call, refusal: null };
    },
  },
];

const wantsKey = (operation: Operation): boolean =>
  operation.parameters.some(({ in: place, name }) => place === 'header' && name === 'Idempotency-Key');

/** `missing_required_header`, and headers that are there but wrong. */
export const HEADER_MUTATIONS: readonly Mutation[] = [
  {
    kind: 'missing_header',
    applies: ({ parameters }) => parameters.some(({ in: place, required }) => place === 'header' && required),
    bend: (request) => {
      const call = encode(request);
      const { 'idempotency-key': _key, ...headers } = call.headers;
      return { call: { ...call, headers }, refusal: only(400, 'IDEMPOTENCY_KEY_REQUIRED') };
    },
  },
  {
    kind: 'bad_header',
    applies: wantsKey,
    bend: (request, { variant }) => {
      const call = encode(request);
      const values: (string | string[])[] = [
        'short',
        'x'.repeat(129),
        // The specification lets a key of a code have inner blanks.
        request.operation.id === 'otp_send' ? 'with\tstop 12' : 'with blank 12',
        'größe-größe',
        [UUID, UUID],
        '\t',
      ];
      const key = chosen(values, variant);
      const codes = ['IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_REQUIRED'];
      const refusal = { statuses: [400], codes };
      return { call: { ...call, headers: { ...call.headers, 'idempotency-key': key } }, refusal };
    },
  },
  {
    kind: 'odd_header',
    mayPass: true,
    applies: () => true,
    bend: (request, { variant }) => {
      const call = encode(request);
      const odd = chosen<Record<string, string | string[]>>(
        [
          { accept: 'text/html' },
          { 'x-request-id': 'a b' },
          { 'x-request-id': ['one', 'two'] },
          { 'x-request-id': 'x'.repeat(500) },
          { 'x-http-method-override': 'DELETE' },
          { 'x-forwarded-for': "'; drop table message; --" },
          { 'if-none-match': '*' },
          { range: 'bytes=0-1' },
          { expect: '100-continue' },
          { origin: 'https://evil.example' },
        ],
        variant,
      );
      return { call: { ...call, headers: { ...call.headers, ...odd } }, refusal: null };
    },
  },
];
