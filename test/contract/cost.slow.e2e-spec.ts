import fc from 'fast-check';
import { newId } from '../../src/common/ids.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import pg from 'pg';
import { conversationId, seedJournal, userId } from '../support/rig/seed-journal.js';
import { ReadMeter } from '../support/rig/read-meter.js';
import { recipientNumber } from '../support/rig/recipients.js';
import { bytesOf, envelope, WEBHOOK } from '../inbound/fixture.js';
import { FUZZ_SCALE } from '../support/runs.js';
import { changed, pathsOf, type Path } from './fuzz/body-mutations.js';
import { Caller, type Call } from './fuzz/caller.js';
import { Checks } from './fuzz/checks.js';
import { CostMeter } from './fuzz/cost-meter.js';
import { publishedDescription, type Description, type Operation } from './fuzz/description.js';
import { Fuzzer } from './fuzz/fuzzer.js';
import { brokenJson, hostileJson } from '../support/rig/hostile-json.js';
import { Ledger } from './fuzz/ledger.js';
import { BOUNDARY, encode, formOf, type Request } from './fuzz/request.js';
import { startStage, type Stage } from './fuzz/stage.js';

/**
 * No request may cost the process more than a few milliseconds, whatever it holds: one that makes a long error answer,
 * holds the event loop or fills the memory stops all others.
 */
const LIMIT_BYTES = 256 * 1_024 - 8_000;
const NOTIFICATION_BYTES = 3 * 1_024 * 1_024 - 8_000;
const LONG_HEADER = 14_000;
/** Each text is in the place of a whole body, beside its fields, and in one of so many places within. */
const ONE_OF = Math.max(1, Math.ceil(24 / FUZZ_SCALE));
const LONG_MS = 300_000;

let stage: Stage;
let description: Description;
let caller: Caller;
let fuzzer: Fuzzer;
let meter: CostMeter;

beforeAll(async () => {
  stage = await startStage();
  description = publishedDescription();
  caller = new Caller(stage.test.baseUrl, 1);
  fuzzer = new Fuzzer(stage, new Checks(description), caller, new Ledger(), { seed: 1, positive: 0, negative: 0 });
});

beforeEach(() => {
  meter = new CostMeter(caller);
});

afterEach(() => {
  process.stderr.write(`${expect.getState().currentTestName}: ${meter.summary()}\n`);
});

afterAll(async () => {
  caller?.close();
  await stage?.stop();
});

/** A request that is accepted, to be bent; the same each time. */
async function usual(operation: Operation): Promise<Request[]> {
  const made = fc.sample(fuzzer.made(operation), { seed: 7, numRuns: operation.id === 'messages_send' ? 40 : 3 });
  const requests = await Promise.all(made.map((one) => fuzzer.requestOf(operation, one, false)));
  const byShape = new Map(requests.map((request) => [shapeOf(request.body), request]));
  return [...byShape.values()];
}

function shapeOf(body: unknown): string {
  const fields = (body ?? {}) as Record<string, unknown>;
  return typeof fields.type === 'string' ? fields.type : Object.keys(fields).sort().join();
}

const HOSTILE = '@hostile';

/** The hostile text in the place of the whole body, of each of its values, and beside them. */
function placesOf(body: unknown): [string, (text: string) => string][] {
  const paths = pathsOf(body).filter((path) => path.length <= 3);
  const withText = (path: Path): string =>
    JSON.stringify(changed(body, path, (holder, key) => (holder[key] = HOSTILE)));
  return [
    ['the body', (text) => text],
    [
      'beside the others',
      (text) => JSON.stringify({ ...(body as object), zz: HOSTILE }).replace(`"${HOSTILE}"`, () => text),
    ],
    ...paths.map((path): [string, (text: string) => string] => {
      const holder = withText(path);
      return [path.join('.'), (text) => holder.replace(`"${HOSTILE}"`, () => text)];
    }),
  ];
}

const jsonOperations = (): Operation[] =>
  description.operations.filter(({ body }) => body?.type === 'application/json');

