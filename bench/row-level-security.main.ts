import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { newId } from '../src/common/ids.js';
import { AcceptRepository, type NewMessage } from '../src/modules/messages/accept/accept.repository.js';
import { JournalRepository, UNFILTERED } from '../src/modules/messages/journal/journal.repository.js';
import { SendRepository } from '../src/modules/messages/send/send.repository.js';
import { dataSourceOptions, migrate } from '../src/infrastructure/database/data-source.js';
import { Database } from '../src/infrastructure/database/database.js';
import { machineBusy } from './rig/machine-busy.js';
import { BenchPostgres } from './rig/postgres.js';
import { Scope } from './rig/scope.js';
import { seedJournal } from './rig/seed-journal.js';
import { closeOnSignal, progress } from './rig/session.js';
import { Workspaces, type SeededWorkspace } from './rig/workspace.js';

// What row-level security would cost the three hottest statements: node scripts/row-level-security.mjs
// The application's own repositories run them, under three roles in turn:
//   none      the owner of the tables, as Herald runs today
//   policy    another role, under a policy by app.workspace, which the session has set once: the policy's price alone
//   per call  the same, and app.workspace set for each call in a transaction of its own, as a pool would have to

const MESSAGES = 300_000;
const QUEUED = 20_000;
const ROUNDS = 9;
const PAGES = 40;
const ACCEPTS = 500;
const CLAIMS = 20;

type Way = 'none' | 'policy' | 'per call';
const WAYS: readonly Way[] = ['none', 'policy', 'per call'];

interface Stage {
  workspace: SeededWorkspace;
  databases: Record<Way, Database>;
}

async function main(scope: Scope): Promise<void> {
  const stage = await prepare(scope);
  const times = new Map<string, number[]>();
  const note = (what: string, way: Way, ms: number): void => {
    const key = `${what}|${way}`;
    times.set(key, [...(times.get(key) ?? []), ms]);
  };
  for (let round = 0; round <= ROUNDS; round++) {
    // In turn, so that whatever else the machine does meets all of them alike; the first round only warms up.
    for (const way of WAYS) {
      for (const [what, work] of Object.entries(MEASURED)) {
        const ms = await work(stage, way);
        if (round > 0) note(what, way, ms);
      }
    }
    progress(`round ${round} of ${ROUNDS}`);
  }
  process.stdout.write(
    `median of ${ROUNDS} rounds, milliseconds (machine busy before: ${Math.round((await machineBusy()) * 100)} %)\n`,
  );
  for (const what of Object.keys(MEASURED)) {
    const medians = WAYS.map((way) => median(times.get(`${what}|${way}`) ?? []));
    const cells = medians.map((ms, at) => `${WAYS[at]} ${ms.toFixed(3)} (x ${(ms / (medians[0] ?? 1)).toFixed(2)})`);
    process.stdout.write(`${what.padEnd(44)} ${cells.join('   ')}\n`);
  }
}

const MEASURED: Record<string, (stage: Stage, way: Way) => Promise<number>> = {
  'journal page of 50, a page': journalPage,
  'accept, batches of up to 250, a message': accept,
  'claim of 64, a claim': claim,
};

async function journalPage({ workspace, databases }: Stage, way: Way): Promise<number> {
  const database = databases[way];
  const journal = new JournalRepository(database);
  const page = (n: number) =>
    journal.page({
      organizationId: workspace.organizationId,
      ...UNFILTERED,
      before: new Date(Date.now() - n * 100_000),
      limit: 50,
    });
  const startedAt = performance.now();
  for (let n = 0; n < PAGES; n++) await asWorkspace(database, way, workspace, () => page(n));
  return (performance.now() - startedAt) / PAGES;
}

/** One workspace's messages: with the policy a batch of several workspaces could not be written at all. */
async function accept({ workspace, databases }: Stage, way: Way): Promise<number> {
  const database = databases[way];
  const [connection] = workspace.connections;
  const message = (): NewMessage => ({
    id: newId(),
    organizationId: workspace.organizationId,
    connectionId: connection?.id ?? '',
    conversationId: null,
    type: 'text',
    recipient: '4915200000001',
    sender: '4930000001',
    body: 'Hello, your order is on its way.',
    content: { body: 'Hello, your order is on its way.', preview_url: false },
    clientMessageId: null,
    replyToMessageId: null,
    mediaObjectId: null,
    idempotencyKey: randomUUID(),
    fingerprint: randomBytes(32).toString('hex'),
  });
  const accepts = new AcceptRepository(database);
  const messages = Array.from({ length: ACCEPTS }, message);
  const startedAt = performance.now();
  await Promise.all(messages.map((one) => accepts.accept(one)));
  const ms = (performance.now() - startedAt) / ACCEPTS;
  for (const [table, id] of [
    ['message_queue', 'message_id'],
    ['message_content', 'message_id'],
    ['message', 'id'],
  ]) {
    await databases.none.execute(`delete from ${table} where ${id} = any($1::uuid[])`, [messages.map((one) => one.id)]);
  }
  return ms;
}

