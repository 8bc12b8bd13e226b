import { format } from 'prettier';

/** Operations that the node has, by resource and name; `list`: its pages are turned. `message`: its body is that of a message. */
const OPERATIONS = {
  message: {
    send: 'messages_send',
    check: 'messages_check',
    get: 'messages_get',
    getAll: 'messages_list',
    retry: 'messages_retry',
    cancel: 'messages_cancel',
    markRead: 'messages_read',
    timeline: 'messages_timeline',
  },
  conversation: { get: 'conversations_get', getAll: 'conversations_list', update: 'conversations_update' },
  template: { get: 'templates_get', getAll: 'templates_list', preview: 'templates_preview' },
  tag: {
    get: 'tags_get',
    getAll: 'tags_list',
    put: 'tags_put',
    pause: 'tags_pause',
    resume: 'tags_resume',
    cancel: 'tags_cancel',
    retry: 'tags_retry',
  },
  optOut: { getAll: 'optOuts_list', put: 'optOuts_put', delete: 'optOuts_remove' },
  connection: { getAll: 'connections_list' },
  file: { get: 'media_get', getAll: 'media_list', link: 'media_link' },
};
const NAMES = { getAll: 'Get Many', put: 'Create or Update', markRead: 'Mark as Read', link: 'Get Link' };
const NOUNS = { optOut: 'opt out', connection: 'number', file: 'file' };
const CURSORS = new Set(['limit', 'before', 'before_id', 'after']);
const UPPER = new Set(['id', 'url', 'otp', 'api']);