describe('the cost of one request', () => {
  it(
    'is bounded, whatever its JSON holds',
    async () => {
      const hostile = hostileJson(LIMIT_BYTES);
      for (const operation of jsonOperations()) {
        for (const [shape, request] of (await usual(operation)).entries()) {
          const call = encode({ ...request, body: {} });
          const send = (name: string, text: string) =>
            meter.measure(`${operation.id} ${name}`, { ...call, body: Buffer.from(text) });
          for (const [index, [place, textFor]] of placesOf(request.body ?? {}).entries()) {
            // The place of a whole body is the same for each form of it.
            const texts =
              index < 2 && shape === 0 ? hostile : hostile.filter((_, turn) => turn % ONE_OF === index % ONE_OF);
            for (const [name, text] of texts) await send(`${place}: ${name}`, textFor(text));
          }
          if (shape > 0) continue;
          for (const [name, text] of brokenJson(LIMIT_BYTES)) await send(name, text);
        }
      }
      expect(meter.tooDear).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'is bounded, whatever its address and headers hold',
    async () => {
      const long = 'k'.repeat(LONG_HEADER);
      const queries = [
        `${long}=1`,
        `limit=${long}`,
        Array.from({ length: 3_000 }, (_, index) => `k${index}`).join('&'),
        Array.from({ length: 800 }, (_, index) => `${'k'.repeat(12)}${index}=%00`).join('&'),
        '%00='.repeat(3_000),
        'limit=%f0%9f'.repeat(1_000),
        'limit=1&'.repeat(1_700),
      ];
      for (const operation of description.operations) {
        const [request] = await usual(operation);
        if (request === undefined) throw new Error(`no request for ${operation.id}`);
        const call = encode(request);
        const path = call.target.split('?', 1)[0] ?? '';
        const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
        const values = names.flatMap((name) => [`${name}=${long}`, `${name}=%00${long}`, `${name}=a&`.repeat(500)]);
        const lastSegment = path.slice(0, path.lastIndexOf('/'));
        const targets = [
          ...[...queries, ...values].map((query) => `${path}?${query}`),
          `${path}/${long}`,
          `${lastSegment}/${long}`,
          `${lastSegment}/${'%00'.repeat(4_000)}`,
          `${lastSegment}/${'%'.repeat(10_000)}`,
          `${path}${'/a'.repeat(7_000)}`,
        ];
        for (const target of targets) await meter.measure(operation.id, { ...call, target });
        for (const name of [
          'x-request-id',
          'idempotency-key',
          'authorization',
          'content-type',
          'accept',
          'range',
          'k',
        ]) {
          for (const value of [long, ' ,;='.repeat(3_000).trim(), `Bearer ${long}`]) {
            await meter.measure(`${operation.id} ${name}`, { ...call, headers: { ...call.headers, [name]: value } });
          }
        }
      }
      expect(meter.tooDear).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'is bounded, whatever its form holds',
    async () => {
      const [request] = await usual(description.operation('media_upload'));
      if (request === undefined) throw new Error('no upload');
      const call = encode(request);
      const file = (request.body as { file: { bytes: Buffer } }).file.bytes;
      const long = 'n'.repeat(LIMIT_BYTES);
      const part = (headers: string, body: Buffer | string = ''): Buffer =>
        Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
      const disposition = 'Content-Disposition: form-data; name=';
      const end = Buffer.from(`--${BOUNDARY}--\r\n`);
      const forms: [string, Buffer][] = [
        ['a long name', formOf([[long, '1']])],
        [
          'long names',
          formOf(Array.from({ length: 500 }, (_, index) => [`${index}${long.slice(0, 500)}`, '1'] as const)),
        ],
        ['many fields', formOf(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, '1'] as const))],
        ['nested names', formOf(Array.from({ length: 8 }, () => [`a${'[a]'.repeat(20)}`, '1'] as const))],
        ['a long value', formOf([['type', long]])],
        ['a long file name', Buffer.concat([part(`${disposition}"file"; filename="${long}"`, file), end])],
        ['a long part header', Buffer.concat([part(`${disposition}"file"; filename="a"\r\nX-A: ${long}`, file), end])],
        ['many part headers', Buffer.concat([part(`${disposition}"file"${'\r\nX-A: 1'.repeat(20_000)}`, file), end])],
        [
          'many parameters',
          Buffer.concat([part(`${disposition}"file"${'; filename*=a%00'.repeat(5_000)}`, file), end]),
        ],
        ['boundaries only', Buffer.from(`--${BOUNDARY}\r\n\r\n`.repeat(8_000))],
        [
          'almost boundaries',
          Buffer.concat([
            part(`${disposition}"file"; filename="a"`, `\r\n--${BOUNDARY.slice(0, -1)}`.repeat(9_000)),
            end,
          ]),
        ],
        ['line breaks', Buffer.from('\r\n'.repeat(100_000))],
        ['dashes', Buffer.from('-'.repeat(LIMIT_BYTES))],
      ];
      for (const [name, body] of forms) await meter.measure(name, { ...call, body });
      for (const type of [
        `multipart/form-data; boundary=${long.slice(0, LONG_HEADER)}`,
        `multipart/form-data${'; a=b'.repeat(2_500)}`,
      ]) {
        await meter.measure('Content-Type', { ...call, headers: { ...call.headers, 'content-type': type } });
      }
      expect(meter.tooDear).toEqual([]);
    },
    LONG_MS,
  );

  it(
    "is bounded, whatever the platform's notification holds",
    async () => {
      const secret = stage.test.config.whatsapp.appSecrets[0] ?? '';
      const connection = stage.own.connection;
      const post = (body: Buffer, signature = signBody(body, secret)): Call => ({
        method: 'POST',
        target: WEBHOOK,
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
        body,
      });
      const text = (body: string): Buffer =>
        bytesOf(
          envelope(connection, {
            contacts: [{ profile: { name: body.slice(0, 1_000) }, wa_id: '15550100001' }],
            messages: [
              { from: '15550100001', id: 'wamid.cost', timestamp: '1700000000', type: 'text', text: { body } },
            ],
          }),
        );
      const all = (size: number) => [...hostileJson(size), ...brokenJson(size)];
      for (const [name, json] of all(NOTIFICATION_BYTES)) {
        const body = Buffer.from(json);
        await meter.measure(`unsigned: ${name}`, post(body, `sha256=${'0'.repeat(64)}`));
        // Only texts come from a customer; what holds them comes from the platform.
        if (name.startsWith('a text')) await meter.measure(`signed: ${name}`, post(body));
      }
      for (const [name, json] of all(LIMIT_BYTES)) await meter.measure(`signed: ${name}`, post(Buffer.from(json)));
      for (const unit of ['\u0000', '\ud800', '\u{1F600}', 'a']) {
        await meter.measure('what a customer wrote', post(text(unit.repeat(65_536))));
      }
      expect(meter.tooDear).toEqual([]);
    },
    LONG_MS,
  );
});

