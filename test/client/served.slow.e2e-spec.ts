import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { isInTheDemo } from '../support/demo-resources.js';
import { readProjectFile, ROOT } from '../support/project-files.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

/*
 * What a running Herald serves for integrators: the TypeScript client and the Postman collection, each used against the
 * Herald that it came from.
 */

const run = promisify(execFile);
/** Postman's own, which a script cannot declare again. */
const POSTMAN_NAMES = [
  'data',
  'environment',
  'globals',
  'iteration',
  'request',
  'responseBody',
  'responseCode',
  'tests',
];
const START_MS = 90_000;
/** Nothing listens there. */
const NO_REGISTRY = 'http://127.0.0.1:9';
/** The demo's numbers have no second responder, no contact without a number is there, and no template with a file in its header. */
const OUTSIDE_THE_DEMO = [
  'Queue a message: Template with a picture',
  'Queue a message: Template with a document',
  'Pass, release or take control of a conversation',
  // People sign in at an issuer, which the demo has not.
  'Close or assign a conversation: A person of the workspace',
  // Its host must have an address, which needs a network.
  'Make an event destination',
  'Queue a message: Text to a contact who hides',
];

interface Demo {
  base_url: string;
  api_key: string;
  otp_sandbox_key: string;
  connection_id: string;
}

interface Pair {
  key: string;
  value: string;
  disabled?: boolean;
}

interface PostmanRequest {
  method: string;
  auth?: { bearer: Pair[] };
  header: Pair[];
  url: { raw: string; path: string[]; query: Pair[]; variable: Pair[] };
  body?: { mode: 'raw'; raw: string } | { mode: 'formdata'; formdata: (Pair & { type: string })[] };
}

interface Item {
  name: string;
  request?: PostmanRequest;
  item?: Item[];
}

interface Collection {
  info: { schema: string };
  auth: { bearer: Pair[] };
  event: { script: { exec: string[] } }[];
  variable: Pair[];
  item: Item[];
}

const dataDir = temporaryDataDir();
let database: TestDatabase;
let herald: HeraldProcess;
let demo: Demo;

