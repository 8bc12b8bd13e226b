import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';

const PACKAGE = 'clients/python/src/herald';
const HTTP_METHODS = ['get', 'put', 'post', 'patch', 'delete'];
/** What the iterators of the client set, or what it takes in another form. */
const OMITTED_QUERY = {
  templates_list: ['after'],
  events_list: ['wait', 'types'],
  auditAdmin_list: ['format'],
  usageAdmin_get: ['format'],
};
/** Words that cannot be the name of a field in the body of a class. */
const KEYWORDS = new Set([
  'from',
  'class',
  'import',
  'global',
  'pass',
  'in',
  'is',
  'not',
  'and',
  'or',
  'for',
  'with',
  'as',
]);
const PRIMITIVES = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

const pascal = (name) => name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter) => letter.toUpperCase());
const classOf = (operation) => pascal(operation.replaceAll(/[A-Z]/g, '_$&'));
const literal = (value) =>
  value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : JSON.stringify(value);
const nameOf = (ref) => ref.slice(ref.lastIndexOf('/') + 1);
const unique = (list) => [...new Set(list)];

/** A docstring of the description, or nothing. */
function docOf(description, indent) {
  if (description === undefined || description === '') return '';
  const text = description
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
  return `${indent}"""${text}"""\n`;
}

/** Writes the schemas of a description as TypedDicts: what came stays a dictionary, so an unknown field does no harm. */
class Models {
  constructor(schemas) {
    this.schemas = schemas;
    this.names = new Set(Object.keys(schemas));
    this.blocks = [];
    this.requested = new Set();
    this.events = schemas.EventsResponse?.properties.data.items.oneOf;
  }

  /** Notes what a request may hold: its lists take any sequence. */
  markRequested(schema) {
    if (schema === null || typeof schema !== 'object') return;
    if (typeof schema.$ref === 'string') {
      const name = nameOf(schema.$ref);
      if (this.requested.has(name)) return;
      this.requested.add(name);
      this.markRequested(this.schemas[name]);
    }
    for (const [key, value] of Object.entries(schema)) if (!key.startsWith('example')) this.markRequested(value);
  }

  free(name) {
    let free = name;
    for (let count = 2; this.names.has(free); count++) free = `${name}${count}`;
    this.names.add(free);
    return free;
  }