/** COST_ROWS=1000000 for the long form. */
const JOURNAL_ROWS = Number(process.env.COST_ROWS ?? 60_000);
/** A page looks at some thousand messages at the most, in a table and its index. */
const MAX_ROWS = 45_000;

describe('what one read costs the database, however much is in it', () => {
  let rows: ReadMeter;

  beforeAll(async () => {
    const { connection } = stage.own;
    const pool = new pg.Pool({ connectionString: stage.test.databaseUrl, max: 1 });
    await seedJournal(pool, [connection] as never, JOURNAL_ROWS);
    await pool.end();
    rows = new ReadMeter(stage.test, 'rows');
  }, 1_200_000);
  afterAll(() => rows?.close());

  it(
    'is bounded for each route, and for each two and three filters of the journal',
    async () => {
      const filters: [string, string][] = [
        ['client_message_id', 'order-1'],
        ['tag', 'campaign-1'],
        ['media_object_id', newId()],
        ['to', recipientNumber(1)],
        ['from', recipientNumber(2)],
        ['recipient', userId(1)],
        ['conversation_id', conversationId(1)],
        ['connection_id', stage.own.connection.id],
        ['direction', 'outbound'],
        ['status', 'outcome_unknown'],
      ];
      const targets: string[] = [];
      for (let a = 0; a < filters.length; a++) {
        for (let b = a + 1; b < filters.length; b++) {
          for (let c = b; c < filters.length; c++) {
            const chosen = [...new Set([filters[a], filters[b], filters[c]])] as [string, string][];
            targets.push(`/api/v1/messages?${new URLSearchParams([...chosen, ['limit', '100']]).toString()}`);
          }
        }
      }
      const headers = { authorization: `Bearer ${stage.own.key}` };
      for (const operation of description.operations) {
        if (operation.method.toUpperCase() !== 'GET') continue;
        const [request] = await usual(operation);
        if (request !== undefined) targets.push(encode(request).target);
      }
      const dear: string[] = [];
      for (const target of targets) {
        const read = await rows.measure(MAX_ROWS, () => caller.send({ method: 'GET', target, headers }));
        if (read > MAX_ROWS) dear.push(`${target}: ${read} rows`);
      }
      expect(targets.length).toBeGreaterThan(90);
      expect(dear).toEqual([]);
    },
    LONG_MS,
  );
});
