import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../docs/markdown.js';
import { LocalServer } from '../support/local-server.js';
import { compile, installClient } from './client-package.js';

/*
 * The client as a package: what its page shows compiles in a strict project, as an ES module and as CommonJS, and both
 * kinds of module run.
 */

const PAGE = 'clients/typescript/README.md';
const folder = mkdtempSync(join(tmpdir(), 'herald-client-'));

/** What the samples take from the reader's program, or from a sample above. */
const GIVEN: Readonly<Record<string, string>> = {
  herald: 'HeraldClient',
  number: 'Connection',
  message: 'SendMessage',
  to: 'string',
  baseUrl: 'string',
  order: '{ messageKey: string }',
  typedByTheUser: 'string',
  sendTemplateInstead: '(closedAt: unknown) => Promise<void>',
  store: '(event: unknown) => Promise<void>',
  storedCursor: '() => Promise<string>',
  handle: '(event: unknown, cursor: string) => Promise<void>',
};

/** One sample as a program: imports first, then the reader's own names, then the rest in a function, for its `await`. */
function programOf(sample: string): string {
  const imports = [...sample.matchAll(/^import .*$/gm)].map(([line]) => line);
  const body = sample.replaceAll(/^import .*$\n?/gm, '');
  const given = Object.entries(GIVEN).filter(([name]) => !new RegExp(`const (\\[|\\{ )?${name}\\b`).test(body));
  return [
    "import type { Connection, HeraldClient, SendMessage } from '@herald/client';",
    "import { createHeraldClient } from '@herald/client';",
    ...imports.map((line) => line.replace('{ createHeraldClient }', '{}')),
    ...given.map(([name, type]) => `declare const ${name}: ${type};`),
    `export async function sample() {\n${body}}`,
    'export const used: [Connection?, SendMessage?, HeraldClient?, unknown?] = [undefined, undefined, undefined, createHeraldClient];',
    '',
  ].join('\n');
}

beforeAll(() => installClient(folder));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('what its page shows compiles in a strict project, as an ES module and as CommonJS', () => {
  const samples = blocksOf(PAGE).filter(({ language }) => language === 'ts');
  expect(samples.length).toBeGreaterThan(8);
  const files = samples.flatMap(({ line, text }) =>
    ['mts', 'cts'].map((kind) => [`line-${line}.${kind}`, programOf(text)] as const),
  );
  compile(folder, Object.fromEntries(files));
});

it('a sample that leaves out a check does not compile', () => {
  const careless = 'export const f = async (herald: HeraldClient) => (await herald.connections.list())[0].id;\n';
  const text = `import type { HeraldClient } from '@herald/client';\n${careless}`;
  expect(() => compile(folder, { 'careless.mts': text })).toThrow(/possibly 'undefined'/);
});

describe('a program', () => {
  let server: LocalServer;
  let answer: RequestListener;

  beforeEach(async () => {
    server = await LocalServer.start((request, response) => answer(request, response));
  });

  afterEach(() => server.stop());

  const USE = `createHeraldClient({ baseUrl: 'http://127.0.0.1:' + process.argv[2], apiKey: 'k', maxAttempts: 1 })
  .connections.list().then(() => console.log('listed'), (error) => console.log(isHeraldError(error, 'API_KEY_INVALID')));`;

  it.each([
    ['ES module', 'app.mjs', `import { createHeraldClient, isHeraldError } from '@herald/client';\n${USE}`],
    ['CommonJS', 'app.cjs', `const { createHeraldClient, isHeraldError } = require('@herald/client');\n${USE}`],
  ])('that is an %s loads the client, without a word of Node, and tells its errors', async (_kind, name, text) => {
    answer = (_request, response) => {
      const error = { code: 'API_KEY_INVALID', message: 'm', request_id: 'r', doc_url: 'd' };
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    };
    writeFileSync(join(folder, name), text);
    const child = spawn(process.execPath, [name, String(server.port)], { cwd: folder });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (printed += data.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    expect(printed).toBe('true\n');
  });
});
