import { declaredErrors } from '../../src/common/define-errors.js';
import { SCOPES } from '../../src/infrastructure/http/scopes.js';
import { buildOpenApiDocument } from '../../src/infrastructure/http/openapi.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

interface Answer {
  $ref?: string;
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, { schema: unknown; examples: Record<string, { $ref: string }> }>;
}

interface Operation {
  operationId: string;
  description?: string;
  security?: Record<string, string[]>[];
  tags: string[];
  requestBody?: unknown;
  parameters: { name: string; in: string; schema: Record<string, unknown> }[];
  responses: Record<string, Answer>;
  [extension: `x-${string}`]: unknown;
}

interface Description {
  openapi: string;
  info: { title: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, unknown>;
    headers: Record<string, unknown>;
    responses: Record<string, Answer>;
    examples: Record<string, { value: { error: { code: string } } }>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

let small: SmallApp;
let document: Description;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  document = (await small.api.get<Description>('/openapi.json')).body;
});

afterAll(() => small.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

/** Answers that are errors stand once, among the components. */
const answersOf = ({ responses }: Operation): [status: string, answer: Answer][] =>
  Object.entries(responses).map(([status, answer]) => {
    const shared =
      answer.$ref === undefined ? answer : document.components.responses[answer.$ref.split('/').at(-1) ?? ''];
    return [status, shared as Answer];
  });

describe('the API description', () => {
  it('is OpenAPI 3.1 of Herald, in JSON and in YAML', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.title).toBe('Herald');
    const yaml = await small.api.get<string>('/openapi.yaml');
    expect(yaml.status).toBe(200);
    expect(yaml.body).toContain('openapi: 3.1.0');
  });

  it('shows the routes below /api/v1 and no others', () => {
    expect(operations().length).toBeGreaterThan(5);
    expect(Object.keys(document.paths).every((path) => path.startsWith('/api/v1/'))).toBe(true);
    expect(document.paths['/api/v1/things/{id}']).toBeDefined();
  });

  it('is the same text twice', () => {
    const [first, second] = [1, 2].map(() => buildOpenApiDocument(small.app, small.api.baseUrl));
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    expect(JSON.stringify(first)).toBe(JSON.stringify(document));
  });

  it('names every scope in the sentence of its tag', () => {
    const text = document.tags.map(({ description }) => description).join(' ');
    for (const scope of SCOPES) expect(text).toContain(`\`${scope}\``);
  });

  it('demands a key with the scope where the route does, and says so in words', () => {
    const { operation } = operations().find(({ path, method }) => path === '/api/v1/things' && method === 'post') ?? {};
    expect(operation?.security).toEqual([{ apiKey: ['messages:write'] }]);
    expect(operation?.description).toContain('scope `messages:write`');
    expect(operation?.['x-required-scope']).toBe('messages:write');
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
    const open = document.paths['/api/v1/things/small']?.post;
    expect(open?.security).toBeUndefined();
    expect(open?.responses['401']).toBeUndefined();
  });

  it('lists the errors of each operation by status, with declared codes as examples', () => {
    const codes = new Set(declaredErrors().map(({ code }) => code));
    for (const { operation } of operations()) {
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '500', '503']));
      for (const [status, { content }] of answersOf(operation)) {
        if (Number(status) < 400) continue;
        const json = content?.['application/json'];
        expect(json?.schema).toEqual({ $ref: '#/components/schemas/ErrorResponse' });
        for (const [name, { $ref }] of Object.entries(json?.examples ?? {})) {
          expect(codes.has(name)).toBe(true);
          expect($ref).toBe(`#/components/examples/${name}`);
          expect(document.components.examples[name]?.value.error.code).toBe(name);
        }
      }
    }
    const post = document.paths['/api/v1/things']?.post;
    expect(Object.keys(post?.responses ?? {})).toEqual(
      expect.arrayContaining(['401', '403', '413', '415', '429', '431']),
    );
    const refused = post === undefined ? undefined : Object.fromEntries(answersOf(post))['401'];
    const examples = refused?.content?.['application/json']?.examples ?? {};
    expect(Object.keys(examples)).toEqual(['API_KEY_EXPIRED', 'API_KEY_INVALID', 'API_KEY_MISSING', 'API_KEY_REVOKED']);
  });

  it('declares the headers of every answer', () => {
    for (const { operation } of operations()) {
      for (const [status, { headers }] of answersOf(operation)) {
        const names = Object.keys(headers);
        expect(names).toEqual(expect.arrayContaining(['X-Request-Id', 'X-HERALD-API-Version']));
        if (status === '401') expect(names).toContain('WWW-Authenticate');
        if (status === '429') expect(names).toContain('Retry-After');
        for (const { $ref } of Object.values(headers)) {
          expect(document.components.headers[$ref.replace('#/components/headers/', '')]).toBeDefined();
        }
      }
    }
  });

  it('says that a body takes no other fields, and may be left out where none is required', () => {
    const bodyOf = (path: string, method: string) =>
      document.paths[path]?.[method]?.requestBody as { required: boolean } | undefined;
    expect(document.components.schemas.ThingDto).toMatchObject({ additionalProperties: false });
    expect(bodyOf('/api/v1/things/{id}/retry', 'post')?.required).toBe(false);
  });

  it('keeps no trace of how it was made', () => {
    expect(JSON.stringify(document)).not.toContain('x-herald-error');
    expect(JSON.stringify(document)).not.toContain('"nullable"');
  });

  it('knows that an id of a path is a UUID', () => {
    const parameters = document.paths['/api/v1/things/{id}']?.get?.parameters;
    expect(parameters).toMatchObject([{ name: 'id', in: 'path', schema: { type: 'string', format: 'uuid' } }]);
    expect(parameters).toHaveLength(1);
  });

  it('names operations by controller and method', () => {
    expect(document.paths['/api/v1/things/{id}']?.get?.operationId).toBe('things_get');
  });
});