  /** The type of a schema; objects in it become classes whose names begin with `name`. */
  typeOf(schema, name, isInput) {
    if (schema === undefined || Object.keys(schema).length === 0) return 'Any';
    if (schema.$ref) return nameOf(schema.$ref);
    if ('const' in schema) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (schema.allOf && schema.properties === undefined) {
      if (schema.allOf.length === 1) return this.typeOf(schema.allOf[0], name, isInput);
      return this.declare(this.free(name), schema, isInput);
    }
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices && schema.properties === undefined) return this.choiceOf(choices, name, isInput);
    if (Array.isArray(schema.type))
      return unique(schema.type.map((type) => this.typeOf({ ...schema, type }, name, isInput))).join(' | ');
    if (schema.type === 'array')
      return `${isInput ? 'Sequence' : 'List'}[${this.typeOf(schema.items, `${name}Item`, isInput)}]`;
    if (schema.type === 'object' || schema.properties) return this.objectOf(schema, name, isInput);
    return PRIMITIVES[schema.type] ?? 'Any';
  }

  choiceOf(choices, name, isInput) {
    if (this.events && JSON.stringify(choices) === JSON.stringify(this.events)) return 'WebhookEvent';
    const typed = choices.map((choice, index) => {
      const kind = choice.properties?.type?.const;
      return this.typeOf(choice, `${name}${kind === undefined ? index + 1 : pascal(kind)}`, isInput);
    });
    return unique(typed).join(' | ');
  }

  objectOf(schema, name, isInput) {
    const { properties = {}, additionalProperties: more } = schema;
    const map = isInput ? 'Mapping' : 'Dict';
    const isOpen =
      Object.keys(properties).length === 0 || (isInput && more === true && Object.keys(properties).join() === 'type');
    if (!isOpen) return this.declare(this.free(name), schema, isInput);
    return `${map}[str, ${typeof more === 'object' ? this.typeOf(more, `${name}Value`, isInput) : 'Any'}]`;
  }

  /** All fields of a schema and of those that it consists of. */
  fieldsOf(schema) {
    const own = schema.$ref ? this.schemas[nameOf(schema.$ref)] : schema;
    const parts = (own.allOf ?? []).map((part) => this.fieldsOf(part));
    return {
      properties: Object.assign({}, ...parts.map(({ properties }) => properties), own.properties),
      required: [...parts.flatMap(({ required }) => required), ...(own.required ?? [])],
    };
  }

  /** Declares a class, or an alias, under this name. */
  declare(name, schema, isInput) {
    const variants = schema.allOf
      ?.map((part) => (part.$ref ? this.schemas[nameOf(part.$ref)] : part).anyOf)
      .find(Boolean);
    if (variants !== undefined) {
      const others = schema.allOf.filter((part) => this.schemas[nameOf(part.$ref ?? '')]?.anyOf !== variants);
      const names = variants.map((variant) => {
        const each = this.free(`${name}${nameOf(variant.$ref)}`);
        return this.declare(each, { allOf: [variant, ...others] }, isInput);
      });
      this.alias(name, names.join(' | '), schema.description);
      return name;
    }
    const { properties, required } = this.fieldsOf(schema);
    this.record(name, properties, new Set(required), schema.description, isInput);
    return name;
  }

  record(name, properties, required, description, isInput) {
    const fields = Object.entries(properties).map(([key, property]) => ({
      key,
      type: this.typeOf(property, name + pascal(key), isInput),
      doc: docOf(property.description, '    '),
      isRequired: required.has(key),
    }));
    const bases = [];
    for (const isRequired of [true, false]) {
      const total = isRequired ? '' : ', total=False';
      const odd = fields.filter((field) => KEYWORDS.has(field.key) && field.isRequired === isRequired);
      if (odd.length === 0) continue;
      const base = `_${name}${isRequired ? 'Keywords' : 'OptionalKeywords'}`;
      const entries = odd.map(({ key, type }) => `${JSON.stringify(key)}: ${JSON.stringify(type)}`).join(', ');
      this.blocks.push(`${base} = TypedDict("${base}", {${entries}}${total})\n`);
      bases.push(base);
    }
    const plain = fields.filter(({ key }) => !KEYWORDS.has(key));
    const optional = plain.filter(({ isRequired }) => !isRequired);
    const needed = plain.filter(({ isRequired }) => isRequired);
    if (optional.length > 0 && needed.length > 0) {
      this.blocks.push(`class _${name}Required(TypedDict):\n${bodyOf(needed)}`);
      bases.push(`_${name}Required`);
    }
    const rest = optional.length > 0 ? optional : needed;
    const head = [...(bases.length > 0 ? bases : ['TypedDict']), ...(optional.length > 0 ? ['total=False'] : [])].join(
      ', ',
    );
    this.blocks.push(`class ${name}(${head}):\n${docOf(description, '    ')}${bodyOf(rest)}`);
  }

  alias(name, type, description) {
    const parts = type.split(' | ');
    const text =
      parts.length === 1 ? parts[0] : `Union[${parts.map((part) => `"${part.replaceAll('"', "'")}"`).join(', ')}]`;
    // A single name may be declared further down.
    const quoted =
      /^\w+$/.test(text) && !['Any', ...Object.values(PRIMITIVES)].includes(text) ? `Union["${text}"]` : text;
    this.blocks.push(`${name} = ${quoted}\n${docOf(description, '')}`);
  }

  component(name) {
    const schema = this.schemas[name];
    const isInput = this.requested.has(name);
    if (schema.allOf || schema.properties) this.declare(name, schema, isInput);
    else this.alias(name, this.typeOf(schema, name, isInput), schema.description);
  }
}

const bodyOf = (fields) =>
  fields.length === 0 ? '    pass\n' : fields.map(({ key, type, doc }) => `    ${key}: ${type}\n${doc}`).join('');

/**
 * The Python client's types from the API description.
 *
 * @param {string} file the committed description
 * @param {object} description the OpenAPI document
 * @returns {string} Python
 */
