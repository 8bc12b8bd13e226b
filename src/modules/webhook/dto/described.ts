export type Schema = Record<string, unknown>;

/** The schema of a field or of an object of fields, and its example. */
export interface Described {
  schema: Schema;
  example: unknown;
}

export const uuid = { type: 'string', format: 'uuid' };
export const time = { type: 'string', format: 'date-time' };
export const text = { type: 'string' };
export const flag = { type: 'boolean' };
export const oneOf = (values: readonly (string | null)[]): Schema => ({ ...text, enum: values });
export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
export const free = (description: string): Schema => ({ type: 'object', additionalProperties: true, description });

export const is = (schema: Schema, example: unknown, description?: string): Described => ({
  schema: description === undefined ? schema : { ...schema, description },
  example,
});
export const always = (value: string): Described => is({ const: value }, value);
export const schemasOf = (fields: Record<string, Described>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));

/** @param optional fields that the example does not have. */
export function object(fields: Record<string, Described>, optional: Record<string, Schema> = {}, description?: string) {
  const properties = { ...schemasOf(fields), ...optional };
  const example = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.example]));
  return { ...is({ type: 'object', required: Object.keys(fields), properties }, example, description), example };
}
