type Schema = Readonly<Record<string, unknown>>;

const named = new Map<string, Schema>();

/**
 * Puts a schema that no class stands for under a name into the API description, and returns the reference to it.
 *
 * @throws Error when another schema has the name.
 */
export function namedSchema(name: string, schema: Schema): { $ref: string } {
  const known = named.get(name);
  if (known !== undefined && known !== schema) throw new Error(`two schemas are named ${name}`);
  named.set(name, schema);
  return { $ref: `#/components/schemas/${name}` };
}

/** All of them, for the API description. */
export function namedSchemas(): Record<string, Schema> {
  return Object.fromEntries(named);
}
