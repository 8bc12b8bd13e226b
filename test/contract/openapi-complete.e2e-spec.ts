import { createHeraldAdmin, createHeraldClient } from '../../clients/typescript/src/index.js';
import { readProjectFile } from '../support/project-files.js';
import type { Schema } from '../support/schema-arbitrary.js';
import type { OpenApi } from './fuzz/description.js';
import { SchemaChecks } from './fuzz/schema-check.js';

/*
 * What every operation of the committed description must have, so that a new one cannot slip in half described. Nothing
 * runs here: `generate:check` holds the file to the code, the other files of this folder hold the code to the file.
 */

interface Example {
  $ref?: string;
  value?: unknown;
}
interface Content {
  schema: Record<string, unknown>;
  example?: unknown;
  examples?: Record<string, Example>;
}
interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Record<string, unknown>;
}
interface Answer {
  $ref?: string;
  description: string;
  headers?: object;
  content?: Record<string, Content>;
}
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Answer>;
  'x-required-scope'?: string;
  'x-codeSamples'?: { label: string; source: string }[];
}
interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: object;
    responses: Record<string, Answer>;
    examples: Record<string, Example>;
    securitySchemes: object;
  };
}

/** Of the API of messages, and of the admin API. */
const documents = ['openapi.json', 'openapi-admin.json'].map((file) => JSON.parse(readProjectFile(file)) as Document);
/** Both: what has the same name among the schemas and examples is the same. */
const document = documents.reduce((one, other) => ({
  tags: [...one.tags, ...other.tags],
  paths: { ...one.paths, ...other.paths },
  webhooks: { ...one.webhooks, ...other.webhooks },
  components: {
    schemas: { ...one.components.schemas, ...other.components.schemas },
    responses: {},
    examples: { ...one.components.examples, ...other.components.examples },
    securitySchemes: { ...one.components.securitySchemes, ...other.components.securitySchemes },
  },
}));
const errorsPage = readProjectFile('docs/errors.md');
const operations = documents.flatMap((each) =>
  Object.entries(each.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      at: `${method.toUpperCase()} ${path}`,
      path,
      operation: { ...operation, responses: withoutReferences(each, operation.responses) },
    })),
  ),
);

/** Answers that are errors stand once, among the components. */
function withoutReferences({ components }: Document, answers: Record<string, Answer>): Record<string, Answer> {
  const entries = Object.entries(answers).map(([status, answer]) => {
    const shared = answer.$ref === undefined ? answer : components.responses[answer.$ref.split('/').at(-1) ?? ''];
    return [status, shared as Answer] as const;
  });
  return Object.fromEntries(entries);
}

