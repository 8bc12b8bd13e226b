export interface ExampleSchema {
  $ref?: string;
  type?: string | readonly string[];
  properties?: Record<string, ExampleSchema>;
  required?: readonly string[];
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
 * The value that the examples of a schema's parts make together. Fields that may be left out and have no example are
 * left out.
 *
 * @param resolve the schema behind a `$ref`
 * @throws Error naming a required field that has no example.
 */
export function exampleOf(schema: ExampleSchema, resolve: (ref: string) => ExampleSchema, field = ''): unknown {
  const value = findExample(schema, resolve, field);
  if (value === undefined) throw new Error(`${field === '' ? 'the body' : field} needs an example`);
  return value;
}

function findExample(schema: ExampleSchema, resolve: (ref: string) => ExampleSchema, field: string): unknown {
  const given = ownExample(schema);
  if (given !== undefined) return given;
  if (schema.$ref !== undefined) return findExample(resolve(schema.$ref), resolve, field);
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first !== undefined) return findExample(first, resolve, field);
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => findExample(part, resolve, field))) as object;
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, resolve, `${field}[]`)];
  return schema.properties === undefined ? undefined : objectExample(schema, resolve, field);
}

function objectExample(schema: ExampleSchema, resolve: (ref: string) => ExampleSchema, field: string): unknown {
  const { properties = {}, required = [] } = schema;
  const prefix = field === '' ? '' : `${field}.`;
  const entries = Object.entries(properties).map(([name, property]) => {
    const find = required.includes(name) ? exampleOf : findExample;
    return [name, find(property, resolve, prefix + name)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function ownExample({ example, examples, const: fixed, default: fallback, enum: words }: ExampleSchema): unknown {
  for (const value of [example, examples?.[0], fixed, fallback, words?.[0]]) if (value !== undefined) return value;
  return undefined;
}
