import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_PREFIX, setApiPrefix } from './api-version.js';
import {
  documentedParameters,
  documentedResponses,
  documentedWebhooks,
  namedSchemas,
  EXAMPLE_URL,
  OTP_SECURITY_SCHEME,
  SECURITY_SCHEME,
} from './api-description.js';
import { addCodeSamples, type SampleClient } from './docs/code-samples.js';
import { completeOperations, ERROR_SCHEMAS, RESPONSE_HEADERS, shareRefusals } from './openapi-operations.js';

/** One of the two descriptions: its texts and its routes. */
export interface DescribedApi {
  title: string;
  description: string;
  /** The prefix of its paths. */
  prefix: string;
  /** In display order. A controller's `@ApiTags` names one of them. */
  tags: readonly (readonly [name: string, description: string])[];
  /** The description of each kind of key. */
  keys: Readonly<Record<string, { description: string; format: string }>>;
  webhooks: OpenAPIObject['webhooks'];
  client: SampleClient;
}

const DESCRIPTION = `Send and receive WhatsApp Business messages over HTTP and JSON.

[TypeScript client](/client.tgz) (\`npm install <this address>/client.tgz\`) · [Postman collection](/postman.json) · [OpenAPI](/openapi.json)

**Try it:** press **Authorize** and paste a key (in the demo that is done), open \`POST /api/v1/messages\`, press **Try it out** and
**Execute**. Then execute \`GET /api/v1/messages/{id}\`: the message is \`read\` within a second. The examples use your latest ids of this page.

**Answers** are \`{"data": ...}\` or \`{"error": {"code", "message", "request_id", "doc_url"}}\`. Decide by \`code\`; give the
\`request_id\` when you ask for help. Times are ISO 8601 in UTC. New optional fields may appear: ignore those that you don't know.

**Headers:** every answer has \`X-Request-Id\` and \`X-HERALD-API-Version\`; with a key also \`RateLimit\` and \`RateLimit-Policy\`, which
say what is left of its requests a second. Where an installation reads from standbys, lists, conversations, usage, past events and deliveries may
be late by \`X-Herald-Lag\` milliseconds; send \`X-Herald-Read-After\` of your last write with a read that is to find it. 429 and 503 have \`Retry-After\`: repeat with the same \`Idempotency-Key\`. The deprecated addresses
without a version (\`/api/messages\`) also answer \`Deprecation\`, \`Link\` to the new one, and \`Sunset\` where an end was decided.`;

/** In the order of the specification. A controller's `@ApiTags` names one of them. */
const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['Key', 'What the key of the call may do. Any valid key.'],
  ['Connections', 'WhatsApp numbers of the workspace. Scope: `connections:read`.'],
  ['Messages', 'Send, follow and retry messages. Scopes: `messages:read`, `messages:write`.'],
  [
    'Tags',
    'Groups of messages, such as a campaign: counted, paused, resumed, canceled and retried as one. Scopes: `messages:read`, `messages:write`.',
  ],
  ['Conversations', 'Contacts with what was said last, and until when they may be answered. Scope: `messages:read`.'],
  ['Opt-outs', 'Who wants no marketing, or no messages at all. Scopes: `messages:read`, `messages:write`.'],
  ['Usage', 'What was sent and received by time, and what it cost. Scopes: `messages:read`, `otp:read`.'],
  ['Templates', 'Message templates and their moderation. Scopes: `templates:read`, `templates:write`.'],
  ['Profile', 'What customers see of a number. Scopes: `profile:read`, `profile:write`.'],
  ['Media', 'Files to send, and files that customers sent. Scopes: `media:read`, `media:write`.'],
  [
    'Webhook',
    'Signed events to one address of yours; the section Webhooks below shows each. Scopes: `webhooks:read`, `webhooks:write`.',
  ],
  [
    'Events',
    'The same events for a reader that polls: each once, in order, also after an outage. Scope: `webhooks:read`.',
  ],
  [
    'Destinations',
    'The same events, written to a broker or queue of yours: NATS JetStream, RabbitMQ, Amazon SQS. Scopes: `webhooks:read`, `webhooks:write`.',
  ],
  ['One-time codes', 'Send a code over WhatsApp and verify it once. Scopes: `otp:send`, `otp:verify`, `otp:read`.'],
];

const FORMAT = 'hrld_live_<id>_<secret>';

const MESSAGING_API: DescribedApi = {
  title: 'Herald',
  description: DESCRIPTION,
  prefix: API_PREFIX,
  tags: TAGS,
  keys: {
    [SECURITY_SCHEME]: {
      format: FORMAT,
      description:
        'An API key of the workspace, shown once when it was made: `herald key create --workspace <id> --scopes ...`.',
    },
    [OTP_SECURITY_SCHEME]: {
      format: FORMAT,
      description:
        'A key of an OTP project, for one-time codes only: `herald key create --otp-project <id>`. Keys of a sandbox begin with `hrld_test_`.',
    },
  },
  webhooks: documentedWebhooks,
  client: { make: 'createHeraldClient', variable: 'herald', option: 'apiKey' },
};

