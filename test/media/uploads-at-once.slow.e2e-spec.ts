import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { textPieces, uploadText } from '../support/rig/upload.js';
import { Factories } from '../support/factories.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';
import { noTemporaryFiles, temporaryFilesOf } from './fixture.js';
import { FUZZ_SCALE } from '../support/runs.js';

const MIB = 1_048_576;
/** As large as a file may be. */
const MAX_BYTES = 32 * MIB;
/** Of the fifty at once; `FUZZ_SCALE=10`: as large as they may be, 1.7 GB in all. */
const FILE_BYTES = FUZZ_SCALE >= 10 ? MAX_BYTES : 8 * MIB;
/** What fifty at once may add, in MiB, into a folder and into S3. */
const FIFTY_MIB = 64;
/** What one adds, the median of nine. With Node's defaults the heap grows by a young generation now and then. */
const ONE_MIB = 8;

interface Demo {
  api_key: string;
  connection_id: string;
}

/** What the process takes more than before, at the most, in MiB. */
interface Growth {
  addedMib: number;
}

function sha256Of(seed: number, bytes: number): string {
  const hash = createHash('sha256');
  for (const piece of textPieces(seed, bytes)) hash.update(piece);
  return hash.digest('hex');
}

describe('large uploads into the real process', () => {
  let database: TestDatabase;
  let herald: HeraldProcess;
  /** Three workspaces: one may not have fifty uploads under way. */
  let uploaders: { apiKey: string; connectionId: string }[];
  const data = temporaryDataDir();

  beforeAll(async () => {
    database = await createTestDatabase();
    herald = await start();
  });

  afterAll(async () => {
    await herald.end();
    await database.drop();
    data.remove();
  });

  async function start(): Promise<HeraldProcess> {
    const started = await HeraldProcess.start({
      DATABASE_URL: database.url,
      DATA_DIR: data.path,
      DEMO: 'true',
      LOG_LEVEL: 'info',
      ROLES: 'api,simulator',
    });
    const demo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8')) as Demo;
    uploaders = [{ apiKey: demo.api_key, connectionId: demo.connection_id }, await uploader(), await uploader()];
    return started;
  }

  async function uploader(): Promise<(typeof uploaders)[number]> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const factories = new Factories({
        execute: async (sql, params) =>
          (await client.query(sql, params === undefined ? [] : [...params])).rowCount ?? 0,
      });
      const { id: organizationId } = await factories.workspace();
      const { text: apiKey } = await factories.apiKey({ organizationId });
      return { apiKey, connectionId: (await factories.connection({ organizationId })).id };
    } finally {
      await client.end();
    }
  }

  /** @param sentBytes of the file that come; the upload has an end only where they are all */
  async function send(
    seed: number,
    bytes = FILE_BYTES,
    sentBytes = bytes,
  ): Promise<{ status: number; sha256: string }> {
    const uploader = {
      baseUrl: herald.ready.base_url ?? '',
      ...(uploaders[seed % uploaders.length] ?? { apiKey: '', connectionId: '' }),
    };
    const { status, text } = await uploadText(uploader, seed, bytes, sentBytes);
    const { data: media } = JSON.parse(text) as { data?: { sha256: string } };
    return { status, sha256: media?.sha256 ?? text };
  }

  /** Resident memory; in MiB. */
  function residentMib(): number {
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${herald.pid}/status`, 'utf8'))?.[1];
    return Number(kib) / 1_024;
  }

  function cpuSeconds(): number {
    const fields = readFileSync(`/proc/${herald.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async function growthDuring(work: () => Promise<unknown>): Promise<Growth> {
    const before = residentMib();
    let highest = before;
    const timer = setInterval(() => (highest = Math.max(highest, residentMib())), 20);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    return { addedMib: Math.round((highest - before) * 10) / 10 };
  }

  const canMeasure = existsSync('/proc/self/status');

  it(`costs at most ${ONE_MIB} MiB for one, ${FIFTY_MIB} MiB for fifty at once, and every byte arrives`, async () => {
    const work = async (seeds: number[], bytes = FILE_BYTES): Promise<void> => {
      const answers = await Promise.all(seeds.map((seed) => send(seed, bytes)));
      expect(answers.map(({ status }) => status)).toEqual(seeds.map(() => 201));
      for (const [at, seed] of seeds.entries()) {
        if (at % 10 === 0) expect(answers[at]?.sha256).toBe(sha256Of(seed, bytes));
      }
    };
    // The first uploads pay for what every process pays once: code, pools, connections.
    for (let seed = 1_000; seed < 1_003; seed++) await work([seed], MAX_BYTES);
    if (!canMeasure) return;
    // The heap of a young process grows by some MiB whenever it likes, so that one upload alone proves little.
    const each: number[] = [];
    for (let seed = 1; seed <= 9; seed++) {
      each.push((await growthDuring(() => work([seed], MAX_BYTES))).addedMib);
    }
    const one = each.toSorted((a, b) => a - b)[4];
    const startedAt = performance.now();
    const cpuBefore = cpuSeconds();
    const fifty = await growthDuring(() => work(Array.from({ length: 50 }, (_, at) => at + 100)));
    const seconds = (performance.now() - startedAt) / 1_000;
    process.stderr.write(
      `an upload of ${MAX_BYTES / MIB} MiB adds ${each.join(', ')} MiB; fifty of ${FILE_BYTES / MIB} MiB at once ${fifty.addedMib} MiB, in ${seconds.toFixed(1)} s (${(cpuSeconds() - cpuBefore).toFixed(1)} s of CPU)\n`,
    );
    expect(one).toBeLessThanOrEqual(ONE_MIB);
    expect(fifty.addedMib).toBeLessThanOrEqual(FIFTY_MIB);
    await noTemporaryFiles(data.path);
  }, 240_000);

  it('a process killed in the middle leaves files that the next one removes', async () => {
    // However long this process rests, the uploads do not end.
    const uploads = [1, 2, 3].map((seed) => send(seed, FILE_BYTES, FILE_BYTES / 2).catch(() => 'cut'));
    await waitFor(async () => (await temporaryFilesOf(data.path)).length > 0, {
      what: 'temporary files',
      everyMs: 2,
    });
    await herald.end('SIGKILL');
    await Promise.all(uploads);
    expect((await temporaryFilesOf(data.path)).length).toBeGreaterThan(0);
    herald = await start();
    await noTemporaryFiles(data.path);
    expect((await send(7)).status).toBe(201);
  }, 120_000);
});