export function renderPythonModels(file, description) {
  const { schemas, examples } = description.components;
  const models = new Models(schemas);
  const operations = Object.values(description.paths).flatMap((item) =>
    HTTP_METHODS.flatMap((method) => item[method] ?? []),
  );
  for (const { requestBody } of operations) models.markRequested(requestBody);
  for (const name of Object.keys(schemas).sort()) models.component(name);
  for (const { operationId: id, parameters = [], requestBody } of operations) {
    const body = requestBody?.content['application/json']?.schema;
    if (body?.properties)
      models.record(models.free(`${classOf(id)}Body`), body.properties, new Set(body.required), undefined, true);
    const omitted = ['before_id', ...(OMITTED_QUERY[id] ?? [])];
    const query = parameters.filter((parameter) => parameter.in === 'query' && !omitted.includes(parameter.name));
    if (query.length === 0) continue;
    const properties = Object.fromEntries(
      query.map(({ name, schema, description: text }) => [name, { ...schema, description: text }]),
    );
    models.record(models.free(`${classOf(id)}Query`), properties, new Set(), undefined, true);
  }
  if (models.events) {
    const types = models.events.map(({ $ref }) => schemas[nameOf($ref)].properties.type.const);
    models.alias('EventType', `Literal[${types.map(literal).join(', ')}]`);
    models.alias(
      'WebhookEvent',
      models.events.map(({ $ref }) => nameOf($ref)).join(' | '),
      'What GET /events gives, and what Herald posts to a webhook; `type` distinguishes the events.',
    );
  }
  const codes = Object.keys(examples ?? {}).map((code) => `    "${code}",\n`);
  return [
    `# Generated from ${file} by \`npm run generate\`.\nfrom __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Mapping, Sequence, TypedDict, Union\n`,
    ...models.blocks,
    `ErrorCode = Literal[\n${codes.join('')}]\n"""Codes that errors may have; a later Herald may know more."""\n`,
  ].join('\n\n');
}

/** What is different where nothing is awaited, in this order. */
const SYNC_WORDS = [
  [/\bawait /g, ''],
  [/\bAwaitable, /g, ''],
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b_async\b/g, '_sync'],
  [/\baclose\b/g, 'close'],
  [/\b__a(iter|next|enter|exit)__\b/g, '__$1__'],
  [/\bStopAsyncIteration\b/g, 'StopIteration'],
  [/\banext\b/g, 'next'],
  [/\baiter_raw\b/g, 'iter_raw'],
  [/\baiter_bytes\b/g, 'iter_bytes'],
];
/** Written by hand for both: there the two differ. */
const BY_HAND = ['__init__.py', 'support.py'];

/** `Awaitable[X]` as `X`. */
function withoutAwaitable(text) {
  const begin = text.indexOf('Awaitable[');
  if (begin === -1) return text;
  let end = begin + 'Awaitable['.length;
  for (let depth = 1; depth > 0; end++) depth += text[end] === '[' ? 1 : text[end] === ']' ? -1 : 0;
  const inner = text.slice(begin + 'Awaitable['.length, end - 1);
  return withoutAwaitable(text.slice(0, begin) + inner + text.slice(end));
}

/** The client without `await`, by path: the same text with other words. */
export function renderPythonSync() {
  const files = readdirSync(join(ROOT, PACKAGE, '_async')).filter(
    (name) => name.endsWith('.py') && !BY_HAND.includes(name),
  );
  return Object.fromEntries(
    files.map((name) => {
      const text = readFileSync(join(ROOT, PACKAGE, '_async', name), 'utf8');
      const sync = SYNC_WORDS.reduce(
        (words, [pattern, word]) => words.replaceAll(pattern, word),
        withoutAwaitable(text),
      );
      return [`${PACKAGE}/_sync/${name}`, `# Generated from _async/${name} by \`npm run generate\`.\n${sync}`];
    }),
  );
}

/** Every generated file of the Python client, by path. */
export function renderPythonClient(description, administration) {
  return {
    [`${PACKAGE}/models.py`]: renderPythonModels('openapi.json', description),
    [`${PACKAGE}/admin_models.py`]: renderPythonModels('openapi-admin.json', administration),
    ...renderPythonSync(),
  };
}
