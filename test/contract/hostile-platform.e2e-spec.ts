import type { ServerResponse } from 'node:http';
import { LocalServer } from '../support/local-server.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';

/** In everything that the platform says here, and in nothing that a caller hears. */
const CANARY = 'kanarienvogel';
const DEEP = 60_000;

interface Hostile {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Never ends. */
  endless?: boolean;
}

const json = { 'content-type': 'application/json' };
const listOf = (item: unknown): Hostile => ({ headers: json, body: JSON.stringify({ data: item }) });

const ANSWERS: Record<string, Hostile> = {
  'HTML with 200': { headers: { 'content-type': 'text/html' }, body: `<script>${CANARY}</script>` },
  'HTML with 500': { status: 500, headers: { 'content-type': 'text/html' }, body: `<h1>${CANARY}</h1>` },
  'a redirect': { status: 302, headers: { location: '/trap' }, body: CANARY },
  'a redirect for good': { status: 308, headers: { location: '/trap' }, body: CANARY },
  'nothing at all': { body: '' },
  'half of its JSON': { headers: json, body: `{"data":[{"about":"${CANARY}` },
  'JSON without a floor': { headers: json, body: `{"data":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}` },
  'objects without a floor': { headers: json, body: `{"data":[${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}]}` },
  'more than the limit': { headers: json, body: '[', endless: true },
  'a list of numbers': listOf([1, 2, 3]),
  'a word where a list belongs': listOf(CANARY),
  null: { headers: json, body: 'null' },
  'wrong types everywhere': listOf([
    { name: 7, language: [], status: {}, components: 'x', about: [1], websites: [[1]] },
  ]),
  'names that every object has': {
    headers: json,
    body: `{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"data":[{"__proto__":{"admin":true}}]}`,
  },
  'an error of wrong types': {
    status: 400,
    headers: json,
    body: '{"error":{"code":"x","message":{},"error_subcode":[]}}',
  },
  'an error that is a list': { status: 400, headers: json, body: `{"error":["${CANARY}"]}` },
  'an error without a floor': {
    status: 400,
    headers: json,
    body: `{"error":${'{"error":'.repeat(DEEP)}1${'}'.repeat(DEEP + 1)}`,
  },
  'an undefined status': { status: 999, body: CANARY },
  'headers that never end well': { headers: { ...json, 'retry-after': 'x'.repeat(9_000) }, status: 429, body: CANARY },
};

let platform: LocalServer;
let test: TestApp;
let sender: TestSender;
let hostile: Hostile = {};
let trapped = 0;
let asked = 0;

beforeAll(async () => {
  platform = await LocalServer.start((request, response) => {
    request.resume();
    asked++;
    if (request.url?.includes('trap') === true) trapped++;
    answer(response, hostile);
  });
  const env = { WHATSAPP_API_URL: platform.url, WHATSAPP_TIMEOUT_MS: '1000' };
  test = await startTestApp({ roles: ['api'], env });
  sender = await test.sender();
});

afterAll(async () => {
  await test?.stop();
  await platform?.stop();
});

function answer(response: ServerResponse, { status = 200, headers = {}, body = '', endless = false }: Hostile): void {
  response.writeHead(status, headers);
  if (!endless) {
    response.end(body);
    return;
  }
  response.write(body);
  const more = setInterval(() => response.write(`"${CANARY.repeat(5_000)}",`), 1);
  response.on('close', () => clearInterval(more));
}

describe('a platform that answers', () => {
  it.each(Object.keys(ANSWERS))('%s: every route has an answer of its own, and shows nothing of it', async (name) => {
    hostile = ANSWERS[name] ?? {};
    const before = asked;
    const { api, connection } = sender;
    const base = `/connections/${connection.id}`;
    const template = { name: 'order', language: 'en_US', category: 'UTILITY', body: 'Hello.' };
    const answers = await Promise.all([
      api.get(`${base}/profile`),
      api.request({ method: 'PUT', path: `${base}/profile`, body: { about: 'Coffee' } }),
      api.get(`${base}/templates`),
      api.post(`${base}/templates`, template),
      api.request({ method: 'DELETE', path: `${base}/templates/order_update` }),
    ]);
    for (const { status, body } of answers) {
      expect([200, 201, 400, 404, 502, 504]).toContain(status);
      expect(JSON.stringify(body)).not.toContain(CANARY);
      expect(JSON.stringify(body).length).toBeLessThan(10_000);
    }
    expect(asked).toBeGreaterThan(before);
    expect(trapped).toBe(0);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('admin');
    expect((await test.api.get('/health/live')).status).toBe(200);
  });
});