/**
 * The API description (OpenAPI 3.1) of the routes below /api/v1, or of another API's. Needs no database: an application
 * made with `preview: true` will do. Two builds of the same routes give the same text.
 *
 * @param publicUrl where this service is reached: generators of clients refuse addresses that are not absolute
 * @throws Error naming the operation where one declares an error code that does not exist.
 */
export function buildOpenApiDocument(
  app: INestApplication,
  publicUrl = EXAMPLE_URL,
  api = MESSAGING_API,
): OpenAPIObject {
  setApiPrefix(app);
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(api.title)
    .setDescription(api.description)
    .setVersion('1')
    .setLicense('Proprietary', `${publicUrl}/docs`)
    .setExternalDoc('Error codes', `${publicUrl}/docs/errors`)
    .addServer('{address}', 'Where your Herald is reached', {
      address: { default: publicUrl, description: 'Scheme, host and port.' },
    });
  for (const [name, { description, format }] of Object.entries(api.keys)) {
    builder.addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: format, description }, name);
  }
  for (const [name, description] of api.tags) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: (controller, method) =>
      `${controller.replace(/Controller$/, '').replace(/^./, (first) => first.toLowerCase())}_${method}`,
  });
  const inside = Object.entries(document.paths).filter(([path]) => path.startsWith(`${api.prefix}/`));
  document.paths = Object.fromEntries(inside);
  document.webhooks = api.webhooks;
  document.components = {
    ...document.components,
    parameters: documentedParameters,
    responses: documentedResponses,
    headers: { ...document.components?.headers, ...RESPONSE_HEADERS },
    schemas: { ...document.components?.schemas, ...namedSchemas(), ...ERROR_SCHEMAS },
  } as OpenAPIObject['components'];
  completeOperations(document);
  tidyProperties(document);
  addCodeSamples(document, publicUrl, api.client);
  shareRefusals(document);
  return sorted(withoutUnused(document));
}

/** The schemas of both APIs are read together; each description keeps those that it refers to. */
function withoutUnused(document: OpenAPIObject): OpenAPIObject {
  const kinds = { ...document.components } as Record<string, Record<string, unknown>>;
  const used = new Set<string>();
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref === 'string' && !used.has($ref)) {
      used.add($ref);
      const [, , kind = '', name = ''] = $ref.split('/');
      look(kinds[kind]?.[name]);
    }
    for (const child of Object.values(node)) look(child);
  };
  look(document.paths);
  look(document.webhooks);
  const kept = Object.entries(kinds).map(([kind, named]) => {
    const isKept = (name: string): boolean => kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`);
    return [kind, Object.fromEntries(Object.entries(named).filter(([name]) => isKept(name)))] as const;
  });
  return { ...document, components: Object.fromEntries(kept) };
}

/** Sorts the parts that are looked up by name, so that moving code does not change the description. */
function sorted(document: OpenAPIObject): OpenAPIObject {
  const { openapi, info, servers, tags, externalDocs, paths, webhooks = {}, components = {} } = document;
  const parts = Object.entries(components).map(([kind, named]) => [kind, byName(named as object)] as const);
  const named = { paths: byName(paths), webhooks: byName(webhooks), components: byName(Object.fromEntries(parts)) };
  return { openapi, info, servers, tags, externalDocs, ...named };
}

function byName<T extends object>(named: T): T {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

/**
 * Adds to each property's description its value when absent, because generators would make a `default` required.
 * Removes from lists what the compiler's plugin says about them where it means their items (`each: true`).
 */
function tidyProperties(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties = {} } = node as { properties?: Record<string, Record<string, unknown>> };
  for (const schema of Object.values(properties)) {
    if (schema?.type === 'array')
      for (const rule of ['format', 'pattern', 'minLength', 'maxLength']) delete schema[rule];
    // What the plugin adds beside a reference: `object`, or again that null is allowed.
    if (schema?.$ref !== undefined) delete schema.type;
    const [form] = (schema?.anyOf ?? []) as { anyOf?: unknown }[];
    if (schema !== undefined && form?.anyOf !== undefined) schema.anyOf = form.anyOf;
    if (!['string', 'number', 'boolean'].includes(typeof schema?.default)) continue;
    const text = `Default: ${String(schema.default)}.`;
    schema.description = typeof schema.description === 'string' ? `${schema.description} ${text}` : text;
    delete schema.default;
  }
  for (const child of Object.values(node)) tidyProperties(child);
}
