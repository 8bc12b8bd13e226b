import { MAX_FIELD_LENGTH, MAX_DETAILS, type ErrorDetail } from './app-error.js';
import { clip } from './clip.js';
import { UUID_PATTERN } from './ids.js';
import { isObject } from './json.js';

/**
 * Shapes of JSON values. One description both validates a request body and generates the API description, so the two
 * cannot differ. Plain functions instead of decorators, because the hottest route validates with them.
 */
export interface Shape {
  /** Adds the violations of `value` to `violations`. `field` is its path, such as `text.body`. */
  check(value: unknown, field: string, violations: ErrorDetail[]): void;
  /** JSON Schema of the shape, draft 2020-12. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface StringRules {
  min?: number;
  /** Characters (code points), as JSON Schema counts them. */
  max?: number;
  pattern?: RegExp;
  /** What the pattern means, completing "must be ...". */
  meaning?: string;
  format?: string;
  description?: string;
  example?: string;
}

export function string(rules: StringRules = {}): Shape {
  const { min = 0, max = Infinity, pattern } = rules;
  return {
    check(value, field, violations) {
      if (typeof value !== 'string') {
        violations.push(violation(field, 'type', `${field} must be a string.`));
      } else if (value.length < min || (value.length > max && codePoints(value) > max)) {
        violations.push(violation(field, 'length', `${field} must be ${countText(min, max)} characters long.`));
      } else if (pattern !== undefined && !pattern.test(value)) {
        violations.push(
          violation(field, 'format', `${field} must be ${rules.meaning ?? `of the form ${pattern.source}`}.`),
        );
      }
    },
    schema: defined({
      type: 'string',
      minLength: min > 0 ? min : undefined,
      maxLength: Number.isFinite(max) ? max : undefined,
      pattern: rules.format === 'uuid' ? undefined : pattern?.source,
      format: rules.format,
      description: rules.description,
      examples: rules.example === undefined ? undefined : [rules.example],
    }),
  };
}

export function uuid(rules: Pick<StringRules, 'description' | 'example'> = {}): Shape {
  return string({ ...rules, pattern: UUID_PATTERN, meaning: 'a UUID', format: 'uuid' });
}

interface NumberRules {
  min: number;
  max: number;
  description?: string;
  example?: number;
}

const numeric =
  (type: 'integer' | 'number', isOfType: (value: unknown) => boolean, must: string) =>
  ({ min, max, description, example }: NumberRules): Shape => ({
    check(value, field, violations) {
      if (!isOfType(value)) violations.push(violation(field, 'type', `${field} must be ${must}.`));
      else if (!(Number(value) >= min && Number(value) <= max)) {
        violations.push(violation(field, 'range', `${field} must be ${min} to ${max}.`));
      }
    },
    schema: defined({
      type,
      minimum: min,
      maximum: max,
      description,
      examples: example === undefined ? undefined : [example],
    }),
  });

export const integer = numeric('integer', Number.isInteger, 'a whole number');
export const number = numeric('number', (value) => typeof value === 'number', 'a number');

export function boolean(rules: { default?: boolean; description?: string } = {}): Shape {
  return {
    check(value, field, violations) {
      if (typeof value !== 'boolean') violations.push(violation(field, 'type', `${field} must be true or false.`));
    },
    schema: defined({ type: 'boolean', ...rules }),
  };
}

export function oneOf(words: readonly string[], rules: { description?: string } = {}): Shape {
  return {
    check(value, field, violations) {
      if (typeof value !== 'string' || !words.includes(value)) {
        violations.push(violation(field, 'one_of', `${field} must be ${words.join(', ')}.`));
      }
    },
    schema:
      words.length === 1 ? { type: 'string', const: words[0] } : defined({ type: 'string', enum: words, ...rules }),
  };
}

export interface ObjectRules {
  required?: Readonly<Record<string, Shape>>;
  optional?: Readonly<Record<string, Shape>>;
  /** Other keys are allowed unchecked. Default: they are refused by name. */
  open?: boolean;
  description?: string;
}

