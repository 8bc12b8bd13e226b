import fc from 'fast-check';
import { anyText } from './any-text.js';

export type Schema = Readonly<Record<string, unknown>>;

/**
 * Values that a JSON Schema describes, for the keywords that Herald's description uses. Lists keep to one item, since
 * JSON Schema cannot say that ids must differ or that sections share ten rows.
 */
export function arbitraryOf(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<unknown> {
  const of = (inner: unknown): fc.Arbitrary<unknown> => arbitraryOf(inner as Schema, resolve);
  if (typeof schema.$ref === 'string') return of(resolve(schema.$ref));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (Array.isArray(schema.allOf)) {
    const parts = (schema.allOf as Schema[]).map(of) as fc.Arbitrary<object>[];
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values) as object);
  }
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map(of));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => of({ ...schema, type: type as string })));
  switch (schema.type) {
    case 'string':
      return sharedStringOf(schema).filter((text) => text !== (schema.not as Schema | undefined)?.const);
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer({ min: Number(schema.minimum ?? -1_000), max: Number(schema.maximum ?? 1_000) });
    case 'array':
      return arrayOf(of(schema.items), Number(schema.minItems ?? 0));
    case 'object':
      return objectOf(schema, of);
    default:
      return Array.isArray(schema.oneOf) ? fc.oneof(...schema.oneOf.map(of)) : unsupported(schema);
  }
}

function arrayOf(items: fc.Arbitrary<unknown>, least: number): fc.Arbitrary<unknown> {
  return fc.array(items, { minLength: least, maxLength: Math.max(1, least) });
}

function objectOf(schema: Schema, of: (inner: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const choices = (schema['x-exactly-one'] ?? schema['x-at-most-one']) as string[] | undefined;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  const named = Object.fromEntries(properties.map(([key, inner]) => [key, of(inner)]));
  const required = (schema.required ?? []) as string[];
  if (choices === undefined) return fc.record(named, { requiredKeys: required });
  return fc.oneof(
    ...choices.map((chosen) => {
      const rest = Object.fromEntries(
        Object.entries(named).filter(([key]) => key === chosen || !choices.includes(key)),
      );
      return fc.record(rest, { requiredKeys: [...required, chosen] });
    }),
  );
}

// ISO 8601 as callers write it has four digits for the year.
const YEARS = { min: new Date('1970-01-01'), max: new Date('9999-12-31') };

/** By the text of their schema: fast-check takes longer to make one than a request takes. */
const strings = new Map<string, fc.Arbitrary<string>>();

function sharedStringOf(schema: Schema): fc.Arbitrary<string> {
  const { format, pattern, minLength, maxLength } = schema;
  const key = JSON.stringify([format, pattern, minLength, maxLength]);
  const made = strings.get(key) ?? stringOf(schema);
  strings.set(key, made);
  return made;
}

function stringOf(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'date-time')
    return fc.date({ ...YEARS, noInvalidDate: true }).map((date) => date.toISOString());
  if (schema.format === 'uri') return fc.webUrl({ validSchemes: ['https'] });
  if (typeof schema.pattern === 'string') {
    const most = Number(schema.maxLength ?? Infinity);
    // Neither U+0000 nor halves of characters are texts to the API, whatever a pattern leaves open.
    return fc
      .stringMatching(new RegExp(schema.pattern))
      .filter((text) => text.length <= most && !text.includes('\u0000') && !/[\ud800-\udfff]/.test(text));
  }
  const minLength = Number(schema.minLength ?? 0);
  // Long enough to meet what is beyond ASCII, short enough to be quick; limits have tests of their own.
  const maxLength = Math.min(Number(schema.maxLength ?? 40), Math.max(minLength, 40));
  // The second has names as of JavaScript's own properties among its texts.
  const text = fc.oneof(
    { weight: 3, arbitrary: anyText({ minLength, maxLength }) },
    fc.string({ minLength, maxLength }),
  );
  return text.map((made) => made.replaceAll('\u0000', 'x'));
}

function unsupported(schema: Schema): never {
  throw new Error(`no values can be made for the schema ${JSON.stringify(schema)}`);
}

/** What JSON Schema cannot say of a message: the cards of a carousel have the same buttons, each at a place of its own. */
export function withCardsAlike(body: Record<string, unknown>): Record<string, unknown> {
  const interactive = body.interactive as Record<string, unknown> | undefined;
  const action = interactive?.action as { cards?: object[] } | undefined;
  if (!Array.isArray(action?.cards)) return body;
  const [first] = action.cards;
  const cards = action.cards.map((_card, index) => ({ ...first, card_index: index }));
  return { ...body, interactive: { ...interactive, action: { ...action, cards } } };
}
