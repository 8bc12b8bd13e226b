import { factsOf } from '../../../../test/support/facts.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { reportedAs, statusReport, type Reported } from '../../../../test/messages/platform-reports.js';
import { insertMessage } from '../../../../test/support/message-factory.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { AcceptRepository, type NewMessage } from '../../messages/accept/accept.repository.js';
import { OutcomeRepository, released } from '../outcome/outcome.repository.js';
import { StatusBatches } from '../../../../test/messages/report-batches.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';

const QUERY_TIMEOUT_MS = 1_500;
const SIZE = 40;
const GUILTY = 17;

let opened: OpenTestDatabase;
let foreign: pg.Client;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8, QUERY_TIMEOUT_MS);
  factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
});
afterAll(() => opened.close());

// Another program's transaction, which stays open.
beforeEach(async () => {
  foreign = new pg.Client({ connectionString: opened.url });
  await foreign.connect();
  await foreign.query('begin');
});
afterEach(() => foreign.end());

async function messages(status: 'processing' | 'outcome_unknown' | 'accepted'): Promise<Reported[]> {
  const made = [];
  for (let n = 0; n < SIZE; n++) {
    made.push(reportedAs(await factories.message({ connection, status, recipient: testPhone() })));
  }
  return made;
}

const guiltyOf = <T>(all: readonly T[]): T => all[GUILTY] as T;

/** Resolves once all but the locked one are written, while the lock is held; then the lock is released. */
async function releaseAfterOthers(writes: readonly Promise<unknown>[]): Promise<void> {
  let early = false;
  const guilty = guiltyOf(writes).finally(() => (early = true));
  guilty.catch(() => undefined);
  await Promise.all(writes.filter((_write, index) => index !== GUILTY));
  expect(early).toBe(false);
  await foreign.query('rollback');
}

async function statesOf(made: readonly Reported[]): Promise<unknown[]> {
  const rows = await opened.database.query<{ status: string }>(
    'select distinct status from message_view where id = any($1)',
    [made.map(({ id }) => id)],
  );
  return rows.map(({ status }) => status);
}

it.each([
  ['queue', 'processing'],
  ['state', 'outcome_unknown'],
] as const)(
  'a locked row of message_%s keeps no other outcome waiting, and its own is recorded when the lock is released',
  async (table, status) => {
    const outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
    const made = await messages(status);
    await foreign.query(`select 1 from message_${table} where message_id = $1 for update`, [guiltyOf(made).id]);
    const writes = made.map((attempt) => outcomes.record(released(attempt)));
    await releaseAfterOthers(writes);
    expect(await guiltyOf(writes)).toBe('recorded');
    expect(await statesOf(made)).toEqual(['queued']);
    await outcomes.idle();
  },
);

it('a locked message keeps no report of another one waiting, nor do more reports of it', async () => {
  const statuses = new StatusBatches(opened.database);
  const made = await messages('accepted');
  const guilty = guiltyOf(made);
  await foreign.query('select 1 from message_state where message_id = $1 for update', [guilty.id]);
  const writes = made.map((message) => statuses.apply(statusReport(connection.id, message, 'sent')));
  await Promise.all(writes.filter((_write, index) => index !== GUILTY));
  const more: Promise<unknown>[] = [];
  for (const message of made.filter((one) => one !== guilty).slice(0, 4)) {
    more.push(statuses.apply(statusReport(connection.id, guilty, 'delivered')));
    await statuses.apply(statusReport(connection.id, message, 'delivered'));
  }
  await foreign.query('rollback');
  expect(await guiltyOf(writes)).not.toBeNull();
  await Promise.all(more);
  expect(await statesOf([guilty])).toEqual(['delivered']);
});

it('a key that another transaction is about to use keeps no other message from being accepted', async () => {
  const accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  const { organizationId } = connection;
  const batch = Array.from({ length: SIZE }, (): NewMessage => ({
    id: newId(),
    organizationId,
    connectionId: connection.id,
    conversationId: null,
    type: 'text',
    recipient: testPhone().replace('+', ''),
    sender: connection.phoneNumber,
    body: 'Hello',
    content: { text: 'Hello' },
    clientMessageId: null,
    replyToMessageId: null,
    mediaObjectId: null,
    idempotencyKey: newId(),
    fingerprint: randomBytes(32).toString('hex'),
  }));
  const rows = { execute: async (sql: string, params: unknown[]) => (await foreign.query(sql, params)).rowCount ?? 0 };
  await insertMessage(rows, { connection, idempotencyKey: guiltyOf(batch).idempotencyKey });
  const writes = batch.map((message) => accepts.accept(message));
  await releaseAfterOthers(writes);
  expect(await guiltyOf(writes)).toMatchObject({ kind: 'inserted' });
});
