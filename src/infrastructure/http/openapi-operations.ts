import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_STATUS } from '../../common/app-error.js';
import { declaredErrors, type DocumentedError } from '../../common/define-errors.js';
import { isOtpScope, type Scope } from './scopes.js';
import { docUrl } from './error.filter.js';
import {
  ERROR_EXTENSION,
  EXAMPLE_URL,
  LATE_EXTENSION,
  OPERATOR_SECURITY_SCHEME,
  OTP_SECURITY_SCHEME,
  REQUIRED_SCOPE_EXTENSION,
  SECURITY_SCHEME,
} from './api-description.js';
import { LAG_HEADER, READ_AFTER_HEADER } from './late-reads.js';

type Headers = Record<string, { $ref: string }>;

interface Content {
  schema: ExampleSchema;
  example?: unknown;
  examples?: Record<string, { $ref?: string; summary?: string; value?: unknown }>;
}

interface Answer {
  description: string;
  headers?: Headers;
  content?: Record<string, Content>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: ExampleSchema;
}

/** The parts of an operation that are completed here and shown in samples; only schemas are references. */
export interface Operation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  security?: Record<string, string[]>[];
  requestBody?: { required?: boolean; content?: Record<string, Content> };
  responses: Record<string, Answer>;
  [extension: `x-${string}`]: unknown;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

export function operationsOf({ paths }: OpenAPIObject): { method: string; path: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as unknown as Operation | undefined;
      return operation === undefined ? [] : { method: method.toUpperCase(), path, operation };
    }),
  );
}

const EXAMPLE_ID = '5b8a4f7e-0c1d-4c43-9b5e-2f6f1b7b8a10';