async function claim({ workspace, databases }: Stage, way: Way): Promise<number> {
  const database = databases[way];
  const connectionId = workspace.connections[1]?.id ?? '';
  const sends = new SendRepository(database);
  const owner = newId();
  await databases.none.execute('insert into lane (key) values ($1) on conflict do nothing', [connectionId]);
  const pace = { ratePerSecond: 100_000, burstSeconds: 1 };
  const request = { laneKey: connectionId, owner, limit: 64, pace, inHandSeconds: 1 };
  let ms = 0;
  for (let n = 0; n < CLAIMS; n++) {
    const startedAt = performance.now();
    const { items: claimed } = await asWorkspace(database, way, workspace, () =>
      sends.claim(connectionId, request, { ttlHours: 24, leaseMs: 20_000 }),
    );
    ms += performance.now() - startedAt;
    if (claimed.length !== 64) throw new Error(`${claimed.length} messages were claimed by "${way}"`);
    await databases.none.execute(
      `update message_queue set attempt_id = null, attempt_number = 0, claimed_at = null, lease_until = null
       where connection_id = $1 and message_id = any($2::uuid[])`,
      [connectionId, claimed.map(({ id }) => id)],
    );
  }
  return ms / CLAIMS;
}

function asWorkspace<T>(database: Database, way: Way, workspace: SeededWorkspace, work: () => Promise<T>): Promise<T> {
  if (way !== 'per call') return work();
  return database.transaction(async () => {
    await database.query(`select set_config('app.workspace', $1, true)`, [workspace.organizationId]);
    return work();
  });
}

async function prepare(scope: Scope): Promise<Stage> {
  progress('PostgreSQL starts');
  const postgres = await BenchPostgres.start(scope);
  await migrate(postgres.url);
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  scope.defer(() => pool.end());
  const workspaces = new Workspaces(pool);
  const workspace = await workspaces.create(2);
  const stranger = await workspaces.create(1);
  progress(`${MESSAGES} messages`);
  await seedJournal(pool, [...workspace.connections.slice(0, 1), ...stranger.connections], MESSAGES);
  for (const table of ['message', 'message_state']) {
    await pool.query(`update ${table} set organization_id = $1 where connection_id = $2`, [
      stranger.organizationId,
      stranger.connections[0]?.id,
    ]);
  }
  await pool.query(
    `with made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender, created_at)
       select gen_random_uuid(), $1, $2, 'outbound', 'text', '49152' || lpad(n::text, 8, '0'), '4930000001', now()
       from generate_series(1, $3::integer) as n returning *
     ), contents as (
       insert into message_content (message_id, body, content) select id, 'Hello', '{"body": "Hello"}' from made
     )
     insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at)
     select connection_id, created_at, id, organization_id, recipient, created_at from made`,
    [workspace.organizationId, workspace.connections[1]?.id, QUEUED],
  );
  const password = randomBytes(16).toString('hex');
  for (const table of ['message', 'message_queue', 'message_state', 'message_attempt', 'conversation']) {
    await pool.query(`alter table ${table} enable row level security`);
    await pool.query(
      `create policy of_workspace on ${table} using (organization_id = current_setting('app.workspace')::uuid)`,
    );
  }
  await pool.query(`create role application login password '${password}'`);
  await pool.query('grant select, insert, update, delete on all tables in schema public to application');
  await pool.query('grant usage on all sequences in schema public to application');
  await pool.query(`alter role application set app.workspace = '${workspace.organizationId}'`);
  await pool.query('vacuum analyze');
  const url = new URL(postgres.url);
  url.username = 'application';
  url.password = password;
  const open = async (address: string): Promise<Database> => {
    const source = new DataSource(dataSourceOptions({ url: address, poolSize: 2, queryTimeoutMs: 60_000 }));
    await source.initialize();
    scope.defer(() => source.destroy());
    return new Database(source);
  };
  const databases = { none: await open(postgres.url), policy: await open(url.href), 'per call': await open(url.href) };
  const seen = await databases.policy.query<{ count: number }>(
    'select count(distinct organization_id)::integer as count from message',
  );
  if (seen[0]?.count !== 1) throw new Error('the policy does not hold: the figures would mean nothing');
  return { workspace, databases };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const scope = new Scope();
closeOnSignal(scope);
try {
  await main(scope);
} finally {
  await scope.close();
}