/** The specification's endpoints: method, path, scope, statuses that it lists beside 401, 403 and the good one. */
const SPECIFIED = `
GET /connections connections:read 400 404 429
POST /messages messages:write 202 400 402 409 422 429
GET /messages messages:read 200 400 404 429
GET /messages/{id} messages:read 200 404
POST /messages/{id}/retry messages:write 202 402 404 409
GET /connections/{id}/templates templates:read 200 400 404 429
POST /connections/{id}/templates templates:write 201 400 404 429
GET /connections/{id}/templates/{name} templates:read 200 400 404 429
PATCH /connections/{id}/templates/{name} templates:write 200 400 404 429
DELETE /connections/{id}/templates/{name} templates:write 200 400 404 429
POST /connections/{id}/templates/preview templates:read 200 400 404 429
GET /connections/{id}/profile profile:read 200 400 404 429
PUT /connections/{id}/profile profile:write 200 400 404 429
POST /media media:write 201 400 404 429
GET /media media:read 200 400 404 429
GET /media/{id} media:read 200 400 404 429
GET /media/{id}/url media:read 200 400 404 409 429
DELETE /media/{id} media:write 204 400 404 429
GET /webhook webhooks:read 200 400 404 429
PUT /webhook webhooks:write 200 400 404 429
DELETE /webhook webhooks:write 204 400 404 429
POST /webhook/test webhooks:write 202 400 404 429
POST /webhook/rotate-secret webhooks:write 200 400 404 429
POST /otp/send otp:send 200 202 400 402 409 429
POST /otp/verify otp:verify 200 400 429
GET /otp/{id} otp:read 200 404 429
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '));

/** How the specification groups them, where that is not by the first word of their path. */
const TAG_OF: readonly (readonly [RegExp, string])[] = [
  [/\/templates/, 'Templates'],
  [/\/profile$/, 'Profile'],
  [/^\/members$/, 'Conversations'],
  [/^\/otp\//, 'One-time codes'],
  [/^\/api\/admin\/v1\/workspaces(\/\{workspace_id\})?$/, 'Workspaces'],
  [/^\/api\/admin\/v1\/key$/, 'Key'],
  [/^\/api\/admin\/v1\/operator-keys/, 'Operator keys'],
  [/^\/api\/admin\/v1\/.*\/erasures$/, 'Erasures'],
  [/^\/api\/admin\/v1\/.*\/keys/, 'Keys'],
  [/^\/api\/admin\/v1\/(.*\/)?connections/, 'Numbers'],
  [/^\/api\/admin\/v1\/.*\/setup-links/, 'Setup links'],
  [/^\/api\/admin\/v1\/(.*\/)?(people|invitations)/, 'People'],
  [/^\/api\/admin\/v1\/(.*\/)?otp-/, 'Codes'],
  [/^\/api\/admin\/v1\/rates$/, 'Prices'],
  [/^\/api\/admin\/v1\/usage$/, 'Usage'],
  [/^\/api\/admin\/v1\/audit$/, 'Audit'],
  [/^\/api\/admin\/v1\/events$/, 'Events'],
  [/^\/api\/admin\/v1\/.*\/opt-out-keywords/, 'Workspaces'],
  [/^\/api\/admin\/v1\/installation$/, 'Installation'],
];

function tagOf(path: string): string {
  const [, tag] = TAG_OF.find(([pattern]) => pattern.test(path)) ?? [];
  // Its words as a title; `opt-outs` is one word.
  const words = path.split('/')[1] === 'opt-outs' ? 'opt-outs' : (path.split('/')[1] ?? '').replaceAll('-', ' ');
  return tag ?? words.charAt(0).toUpperCase() + words.slice(1);
}

function examplesOf(content: Content): [name: string, value: unknown][] {
  const named = Object.entries(content.examples ?? {}).map(([name, { $ref, value }]) => {
    const found = $ref === undefined ? value : document.components.examples[$ref.split('/').at(-1) ?? '']?.value;
    return [name, found] as [string, unknown];
  });
  return content.example === undefined ? named : [...named, ['example', content.example]];
}

const checks = new SchemaChecks(document as unknown as OpenApi);
/** What is wrong with an example, or null. */
const violationOf = (schema: object, value: unknown): string | null => checks.request(schema as Schema)(value);
/** Of answers: a field that the description does not name is a violation too. */
const violationOfAnswer = (schema: object, value: unknown): string | null => checks.answer(schema as Schema)(value);

function wrongExamples(content: Content, violationOfExample = violationOf): string[] {
  const examples = examplesOf(content);
  if (examples.length === 0) return ['there is none'];
  return examples.flatMap(([name, value]) => {
    const violation = violationOfExample(content.schema, value);
    return violation === null ? [] : [`${name}: ${violation}`];
  });
}

describe('the operations of the specification', () => {
  it.each(SPECIFIED)('%s %s needs %s', (method = '', path = '', scope = '', ...statuses) => {
    const operation = document.paths[`/api/v1${path}`]?.[method.toLowerCase()];
    expect(operation?.['x-required-scope']).toBe(scope);
    const wanted = statuses.filter((status) => !status.endsWith('?'));
    expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(['401', '403', ...wanted]));
  });
});

/** What a sample calls, such as `messages.send`, as the client has it. */
function calledBy(source: string): unknown {
  const baseUrl = 'http://127.0.0.1';
  const clients = {
    herald: createHeraldClient({ baseUrl, apiKey: 'k' }),
    admin: createHeraldAdmin({ baseUrl, operatorKey: 'k' }),
  };
  const [, name = '', path = ''] = /\b(herald|admin)\.(\w+(?:\.\w+)*)\(/.exec(source) ?? [];
  const client: unknown = clients[name as keyof typeof clients];
  return path.split('.').reduce((found, key) => (found as Record<string, unknown> | undefined)?.[key], client);
}

describe.each(operations)('$at', ({ path, operation }) => {
  it('has samples in three languages, the one in TypeScript with a method that the client has', () => {
    const samples = Object.fromEntries(operation['x-codeSamples']?.map(({ label, source }) => [label, source]) ?? []);
    expect(Object.keys(samples)).toEqual(['curl', 'TypeScript', 'Python']);
    // Where it is missing: give clients/typescript the method, or name another one in docs/code-samples.ts.
    expect(typeof calledBy(samples.TypeScript ?? '')).toBe('function');
  });

  it('says what it is and what it is for', () => {
    expect(operation.operationId).toMatch(/^[a-z][a-zA-Z]*_[a-zA-Z]+$/);
    expect(operations.filter((other) => other.operation.operationId === operation.operationId)).toHaveLength(1);
    expect(operation.summary).toMatch(/^[A-Z][^.]{4,60}$/);
    expect(operation.description.length).toBeGreaterThan(40);
    const tag = tagOf(path.replace('/api/v1', ''));
    expect(operation.tags).toEqual([tag]);
    expect(document.tags.map(({ name }) => name)).toContain(tag);
  });

  const isOfAdmin = (of: string) => of.startsWith('/api/admin/');

  it('demands a scope of a key of the right kind, in words too', () => {
    const scope = operation['x-required-scope'];
    if (scope === undefined && isOfAdmin(path)) {
      expect(operation.operationId).toBe('operatorKeyAdmin_get');
      expect(operation.security).toEqual([{ operatorKey: [] }]);
      return;
    }
    if (scope === undefined) {
      expect(operation.operationId).toBe('keys_get');
      expect(operation.security).toEqual([{ apiKey: [] }, { otpKey: [] }]);
      return;
    }
    const ofWorkspaces = scope.startsWith('otp:') ? 'otpKey' : 'apiKey';
    expect(operation.security).toEqual([{ [isOfAdmin(path) ? 'operatorKey' : ofWorkspaces]: [scope] }]);
    expect(operation.description).toContain(`scope \`${scope}\``);
  });

  it('explains its parameters; those that must be filled in are, and no filter is', () => {
    for (const { name, in: place, required, description, example, schema } of operation.parameters ?? []) {
      const shown = example ?? schema.example;
      expect({ name, explained: (description ?? '').length > 10 }).toEqual({ name, explained: true });
      // Swagger UI fills in what has an example: an optional filter with one would change the first click.
      // A mark of another write would only make the read one of the primary.
      const filledIn = required === true || (place === 'header' && name !== 'X-Herald-Read-After');
      expect({ name, filledIn: shown !== undefined }).toEqual({ name, filledIn });
      if (shown !== undefined)
        expect({ name, violation: violationOf(schema, shown) }).toEqual({ name, violation: null });
    }
  });

  it('shows bodies that fit', () => {
    for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
      // A form's fields show their examples one by one.
      expect({ type, wrong: type === 'application/json' ? wrongExamples(content) : [] }).toEqual({ type, wrong: [] });
    }
  });

  it('shows every answer, with its headers', () => {
    for (const [status, { description, headers = {}, content }] of Object.entries(operation.responses)) {
      expect({ status, described: description !== '' }).toEqual({ status, described: true });
      const names = ['X-Request-Id', 'X-HERALD-API-Version'];
      // Before a key is read there is no limit of a key.
      if (status !== '401' && status !== '431') names.push('RateLimit', 'RateLimit-Policy');
      if (status === '429' || status === '503') names.push('Retry-After');
      expect(Object.keys(headers)).toEqual(expect.arrayContaining(names));
      const json = content?.['application/json'];
      expect({ status, hasBody: json !== undefined }).toEqual({ status, hasBody: status !== '204' });
      if (json !== undefined)
        expect({ status, wrong: wrongExamples(json, violationOfAnswer) }).toEqual({ status, wrong: [] });
    }
  });

  it('links each error code to its section', () => {
    const refused = operation['x-required-scope'] === undefined ? [] : ['403'];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', ...refused, '429', '500', '503']));
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      const codes = Object.keys(content?.['application/json']?.examples ?? {});
      expect(codes.length).toBeGreaterThan(0);
      for (const code of codes) {
        expect(description).toContain(`[\`${code}\`](/docs/errors#${code}): `);
        expect(errorsPage).toContain(`\n## ${code}\n`);
      }
    }
  });
});

describe('the webhooks', () => {
  it.each(Object.entries(document.webhooks))('%s is described and shown', (_name, { post }) => {
    expect([post.tags, post.security]).toEqual([['Webhook'], []]);
    expect(post.description.length).toBeGreaterThan(40);
    expect(wrongExamples(post.requestBody?.content['application/json'] as Content, violationOfAnswer)).toEqual([]);
    const headers = (post.parameters ?? []).map(({ $ref }) => $ref?.split('/').at(-1));
    expect(headers).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
  });
});
