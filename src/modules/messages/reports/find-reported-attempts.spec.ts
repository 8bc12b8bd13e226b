import pg from 'pg';
import { newId } from '../../../common/ids.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { reportedAs, secondsAgo, statusReport, type Reported } from '../../../../test/messages/platform-reports.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import type { MessageStatus } from '../message/message-state.js';
import type { StatusReport } from '../messages.types.js';
import { findReportedAttempts } from './find-reported-attempts.js';

let opened: OpenTestDatabase;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
});

afterAll(() => opened.close());

async function make(status: MessageStatus): Promise<Reported> {
  return reportedAs(await factories.message({ connection, status, recipient: testPhone(), createdAt: secondsAgo(60) }));
}

const report = (made: Reported, change?: Partial<StatusReport>) =>
  statusReport(connection.id, made, 'delivered', change);

/** An attempt of the message in `message_attempt`, before the one in its row. */
async function addOther({ id }: Reported, metaMessageId: string): Promise<string> {
  const attemptId = newId();
  await opened.database.execute(
    `insert into message_attempt (id, organization_id, message_id, number, status, started_at, meta_message_id)
     values ($1, $2, $3, 0, 'accepted', clock_timestamp() - interval '1 minute', $4)`,
    [attemptId, connection.organizationId, id, metaMessageId],
  );
  return attemptId;
}

/** What each report is about: the ids of message and attempt. */
function find(...reports: StatusReport[]): Promise<([string, string] | null)[]> {
  const { database } = opened;
  return database.transaction(async () => {
    const found = await findReportedAttempts(reports, database);
    return reports.map((each) => {
      const target = found.attemptFor(each);
      return target && [target.message.id, target.attempt.id];
    });
  });
}

describe('the attempt of a report', () => {
  it('is found by the ids that were sent along, whatever their spelling', async () => {
    const made = await make('accepted');
    const callbackData = `${made.id}.${made.attemptId}`.toUpperCase();
    const found = await find(report(made, { callbackData, metaMessageId: 'wamid.another' }));
    expect(found).toEqual([[made.id, made.attemptId]]);
  });

  it.each([[null], ['not-an-attempt'], [newId()], [`${newId()}.${newId()}`], ['a.b.c']])(
    'is found by WhatsApp’s id where the callback data is %s',
    async (callbackData) => {
      const made = await make('accepted');
      expect(await find(report(made, { callbackData }))).toEqual([[made.id, made.attemptId]]);
    },
  );

  it('is found by WhatsApp’s id alone beside a report in its batch whose ids lead nowhere', async () => {
    const made = await make('accepted');
    const foreign = report(made, { callbackData: `${newId()}.${newId()}`, metaMessageId: 'wamid.foreign' });
    expect(await find(foreign, report(made, { callbackData: null }))).toEqual([null, [made.id, made.attemptId]]);
  });

  it.each(['queued', 'processing', 'outcome_unknown'] as const)(
    'is found in the history of a message %s, by either id',
    async (status) => {
      const made = await make(status);
      const metaMessageId = `wamid.${newId()}`;
      const attemptId = await addOther(made, metaMessageId);
      const other = { ...made, attemptId, metaMessageId };
      expect(await find(report(other), report(other, { callbackData: null }))).toEqual([
        [made.id, attemptId],
        [made.id, attemptId],
      ]);
    },
  );

  it('is the one that has WhatsApp’s id, not the one in the row of a message which took that id over', async () => {
    const made = await make('delivered');
    const attemptId = await addOther(made, made.metaMessageId);
    expect(await find(report(made, { callbackData: null }))).toEqual([[made.id, attemptId]]);
  });

  it('is not found for another connection, by neither id', async () => {
    const made = await make('accepted');
    for (const callbackData of [`${made.id}.${made.attemptId}`, null]) {
      expect(await find(report(made, { callbackData, connectionId: newId() }))).toEqual([null]);
    }
  });

  it('is not found where message or attempt is another one’s', async () => {
    const [made, another] = [await make('accepted'), await make('accepted')];
    const mixed = report({ id: made.id, attemptId: another.attemptId, metaMessageId: 'wamid.mixed' });
    const stranger = report({ id: newId(), attemptId: newId(), metaMessageId: 'wamid.stranger' });
    expect(await find(mixed, stranger)).toEqual([null, null]);
  });

  it.each(['accepted', 'outcome_unknown'] as const)(
    'is found where its message became %s while the lock was waited for',
    async (status) => {
      const made = await make('processing');
      const holder = new pg.Client({ connectionString: opened.url });
      await holder.connect();
      try {
        await holder.query('begin');
        await holder.query('delete from message_queue where message_id = $1', [made.id]);
        await holder.query(
          `insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count,
             queued_at, processing_at, attempt_id, attempt_number, attempt_status)
           select id, organization_id, connection_id, created_at, $2, 1, created_at, created_at, $3, 1, null
           from message where id = $1`,
          [made.id, status, made.attemptId],
        );
        const found = find(report(made));
        await waitFor(
          async () =>
            (await holder.query('select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))'))
              .rows.length > 0,
          { what: 'a report that waits for the row' },
        );
        await holder.query('commit');
        expect(await found).toEqual([[made.id, made.attemptId]]);
      } finally {
        await holder.end();
      }
    },
  );
});
