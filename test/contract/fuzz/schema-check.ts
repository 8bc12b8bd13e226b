import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema } from '../../support/schema-arbitrary.js';
import type { OpenApi } from './description.js';

/** What is wrong with a value, in one line; null where it conforms. */
export type Check = (value: unknown) => string | null;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

const FORMATS = {
  uuid: UUID,
  uri: (text: string) => URL.canParse(text),
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  'date-time': (text: string) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  binary: true,
} as const;

/** Schemas of the description as checks: of requests as they stand, of answers so that they hold nothing undocumented. */
export class SchemaChecks {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
  private readonly known = new Map<string, ValidateFunction>();

  constructor({ components }: Pick<OpenApi, 'components'>) {
    for (const [keyword, least] of [
      ['x-exactly-one', 1],
      ['x-at-most-one', 0],
    ] as const) {
      this.ajv.addKeyword({
        keyword,
        type: 'object',
        schemaType: 'array',
        validate: (fields: string[], value: Record<string, unknown>) => {
          const given = fields.filter((field) => value[field] !== undefined).length;
          return given >= least && given <= 1;
        },
      });
    }
    this.ajv.addSchema({ ...moved({ components }, 'request'), $id: 'request' });
    this.ajv.addSchema({ ...moved(closed({ components }), 'answer'), $id: 'answer' });
  }

  request(schema: Schema): Check {
    return this.check(schema, 'request');
  }

  /** A field that the description does not name is a violation: callers would come to lean on it. */
  answer(schema: Schema): Check {
    return this.check(closed(schema), 'answer');
  }

  private check(schema: Schema, kind: string): Check {
    const text = JSON.stringify(moved(schema, kind));
    const validate = this.known.get(text) ?? this.ajv.compile(JSON.parse(text) as Schema);
    this.known.set(text, validate);
    return (value) => (validate(value) ? null : (validate.errors ?? []).map(sentence).join('; '));
  }
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty?: string };
  return `${instancePath || '/'} ${message ?? ''}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
}

function moved(schema: Schema, kind: string): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${kind}#/components/`)) as Schema;
}

function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const open = 'properties' in inner && inner.type === 'object' && !('additionalProperties' in inner);
  return (open ? { ...inner, additionalProperties: false } : inner) as T;
}