beforeAll(async () => {
  database = await createTestDatabase();
  herald = await HeraldProcess.start(
    { DATABASE_URL: database.url, DATA_DIR: dataDir.path, DEMO: 'true', WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
    START_MS,
  );
  demo = JSON.parse(readFileSync(join(dataDir.path, 'demo.json'), 'utf8')) as Demo;
}, 2 * START_MS);

afterAll(async () => {
  await herald?.end();
  await database?.drop();
  dataDir.remove();
});

describe.each([
  ['/client.tgz', 'application/gzip'],
  ['/postman.json', 'application/json; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
])('%s', (path, type) => {
  it('comes without a key, and is not sent again to a cache that has it', async () => {
    const { status, headers } = await fetch(demo.base_url + path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('public, no-cache');
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const again = await fetch(demo.base_url + path, { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    const other = await fetch(demo.base_url + path, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
    const head = await fetch(demo.base_url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
  });

  it('stands alone: no folder is listed, and nothing lies below it', async () => {
    for (const beside of ['/downloads', '/downloads/', '/downloads/client.tgz', '/client', '/client.tar'])
      expect([beside, (await fetch(demo.base_url + beside)).status]).toEqual([beside, 404]);
  });

  it('is linked where one looks first', async () => {
    const signpost = (await (await fetch(demo.base_url)).json()) as Record<string, string>;
    expect(Object.values(signpost)).toContain(`${demo.base_url}${path}`);
    const { info } = (await (await fetch(`${demo.base_url}/openapi.json`)).json()) as { info: { description: string } };
    expect(info.description).toContain(`](${path})`);
    expect(readProjectFile('docs/README.md')).toContain(`\`${path}\``);
  });
});

describe('the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-served-'));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is of this version, installs into an empty folder without a registry, and sends a message', async () => {
    const quiet = ['--no-audit', '--no-fund', '--registry', NO_REGISTRY, '--cache', join(folder, '.npm')];
    await run('npm', ['install', `${demo.base_url}/client.tgz`, ...quiet], { cwd: folder });
    const version = (path: string): unknown => (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
    expect(version(join(folder, 'node_modules/@herald/client/package.json'))).toBe(version(join(ROOT, 'package.json')));
    writeFileSync(
      join(folder, 'send.mjs'),
      `import { createHeraldClient } from '@herald/client';
      const [baseUrl, apiKey] = process.argv.slice(2);
      const herald = createHeraldClient({ baseUrl, apiKey });
      const [number] = await herald.connections.list();
      const message = { connection_id: number.id, to: '+15550001234', type: 'text', text: { body: 'Installed.' } };
      const { id } = await herald.messages.send(message);
      console.log((await herald.messages.get(id)).body);`,
    );
    const { stdout } = await run(process.execPath, ['send.mjs', demo.base_url, demo.api_key], { cwd: folder });
    expect(stdout).toBe('Installed.\n');
  });
});

/** Runs requests as Postman does: with variables, keys and the collection's script. */
class Runner {
  private readonly variables: Map<string, string>;
  private readonly remember: (pm: object) => void;

  constructor(
    private readonly collection: Collection,
    given: Readonly<Record<string, string>>,
  ) {
    this.variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
    for (const [key, value] of Object.entries(given)) this.variables.set(key, value);
    const script = collection.event.flatMap((event) => event.script.exec).join('\n');
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what Postman runs
    this.remember = new Function('pm', ...POSTMAN_NAMES, script) as (pm: object) => void;
  }

  private filled(text: string): string {
    return text.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) =>
      name === '$guid' ? randomUUID() : (this.variables.get(name) ?? `{{${name}}}`),
    );
  }

  async send({ method, auth, header, url, body }: PostmanRequest): Promise<{ code: number; text: string }> {
    const filledPath = url.variable.reduce((path, { key, value }) => path.replace(`:${key}`, value), url.raw);
    const target = this.filled(filledPath);
    const headers = new Headers(header.map(({ key, value }) => [key, this.filled(value)]));
    headers.set('authorization', `Bearer ${this.filled((auth ?? this.collection.auth).bearer[0]?.value ?? '')}`);
    const answer = await fetch(target, { method, headers, ...(body && { body: this.bodyOf(body) }) });
    const text = await answer.text();
    this.remember({
      response: { code: answer.status, text: () => text },
      request: { url: { getPath: () => new URL(target).pathname } },
      collectionVariables: { set: (key: string, value: string) => this.variables.set(key, value) },
    });
    return { code: answer.status, text };
  }

  private bodyOf(body: NonNullable<PostmanRequest['body']>): string | FormData {
    if (body.mode === 'raw') return this.filled(body.raw);
    const form = new FormData();
    for (const { key, value, type } of body.formdata) {
      if (type === 'file') form.set(key, new Blob(['Soup, bread, coffee\n'], { type: 'text/plain' }), 'menu.txt');
      else form.set(key, this.filled(value));
    }
    return form;
  }
}

const requestsOf = (items: readonly Item[]): (Item & { request: PostmanRequest })[] =>
  items.flatMap(({ name, request, item = [] }) => [...(request ? [{ name, request }] : []), ...requestsOf(item)]);

describe('the collection', () => {
  let collection: Collection;

  beforeAll(async () => {
    collection = (await (await fetch(`${demo.base_url}/postman.json`)).json()) as Collection;
  });

  it('is one of Postman 2.1, has a request for each operation, and no secret', async () => {
    expect(collection.info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
    const { paths } = (await (await fetch(`${demo.base_url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const addresses = requestsOf(collection.item).map(({ request: { method, url } }) => {
      const path = url.path.map((segment) => segment.replace(/^:(.+)$/, '{$1}'));
      expect(url.raw.split('?')[0]).toBe(`{{address}}/${url.path.join('/')}`);
      return `${method} /${path.join('/')}`;
    });
    expect([...new Set(addresses)].sort()).toEqual(described.sort());
    const text = JSON.stringify(collection);
    expect(text).not.toContain('hrld_');
    expect(collection.variable.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['address', 'api_key', 'otp_key']),
    );
    expect(text).toContain('{"key":"Idempotency-Key","value":"{{$guid}}"');
  });

  it('runs against the demo', async () => {
    const { api_key, otp_sandbox_key } = demo;
    const runner = new Runner(collection, { api_key, otp_key: otp_sandbox_key });
    const all = requestsOf(collection.item).filter(
      ({ name }) => !OUTSIDE_THE_DEMO.some((outside) => name.startsWith(outside)),
    );
    expect(all.length).toBeGreaterThan(60);
    const by = (...methods: string[]) => all.filter(({ request }) => methods.includes(request.method));
    const deliveries = all.filter(({ request }) => request.url.path.at(-1) === 'deliveries');
    const sendAll = async (requests: typeof all): Promise<{ left: typeof all; refused: string[] }> => {
      const left: typeof all = [];
      const refused: string[] = [];
      for (const one of requests) {
        const { code, text } = await runner.send(one.request);
        if (code < 400 || (code === 404 && !isInTheDemo(one.request.url.raw))) continue;
        left.push(one);
        refused.push(`${one.name} ${code}: ${text.slice(0, 200)}`);
      }
      return { left, refused };
    };
    // Makers first. The delivery to replay comes a moment after the event, and its id from the list.
    let { left, refused } = await sendAll([...by('PUT'), ...by('POST'), ...by('GET', 'PATCH')]);
    await waitFor(async () => {
      ({ left, refused } = await sendAll([...deliveries, ...left]));
      return left.length === 0;
    }).catch(() => undefined);
    expect(refused).toEqual([]);
    expect((await sendAll(by('DELETE'))).refused).toEqual([]);
  });
});