const titled = (text) =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[_\s-]+/)
    .map((word) => (UPPER.has(word.toLowerCase()) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(' ');
const article = (noun) => (/^[aeiou]/.test(noun) ? 'an' : 'a');

/** As n8n's rules want it: no markup, no dot at the end of one sentence. */
function described(text = '') {
  const plain = text
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[<>]/g, '')
    .replaceAll(/\bid\b/g, 'ID')
    .trim();
  const first = plain.charAt(0).toUpperCase() + plain.slice(1);
  return first.slice(0, -1).includes('. ') ? first : first.replace(/\.$/, '');
}

class Generator {
  constructor(description) {
    this.schemas = description.components.schemas;
    this.operations = new Map();
    for (const [path, item] of Object.entries(description.paths))
      for (const [method, operation] of Object.entries(item))
        if (operation.operationId)
          this.operations.set(operation.operationId, { ...operation, path, method: method.toUpperCase() });
  }

  resolved(schema = {}) {
    if (schema.$ref) return this.resolved(this.schemas[schema.$ref.split('/').at(-1)]);
    const [only] = schema.allOf ?? [];
    return schema.properties === undefined && only ? { ...this.resolved(only), ...schema } : schema;
  }

  /** A field of the form. */
  field(name, schema, { prefix = '', required = false, show } = {}) {
    const { type, enum: values, description } = this.resolved(schema);
    const kind = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
    const choices = values?.filter((value) => value !== null);
    const base = { displayName: titled(name), name: `${prefix}${name}` };
    const text = described(description);
    const rest = {
      ...(required && { required }),
      ...(show && { displayOptions: { show } }),
      ...(text && text.toLowerCase() !== titled(name).toLowerCase() && { description: text }),
    };
    if (choices && kind !== 'array') {
      const options = choices
        .map((value) => ({ name: titled(String(value)), value }))
        .sort((a, b) => a.name.localeCompare(b.name));
      return { ...base, type: 'options', options, default: choices[0], ...rest };
    }
    if (kind === 'boolean')
      return {
        ...base,
        type: 'boolean',
        default: false,
        ...rest,
        description: text.startsWith('Whether')
          ? text
          : `Whether ${titled(name).toLowerCase()} applies${text ? `: ${text}` : ''}`,
      };
    if (kind === 'integer' || kind === 'number') return { ...base, type: 'number', default: 0, ...rest };
    if (kind === 'array' || kind === 'object' || kind === undefined)
      return { ...base, type: 'json', default: kind === 'array' ? '[]' : '{}', ...rest };
    return { ...base, type: /_at$|^since$|^until$/.test(name) ? 'dateTime' : 'string', default: '', ...rest };
  }

  collection(displayName, name, placeholder, show, options) {
    const sorted = options.sort((a, b) => a.displayName.localeCompare(b.displayName));
    return {
      displayName,
      name,
      type: 'collection',
      placeholder,
      default: {},
      displayOptions: { show },
      options: sorted,
    };
  }

  operation(resource, name, id) {
    const found = this.operations.get(id);
    if (found === undefined) throw new Error(`integrations/n8n: the API has no operation ${id}`);
    const show = { resource: [resource], operation: [name] };
    const parameters = (found.parameters ?? []).map((parameter) => ({
      ...parameter,
      schema: { ...parameter.schema, description: parameter.description },
    }));
    const isMessage = id === 'messages_send' || id === 'messages_check';
    const body = isMessage ? {} : this.resolved(found.requestBody?.content['application/json']?.schema);
    const fields = Object.entries(body.properties ?? {});
    const isRequired = (field) => (body.required ?? []).includes(field);
    const list = name === 'getAll';
    const queries = parameters.filter((each) => each.in === 'query' && !(list && CURSORS.has(each.name)));
    const properties = parameters
      .filter((each) => each.in === 'path')
      .map((each) => ({
        ...this.field(each.name, each.schema, { prefix: 'path_', required: true, show }),
        ...(each.name === 'id' && {
          displayName: resource === 'template' ? 'Number ID' : `${titled(NOUNS[resource] ?? resource)} ID`,
        }),
      }));
    for (const [field, schema] of fields.filter(([field]) => isRequired(field)))
      properties.push(this.field(field, schema, { prefix: 'body_', required: true, show }));
    if (list) {
      properties.push({
        displayName: 'Return All',
        name: 'returnAll',
        type: 'boolean',
        default: false,
        displayOptions: { show },
        description: 'Whether to return all results or only up to a given limit',
      });
      properties.push({
        displayName: 'Limit',
        name: 'limit',
        type: 'number',
        typeOptions: { minValue: 1 },
        default: 50,
        displayOptions: { show: { ...show, returnAll: [false] } },
        description: 'Max number of results to return',
      });
    }
    if (queries.length > 0) {
      const options = queries.map((each) => this.field(each.name, each.schema));
      properties.push(
        list
          ? this.collection('Filters', 'filters', 'Add Filter', show, options)
          : this.collection('Options', 'options', 'Add Option', show, options),
      );
    }
    const optional = fields.filter(([field]) => !isRequired(field)).map(([field, schema]) => this.field(field, schema));
    if (optional.length > 0)
      properties.push(this.collection('Additional Fields', 'fields', 'Add Field', show, optional));
    const action = {
      method: found.method,
      path: found.path,
      query: queries.map((each) => each.name),
      body: fields.map(([field, schema]) => ({
        name: field,
        required: isRequired(field),
        type: this.field(field, schema).type,
      })),
      list,
      paged: parameters.some((each) => each.name === 'limit'),
      keyed: parameters.some((each) => each.name === 'Idempotency-Key'),
      message: isMessage,
    };
    const noun = NOUNS[resource] ?? resource;
    const verb = NAMES[name] ?? titled(name);
    const subject = list ? `${noun}s` : `${article(noun)} ${noun}`;
    const option = {
      name: verb,
      value: name,
      action: `${verb.charAt(0)}${verb.slice(1).toLowerCase()} ${subject}`,
      description: described(found.summary),
    };
    return { option, action, properties };
  }
}

/**
 * The actions of the n8n node from the API description.
 *
 * @param {object} description the OpenAPI document
 * @returns {Promise<string>} TypeScript
 */
export async function renderN8nActions(description) {
  const generator = new Generator(description);
  const actions = {};
  const properties = [];
  for (const [resource, operations] of Object.entries(OPERATIONS)) {
    const made = Object.entries(operations).map(([name, id]) => ({ name, ...generator.operation(resource, name, id) }));
    const options = made.map(({ option }) => option).sort((a, b) => a.name.localeCompare(b.name));
    properties.push({
      displayName: 'Operation',
      name: 'operation',
      type: 'options',
      noDataExpression: true,
      displayOptions: { show: { resource: [resource] } },
      options,
      default: options.some(({ value }) => value === 'send') ? 'send' : options[0].value,
    });
    for (const each of made) {
      actions[`${resource}:${each.name}`] = each.action;
      properties.push(...each.properties);
    }
  }
  const resources = Object.keys(OPERATIONS)
    .map((value) => ({ name: titled(NOUNS[value] ?? value), value }))
    .sort((a, b) => a.name.localeCompare(b.name));
  const events = generator.schemas.EventsResponse.properties.data.items.oneOf
    .map(({ $ref }) => generator.resolved({ $ref }).properties.type.const)
    .sort()
    .map((value) => ({ name: titled(value.replaceAll('.', ' ')), value }))
    .sort((a, b) => a.name.localeCompare(b.name));
  const text = `// Generated from openapi.json by \`npm run generate\` in Herald.
import type { IHttpRequestMethods, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

export interface Action {
  method: IHttpRequestMethods;
  path: string;
  query: string[];
  body: { name: string; required: boolean; type: string }[];
  /** Its pages are turned. */
  list: boolean;
  /** It takes a limit. */
  paged: boolean;
  /** One key makes one. */
  keyed: boolean;
  /** Its body is a message. */
  message: boolean;
}

export const ACTIONS: Record<string, Action | undefined> = ${JSON.stringify(actions)};

export const RESOURCES: INodePropertyOptions[] = ${JSON.stringify(resources)};

export const EVENT_TYPES: INodePropertyOptions[] = ${JSON.stringify(events)};

export const actionProperties: INodeProperties[] = ${JSON.stringify(properties)};
`;
  return format(text, {
    parser: 'typescript',
    singleQuote: true,
    trailingComma: 'all',
    printWidth: 120,
    quoteProps: 'as-needed',
  });
}
