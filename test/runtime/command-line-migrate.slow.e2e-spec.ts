import { migrations } from '../../migrations/all.js';
import { released } from '../../migrations/released.js';
import { lastOfReleases } from '../../src/infrastructure/database/migration-plan.js';
import { LISTENER } from '../../src/infrastructure/database/running-processes.js';
import pg from 'pg';
import { runHerald } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { makeNextRelease, type Program } from '../support/rig/next-release.js';
import { Scope } from '../support/rig/scope.js';
import { rowsOf, schemaOf } from '../support/schema-of.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';

const NEWEST = migrations.at(-1)?.name ?? '';
const [RELEASE = '', LAST = ''] = [...lastOfReleases].at(0) ?? [];

let scope: Scope;
let database: TestDatabase;
let next: Program;

beforeAll(async () => {
  scope = new Scope();
  database = await createEmptyDatabase();
  next = makeNextRelease(scope, [], ROOT);
});

afterAll(async () => {
  await scope.close();
  await database.drop();
});

const run = (words: string, program?: string) =>
  runHerald(['migrate', ...words.split(' ').filter(Boolean)], { DATABASE_URL: database.url }, '', program);
/** With the command of a release that has a migration more. */
const runNext = (words: string) => run(words, next.cli);

interface Status {
  migrations: {
    name: string;
    release: string | null;
    state: string;
    steps: number;
    done: number;
    ran_at: string | null;
  }[];
  connected: Record<string, number>;
}

async function status(program?: string): Promise<Status> {
  const { stdout, stderr } = await run('--status --json', program);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Status;
}

it('lists what did not run yet, and changes nothing', async () => {
  const { migrations: rows, connected } = await status();
  expect(rows.map(({ name }) => name)).toEqual(migrations.map(({ name }) => name));
  expect(rows.every(({ state, ran_at: at }) => state === 'missing' && at === null)).toBe(true);
  expect(connected).toEqual({});
  const dry = await run('--dry-run');
  expect(dry).toMatchObject({ code: 0, stderr: '' });
  expect(dry.stdout.trim().split('\n')).toHaveLength(migrations.length);
  expect(dry.stdout).toContain(`Would run ${NEWEST}.`);
  expect(await schemaOf(database.url)).toEqual([]);
});

it('goes to the schema of a release, and from there to the newest', async () => {
  expect(await run(`--to ${RELEASE}`)).toMatchObject({ code: 0, stderr: '' });
  const rows = (await status()).migrations;
  const last = Object.keys(released[RELEASE] ?? {}).length;
  expect(rows.slice(0, last).every(({ state, release }) => state === 'ran' && release === RELEASE)).toBe(true);
  expect(rows.slice(last).every(({ state, release }) => state === 'missing' && release === null)).toBe(true);
  expect((await run('')).code).toBe(0);
  expect((await run('')).stdout).toBe('The schema is up to date.\n');
});

it('does not go below the oldest release, whatever is asked', async () => {
  await run(`--to ${RELEASE} --yes`);
  const before = await schemaOf(database.url);
  for (const words of ['--down --yes', '--to Keys1770100000000 --yes', '--to 1770100000000-keys --dry-run']) {
    const { code, stderr } = await run(words);
    expect([words, code]).toEqual([words, 1]);
    expect(stderr).toContain(`there is no way back beyond ${LAST}`);
  }
  expect((await run('--to Nothing1770100000001')).stderr).toContain('there is no migration Nothing1770100000001');
  expect((await run('--status --down')).code).toBe(2);
  expect(await schemaOf(database.url)).toEqual(before);
  await run('');
});

describe('of a later release', () => {
  beforeAll(async () => {
    await rowsOf(database.url, `insert into organization (id, name) values (gen_random_uuid(), 'Acme')`);
    const { code, stderr } = await runNext('');
    expect(code).toBe(0);
    // What takes long is said as it begins.
    expect(stderr).toContain('step 4 of 4: create index concurrently message_next_release');
    await rowsOf(
      database.url,
      `insert into next_release select gen_random_uuid(), id from organization, generate_series(1, 3)`,
    );
  });

  it('is seen by the release before, which does not revert it', async () => {
    expect((await status()).migrations.at(-1)).toMatchObject({ name: next.newest, state: 'of a later release' });
    const { code, stderr } = await run('--down --yes');
    expect(code).toBe(1);
    expect(stderr).toContain(`${next.newest} ran there, of a release after this one`);
  });

  it('says what is lost, and does nothing without a yes', async () => {
    const before = await schemaOf(database.url);
    const dry = await runNext('--down --dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain(`Would revert ${next.newest}.\n`);
    expect(dry.stdout).toContain(`lost: ${next.newest}: table next_release with 3 rows\n`);
    expect(dry.stdout).toContain('column message.next_release, which has a value in 0 rows');
    const { code, stderr } = await runNext('--down');
    expect(code).toBe(1);
    expect(stderr).toContain('table next_release with 3 rows');
    expect(stderr).toContain('repeat the command with --yes');
    expect(await schemaOf(database.url)).toEqual(before);
  });

  it('is not reverted under a process that knows it', async () => {
    const client = new pg.Client({
      connectionString: database.url,
      application_name: `${LISTENER} 9.9.9 9999999999999`,
    });
    await client.connect();
    try {
      expect((await status(next.cli)).connected).toEqual({ '9.9.9': 1 });
      const { code, stderr } = await runNext('--down --yes');
      expect(code).toBe(1);
      expect(stderr).toContain(`${next.newest} is in use by processes that are connected (1 of 9.9.9)`);
    } finally {
      await client.end();
    }
  });

  it('is reverted: the schema is that of the release before', async () => {
    const taken = await runNext('--down --yes --json');
    expect(JSON.parse(taken.stdout)).toEqual({ migrations: [], reverted: [next.newest] });
    expect((await status()).migrations.at(-1)).toMatchObject({ name: NEWEST, state: 'ran' });
    expect((await run('')).stdout).toBe('The schema is up to date.\n');
    const tables = await rowsOf(database.url, `select from pg_class where relname like '%next_release%'`);
    expect(tables).toEqual([]);
  });
});