/** Codes that any operation may answer with; the second list is for each POST, and for others with a body. */
const ANYWHERE = ['INVALID_REQUEST', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
/** Sent on the connection before any key is read, so without rate-limit headers. */
const HEADERS_TOO_LARGE = '431';
const WITH_BODY = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_CONTENT_TYPE'];

/**
 * A body described by a class allows only its own fields, and is optional if no field is required. That is how such
 * bodies are validated, but no decorator expresses it.
 */
function describeBody({ requestBody }: Operation, schemaOf: SchemaOf): void {
  const $ref = requestBody?.content?.['application/json']?.schema.$ref;
  const schema = $ref === undefined ? undefined : schemaOf($ref);
  if (requestBody === undefined || schema?.type !== 'object') return;
  schema.additionalProperties ??= false;
  if (schema.required === undefined || schema.required.length === 0) requestBody.required = false;
}

/** Resolves a `$ref` to its schema. */
type SchemaOf = (ref: string) => ExampleSchema;

/**
 * Adds to each operation the information of its decorators: its scope, its errors with examples, and headers of
 * answers.
 */
export function completeOperations(document: OpenAPIObject): void {
  const errors = new Map(declaredErrors().map((error) => [error.code, error]));
  const schemas = (document.components?.schemas ?? {}) as Record<string, ExampleSchema>;
  const schemaOf: SchemaOf = (ref) => schemas[ref.split('/').at(-1) ?? ''] ?? {};
  const named = new Set<string>();
  for (const { method, path, operation } of operationsOf(document)) {
    try {
      describeBody(operation, schemaOf);
      showExamples(operation, schemaOf);
      for (const code of complete(operation, method, errors)) named.add(code);
    } catch (error) {
      throw new Error(`${method} ${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  document.components = { ...document.components, examples: errorExamples(named) };
}

/** A body without examples of its own gets one from its schema. */
function showExamples({ requestBody, responses }: Operation, schemaOf: SchemaOf): void {
  for (const body of [requestBody, ...Object.values(responses)]) {
    const json = body?.content?.['application/json'];
    if (json === undefined || json.examples !== undefined || json.example !== undefined) continue;
    json.example = exampleOf(json.schema, schemaOf);
  }
}

/** Returns the codes that the operation may answer with. */
function complete(operation: Operation, method: string, errors: ReadonlyMap<string, DocumentedError>): string[] {
  const scope = operation[REQUIRED_SCOPE_EXTENSION] as Scope | undefined;
  if (scope !== undefined) {
    const ofOperators = OPERATOR_SECURITY_SCHEME in (operation.security?.[0] ?? {});
    const needs = `Needs ${ofOperators ? 'an operator key' : 'a key'} with the scope \`${scope}\`.`;
    operation.description = operation.description ? `${operation.description}\n\n${needs}` : needs;
    const ofWorkspaces = isOtpScope(scope) ? OTP_SECURITY_SCHEME : SECURITY_SCHEME;
    operation.security = [{ [ofOperators ? OPERATOR_SECURITY_SCHEME : ofWorkspaces]: [scope] }];
  }
  const isLimited = operation.security !== undefined;
  const byStatus = errorsOf(operation, method === 'POST', errors);
  const marks = lateHeadersOf(operation, method !== 'GET' && isLimited);
  for (const answer of Object.values(operation.responses))
    answer.headers = { ...answer.headers, ...headersOf(isLimited, ...marks) };
  for (const [status, codes] of byStatus) {
    const described = operation.responses[status]?.description ?? '';
    operation.responses[status] = errorAnswer(status, codes, isLimited, described);
  }
  const responses = Object.entries(operation.responses);
  operation.responses = Object.fromEntries(responses.sort(([a], [b]) => (a < b ? -1 : 1)));
  return [...byStatus.values()].flatMap((answered) => answered.map(({ code }) => code));
}

/** Headers that connect reads from a standby with writes; a read also gets the parameter. */
function lateHeadersOf(operation: Operation, writes: boolean): string[] {
  if (writes) return [READ_AFTER_HEADER];
  if (operation[LATE_EXTENSION] === undefined) return [];
  delete operation[LATE_EXTENSION];
  operation.parameters = [...(operation.parameters ?? []), { ...READ_AFTER_PARAMETER }];
  return [LAG_HEADER];
}

function errorsOf(
  operation: Operation,
  isPost: boolean,
  errors: ReadonlyMap<string, DocumentedError>,
): Map<string, DocumentedError[]> {
  const named: { code: string; status: string }[] = [];
  for (const key of Object.keys(operation)) {
    if (!key.startsWith(ERROR_EXTENSION)) continue;
    const [status = '', code = ''] = key.slice(ERROR_EXTENSION.length).split(':', 2);
    named.push({ code, status });
    delete operation[key as `x-${string}`];
  }
  const anywhere = operation.requestBody === undefined && !isPost ? ANYWHERE : [...ANYWHERE, ...WITH_BODY];
  for (const code of anywhere) named.push({ code, status: '' });
  named.push({ code: 'INVALID_REQUEST', status: HEADERS_TOO_LARGE });

  const byStatus = new Map<string, DocumentedError[]>();
  for (const { code, status } of named) {
    const error = errors.get(code);
    if (error === undefined) throw new Error(`no error table declares ${code}`);
    const answered = status === '' ? String(ERROR_STATUS[error.kind]) : status;
    const others = byStatus.get(answered) ?? [];
    if (!others.includes(error)) byStatus.set(answered, [...others, error]);
  }
  for (const answered of byStatus.values()) answered.sort((a, b) => (a.code < b.code ? -1 : 1));
  return byStatus;
}

function errorAnswer(status: string, errors: DocumentedError[], isLimited: boolean, described: string): Answer {
  const list = errors.map(({ code, when }) => `- [\`${code}\`](${docUrl('', code)}): ${when}`).join('\n');
  const further = status === '429' || status === '503' ? ['Retry-After'] : status === '401' ? ['WWW-Authenticate'] : [];
  const headers = headersOf(isLimited && status !== '401' && status !== HEADERS_TOO_LARGE, ...further);
  return {
    description: described === '' ? list : `${described}\n\n${list}`,
    headers,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${ERROR_SCHEMA}` },
        examples: Object.fromEntries(errors.map(({ code }) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/**
 * An example answer for each code, which operations refer to. The answer's own description says when it comes.
 *
 * @throws Error naming a code whose table has fields beside code and message, but no sample of them.
 */
function errorExamples(codes: ReadonlySet<string>): Record<string, object> {
  const errors = declaredErrors().filter(({ code }) => codes.has(code));
  const examples = errors.map(({ code, message, extra }) => {
    if (extra === null) throw new Error(`the error table of ${code} needs a sample, for its example`);
    const error = { code, message, request_id: EXAMPLE_ID, ...extra, doc_url: docUrl(EXAMPLE_URL, code) };
    return [code, { value: { error } }] as const;
  });
  return Object.fromEntries(examples);
}

/** An answer with up to this many codes is named by them. */
const NAMED_BY_CODES = 2;

/** Moves each error answer to the components once, since many operations share them. */
export function shareRefusals(document: OpenAPIObject): void {
  const shared = new Map<string, string>();
  const names = new Map<string, string>();
  for (const { operation } of operationsOf(document)) {
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (!(Number(status) >= 400)) continue;
      const text = JSON.stringify(answer);
      // Under the name of the first, where several operations have equal answers.
      const name = names.get(text) ?? nameOf(operation, status, answer);
      // Another answer with the same name but other content, such as one of a route without a key.
      if ((shared.get(name) ?? text) !== text) continue;
      shared.set(name, text);
      names.set(text, name);
      operation.responses[status] = { $ref: `#/components/responses/${name}` } as unknown as Answer;
    }
  }
  const responses = Object.fromEntries([...shared].map(([name, text]) => [name, JSON.parse(text) as object]));
  const { components } = document;
  document.components = {
    ...components,
    responses: { ...components?.responses, ...responses },
  } as OpenAPIObject['components'];
}

function nameOf({ operationId }: Operation, status: string, { content }: Answer): string {
  const codes = Object.keys(content?.['application/json']?.examples ?? {});
  // The same for every operation that requires a key.
  if (status === '401') return 'Refused401';
  return `Refused${status}_${codes.length > NAMED_BY_CODES ? operationId : codes.join('_')}`;
}

function headersOf(isLimited: boolean, ...further: string[]): Headers {
  const limits = isLimited ? ['RateLimit-Policy', 'RateLimit'] : [];
  const names = ['X-Request-Id', 'X-HERALD-API-Version', ...limits, ...further];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export interface ExampleSchema {
  $ref?: string;
  type?: string | readonly string[];
  properties?: Record<string, ExampleSchema>;
  required?: readonly string[];
  additionalProperties?: unknown;
  items?: ExampleSchema;
  allOf?: readonly ExampleSchema[];
  anyOf?: readonly ExampleSchema[];
  oneOf?: readonly ExampleSchema[];
  const?: unknown;
  default?: unknown;
  enum?: readonly unknown[];
  example?: unknown;
  examples?: readonly unknown[];
}

/**
 * The value made of the examples of a schema's parts. Optional fields without an example are left out.
 *
 * @throws Error naming a required field that has no example.
 */
export function exampleOf(schema: ExampleSchema, schemaOf: SchemaOf, field = ''): unknown {
  const value = findExample(schema, schemaOf, field);
  if (value === undefined) throw new Error(`${field === '' ? 'the body' : field} needs an example`);
  return value;
}

function findExample(schema: ExampleSchema, schemaOf: SchemaOf, field: string): unknown {
  const given = ownExample(schema);
  if (given !== undefined) return given;
  if (schema.$ref !== undefined) return findExample(schemaOf(schema.$ref), schemaOf, field);
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first !== undefined) return findExample(first, schemaOf, field);
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => findExample(part, schemaOf, field))) as object;
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, schemaOf, `${field}[]`)];
  return schema.properties === undefined ? undefined : objectExample(schema, schemaOf, field);
}

