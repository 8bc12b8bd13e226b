import fc from 'fast-check';
import { arbitraryOf, type Schema } from '../../support/schema-arbitrary.js';
import type { Call } from './caller.js';
import type { Description, Operation } from './description.js';

/** What the schemas alone say of a request. */
export interface Made {
  /** Chooses among the things of the workspace. */
  pick: number;
  query: Record<string, unknown>;
  body: unknown;
}

/** A request to one operation before it is encoded, so that it can be bent at any place. */
export interface Request {
  operation: Operation;
  params: Record<string, string>;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  /** Undefined: none. Of a form: its fields, and `file` as a {@link FilePart}. */
  body: unknown;
  key: string;
}

export interface FilePart {
  bytes: Buffer;
  name: string;
  mimeType: string;
}

/** Requests that the description allows, without the values that only the workspace knows. */
export function requestsOf(
  operation: Operation,
  description: Description,
  bodies?: fc.Arbitrary<unknown>,
): fc.Arbitrary<Made> {
  const values = (schema: Schema): fc.Arbitrary<unknown> => arbitraryOf(schema, description.resolve);
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const query = Object.fromEntries(parameters.map(({ name, schema }) => [name, values(schema)]));
  const { body } = operation;
  const made = bodies ?? (body === null ? fc.constant(undefined) : bodyOf(body.schema, values));
  return fc.record({
    pick: fc.nat({ max: 9_999 }),
    query: fc.record(query, { requiredKeys: [] }),
    body: body?.required === false ? fc.option(made, { nil: undefined, freq: 4 }) : made,
  });
}

function bodyOf(schema: Schema, values: (schema: Schema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { file, ...properties } = (schema.properties ?? {}) as Record<string, Schema>;
  if (file?.format !== 'binary') return values(schema);
  return values({ ...schema, properties, required: (schema.required as string[]).filter((name) => name !== 'file') });
}

export function encode(request: Request): Call {
  const { operation, body, key, headers } = request;
  const encoded: Call = {
    method: operation.method,
    target: targetOf(request),
    headers: { authorization: `Bearer ${key}`, ...headers },
  };
  if (body === undefined) return encoded;
  if (operation.body?.type === 'multipart/form-data') return { ...encoded, ...asForm(encoded, body as Form) };
  return {
    ...encoded,
    headers: { ...encoded.headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

export function targetOf({ operation, params, query }: Pick<Request, 'operation' | 'params' | 'query'>): string {
  const path = operation.path.replace(/\{([^}]+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
  const asked = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return asked.length === 0 ? path : `${path}?${asked.join('&')}`;
}

type Form = Record<string, string | string[] | FilePart | undefined>;
export const BOUNDARY = 'herald-test-boundary';

function asForm(call: Call, fields: Form): Pick<Call, 'headers' | 'body'> {
  return {
    headers: { ...call.headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: formOf(Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))),
  };
}

/** Fields first and files last, as the list has them otherwise. */
export function formOf(parts: (readonly [name: string, value: string | FilePart | undefined])[]): Buffer {
  const texts = parts.filter(([, value]) => typeof value !== 'object');
  const files = parts.filter(([, value]) => typeof value === 'object');
  const encoded = [...texts, ...files].flatMap(([name, value]) => {
    if (value === undefined) return [];
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
    if (typeof value === 'string') return [Buffer.from(`${head}\r\n\r\n${value}\r\n`)];
    const file = `${head}; filename="${value.name}"\r\nContent-Type: ${value.mimeType}\r\n\r\n`;
    return [Buffer.from(file), value.bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...encoded, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}
