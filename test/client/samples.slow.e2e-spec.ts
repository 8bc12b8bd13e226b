import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyOf, LocalServer, sendJson } from '../support/local-server.js';
import { readProjectFile } from '../support/project-files.js';
import { emit, installClient } from './client-package.js';

/*
 * The samples of the API description are run, in each language against a server that notes what comes: all three make
 * the same request. The examples themselves are held to the description's schemas elsewhere.
 */

interface Sample {
  label: string;
  source: string;
}
interface Document {
  paths: Record<string, Record<string, { operationId: string; 'x-codeSamples'?: Sample[] }>>;
}
interface Noted {
  method: string;
  path: string;
  authorization: string | undefined;
  /** Whether there is one that is a UUID. */
  key: boolean;
  body: unknown;
}

const descriptions = ['openapi.json', 'openapi-admin.json'].map(
  (file) => JSON.parse(readProjectFile(file)) as Document,
);
const all = descriptions.flatMap(({ paths }) => Object.entries(paths));
const operations = all.flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId: id, 'x-codeSamples': samples = [] }]) => ({
    id,
    method: method.toUpperCase(),
    path,
    samples: Object.fromEntries(samples.map(({ label, source }) => [label, source])),
  })),
);

/** The client sends what the description's first example leaves out: the field with its default, or the other value. */
const OTHER_BODY = new Set(['messages_read', 'messages_retry']);
/** The client asks for long pages. */
const OTHER_QUERY = new Set(['events_list', 'eventsAdmin_list']);
const PAGE_END = { next_before: null, next_before_id: null, next_after: null };
const folder = mkdtempSync(join(tmpdir(), 'herald-samples-'));

const missing = ['curl', 'python3'].filter((program) => spawnSync(program, ['--version']).status !== 0);
if (missing.length > 0)
  process.stderr.write(`left out, as ${missing.join(' and ')} is not installed: test/client/samples\n`);

(missing.length > 0 ? describe.skip : describe)('the samples of the API description', () => {
  let server: LocalServer;
  let address: string;
  let noted: Noted[] = [];

  beforeAll(async () => {
    server = await LocalServer.start(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const text = (await bodyOf(request)).toString();
      const isForm = headers['content-type']?.startsWith('multipart/form-data; boundary=') === true;
      noted.push({
        method,
        path: url,
        authorization: headers.authorization,
        key: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(headers['idempotency-key'])),
        body: isForm ? fieldsOf(text) : text === '' ? null : JSON.parse(text),
      });
      sendJson(response, 200, { data: [], pagination: PAGE_END, next: null, done: true });
    });
    address = server.url;
    writeFileSync(join(folder, 'menu.pdf'), '%PDF-1.4 menu');
    installClient(folder);
    const programs = operations.map(({ id, samples }) => [`${id}.mts`, programOf(samples.TypeScript)] as const);
    emit(folder, Object.fromEntries(programs));
  }, 300_000);

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Compiled, a sample that waits for what is no promise but a list of pages is an error. */
  function programOf(source = ''): string {
    const checked = source.includes('const answer =')
      ? '\nexport const isAnAnswer: typeof answer extends AsyncIterable<unknown> ? never : true = true;\n'
      : '\nexport {};\n';
    return local(source) + checked;
  }

  function local(source: string): string {
    return source.replaceAll('https://herald.example', address);
  }

  /** The requests that a sample made. */
  async function requestsOf(program: string, ...args: string[]): Promise<Noted[]> {
    noted = [];
    const env = { ...process.env, HERALD_API_KEY: 'key', HERALD_OTP_KEY: 'otp', HERALD_OPERATOR_KEY: 'operator' };
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    return noted;
  }

  it('are there in three languages, for each operation', () => {
    for (const { id, samples } of operations)
      expect({ id, languages: Object.keys(samples) }).toEqual({ id, languages: ['curl', 'TypeScript', 'Python'] });
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s: curl, Python and the client make the same request',
    async (id, { method, path, samples }) => {
      const [curl, ...more] = await requestsOf('sh', '-c', local(samples.curl ?? ''));
      expect(more).toEqual([]);
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?.+)?$`);
      expect(curl).toMatchObject({ method, path: expect.stringMatching(pattern) as string });
      expect(curl?.authorization).toMatch(/^Bearer (key|otp|operator)$/);
      expect(await requestsOf('python3', '-c', local(samples.Python ?? ''))).toEqual([curl]);
      const typescript = await requestsOf(process.execPath, `${id}.mjs`);
      const wanted = {
        ...curl,
        ...(OTHER_BODY.has(id) && { body: expect.any(Object) as object }),
        ...(OTHER_QUERY.has(id) && { path: expect.stringMatching(pattern) as string }),
      };
      expect(typescript).toEqual([wanted]);
    },
  );
});

/** The names of a form's fields, and what they hold, without their kinds. */
function fieldsOf(form: string): Record<string, string> {
  const fields = [...form.matchAll(/name="(\w+)"[^]*?\r\n\r\n([^]*?)\r\n--/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}