export function object(rules: ObjectRules): Shape & { readonly keys: ReadonlySet<string> } {
  const required = Object.entries(rules.required ?? {});
  const optional = Object.entries(rules.optional ?? {});
  const keys = new Set([...required, ...optional].map(([key]) => key));
  return {
    keys,
    check(value, field, violations) {
      if (!isObject(value)) {
        violations.push(violation(field, 'type', `${field === '' ? 'The body' : field} must be a JSON object.`));
        return;
      }
      const prefix = field === '' ? '' : `${field}.`;
      for (const [key, shape] of required) {
        const item = value[key];
        const path = prefix + key;
        if (item === undefined) violations.push(violation(path, 'required', `${path} is missing.`));
        else shape.check(item, path, violations);
      }
      for (const [key, shape] of optional) {
        const item = value[key];
        if (item !== undefined) shape.check(item, prefix + key, violations);
      }
      if (rules.open === true) return;
      let unknown = 0;
      for (const key of Object.keys(value)) {
        if (keys.has(key)) continue;
        violations.push(unknownField(prefix + key, keys));
        if (++unknown >= MAX_DETAILS) return;
      }
    },
    schema: defined({
      type: 'object',
      description: rules.description,
      properties: Object.fromEntries([...required, ...optional].map(([key, shape]) => [key, shape.schema])),
      required: required.length === 0 ? undefined : required.map(([key]) => key),
      additionalProperties: rules.open === true,
    }),
  };
}

/** An object in one of several forms; the value of `key` names the form, and each form requires it. */
export function tagged(key: string, forms: Readonly<Record<string, Shape>>): Shape {
  const words = Object.keys(forms);
  const tag = object({ required: { [key]: oneOf(words) }, open: true });
  return {
    check(value, field, violations) {
      const word = isObject(value) ? value[key] : undefined;
      const form = typeof word === 'string' && Object.hasOwn(forms, word) ? forms[word] : undefined;
      (form ?? tag).check(value, field, violations);
    },
    schema:
      words.length === 1
        ? (forms[words[0] as string] as Shape).schema
        : { anyOf: words.map((word) => forms[word]?.schema) },
  };
}

export function array(items: Shape, rules: { min?: number; max?: number; description?: string } = {}): Shape {
  const { min = 0, max = Infinity } = rules;
  return {
    check(value, field, violations) {
      if (!Array.isArray(value)) {
        violations.push(violation(field, 'type', `${field} must be an array.`));
        return;
      }
      if (value.length < min || value.length > max) {
        violations.push(violation(field, 'length', `${field} must have ${countText(min, max)} items.`));
        return;
      }
      const before = violations.length;
      for (const [index, item] of value.entries()) {
        items.check(item, `${field}[${index}]`, violations);
        if (violations.length - before >= MAX_DETAILS) return;
      }
    },
    schema: defined({
      type: 'array',
      description: rules.description,
      items: items.schema,
      minItems: min > 0 ? min : undefined,
      maxItems: Number.isFinite(max) ? max : undefined,
    }),
  };
}

/**
 * A shape with a further rule that JSON Schema can't express well. `check` runs only if the shape itself is valid;
 * `schema` is merged into the shape's.
 */
export function refined<S extends Shape>(
  shape: S,
  check: (value: never, field: string, violations: ErrorDetail[]) => void,
  schema: Readonly<Record<string, unknown>> = {},
): Shape {
  return {
    check(value, field, violations) {
      const before = violations.length;
      shape.check(value, field, violations);
      if (violations.length === before) check(value as never, field, violations);
    },
    schema: { ...shape.schema, ...schema },
  };
}

/** Any JSON value of the given type; the platform validates it. */
export function free(schema: Readonly<Record<string, unknown>>): Shape {
  return { check: () => undefined, schema };
}

export function violation(field: string, rule: string, message: string): ErrorDetail {
  return { field, rule, message };
}

export function unknownField(path: string, known: ReadonlySet<string>): ErrorDetail {
  const field = clip(path, MAX_FIELD_LENGTH);
  const allowed = known.size === 0 ? 'none is allowed' : `allowed: ${[...known].join(', ')}`;
  return violation(field, 'unknown_field', `${field} is not known here; ${allowed}.`);
}

function countText(min: number, max: number): string {
  if (!Number.isFinite(max)) return `at least ${min}`;
  return min > 0 ? `${min} to ${max}` : `at most ${max}`;
}

function codePoints(value: string): number {
  let count = 0;
  for (const _character of value) count++;
  return count;
}

function defined(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}