function objectExample(schema: ExampleSchema, schemaOf: SchemaOf, field: string): unknown {
  const { properties = {}, required = [] } = schema;
  const prefix = field === '' ? '' : `${field}.`;
  const entries = Object.entries(properties).map(([name, property]) => {
    const find = required.includes(name) ? exampleOf : findExample;
    return [name, find(property, schemaOf, prefix + name)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function ownExample({ example, examples, const: fixed, default: fallback, enum: words }: ExampleSchema): unknown {
  for (const value of [example, examples?.[0], fixed, fallback, words?.[0]]) if (value !== undefined) return value;
  return undefined;
}

const EXAMPLE_MARK = 'abcdef1200000016b374d848';

const READ_AFTER_PARAMETER: Parameter = {
  name: READ_AFTER_HEADER,
  in: 'header',
  required: false,
  description:
    'Of the answer to your last write: the read finds what was written up to then, also where it may be late.',
  schema: { type: 'string' },
};

/** Headers of answers by name; operations refer to them. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: "The caller's X-Request-Id where it matches ^[A-Za-z0-9._-]{1,128}$, else a new one.",
    schema: { type: 'string' },
    example: EXAMPLE_ID,
  },
  'X-HERALD-API-Version': { description: 'The version of the API.', schema: { type: 'string', const: 'v1' } },
  'RateLimit-Policy': {
    description: 'The limit of the key: `q` requests at once, refilled within `w` seconds.',
    schema: { type: 'string' },
    example: '"default";q=100;w=2',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests now; all of them again in `t` seconds.',
    schema: { type: 'string' },
    example: '"default";r=87;t=1',
  },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' }, example: 1 },
  [READ_AFTER_HEADER]: {
    description:
      'Where reads may be late: a mark of this write. A read with it as the same header finds what was written. After several at once keep the greatest. Absent elsewhere.',
    schema: { type: 'string' },
    example: EXAMPLE_MARK,
  },
  [LAG_HEADER]: {
    description:
      'Of an answer from a standby: it may be late by this many milliseconds at most. Absent: it is not late.',
    schema: { type: 'integer' },
    example: 740,
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
};

/** Not `Error`, which would clash with the built-in type in generated clients. */
const ERROR_SCHEMA = 'ErrorResponse';

export const ERROR_SCHEMAS = {
  [ERROR_SCHEMA]: {
    type: 'object',
    description: 'Every error answer. Beside the fields named here stand those of its code.',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id', 'doc_url'],
        additionalProperties: true,
        properties: {
          code: { type: 'string', description: 'Stable; decide by it.', examples: ['INVALID_REQUEST'] },
          message: { type: 'string', description: 'One sentence for people that says what to do.' },
          request_id: { type: 'string', description: 'Names this request in our logs.' },
          doc_url: { type: 'string', format: 'uri', description: 'More about this code.' },
          details: {
            type: 'array',
            description: 'The invalid fields, where the request was invalid.',
            items: { $ref: '#/components/schemas/ErrorDetail' },
          },
        },
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    required: ['field', 'rule', 'message'],
    properties: {
      field: { type: 'string', description: 'Path of the field; empty: the body as a whole.', examples: ['text.body'] },
      rule: { type: 'string', description: 'Which rule it breaks.', examples: ['length'] },
      message: { type: 'string', examples: ['text.body must be 1 to 4096 characters long.'] },
    },
  },
};
