import { factsOf, retryMessage } from '../../../../test/support/facts.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { acceptedOutcome } from '../../../../test/support/accepted-outcome.js';
import { beside } from '../../../../test/support/beside.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories } from '../../../../test/support/factories.js';
import { newId } from '../../../common/ids.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { statusReport } from '../../../../test/messages/platform-reports.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { newMessage } from '../../../../test/support/new-message.js';
import { runOutLease } from '../../../../test/support/run-out-lease.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { joinLanes } from '../../message-state/join-lanes.service.js';
import { AcceptRepository } from '../../messages/accept/accept.repository.js';
import { MessagesMaintenanceRepository } from '../../messages/maintenance/messages-maintenance.repository.js';
import { applyStatusReports } from '../../messages/reports/status-reports.repository.js';
import { ClaimRepository, type ClaimedMessage } from '../claim/claim.repository.js';
import { SendingSweepsRepository } from '../sweeps/sending-sweeps.repository.js';
import { OutcomeRepository, recordOf, refusal } from './outcome.repository.js';

const OWNER = newId();
// So long that no lease of one test runs out in another, however slow the machine.
const LIMITS = { leaseMs: 3_600_000 };

let opened: OpenTestDatabase;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let lanes: LaneRepository;
let accepts: AcceptRepository;
let outcomes: OutcomeRepository;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  sends = new ClaimRepository(opened.database);
  sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
  lanes = new LaneRepository(opened.database);
  accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
});

afterAll(() => opened.close());

/** Of a number that stands for its workspace too. */
async function queue(connectionId: string, recipient = '111'): Promise<string> {
  const message = newMessage({ id: connectionId, organizationId: connectionId }, recipient);
  return (await accepts.accept(message)).messageId;
}

async function claim(connectionId: string, limit = 10): Promise<ClaimedMessage[]> {
  await lanes.ensure(connectionId);
  return (await claimLane(sends, claimRequest(connectionId, OWNER, limit), LIMITS)).items;
}

async function claimOne(connectionId: string): Promise<ClaimedMessage> {
  const [claimed] = await claim(connectionId);
  if (claimed === undefined) throw new Error('nothing was claimed');
  return claimed;
}

/** The lease of the message's claim. */
async function runOut(id: string) {
  await runOutLease(opened.database, id);
  return sweeps.expireLeases(100);
}

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const rows = await opened.database.query('select * from message_view where id = $1', [id]);
  return rows[0] ?? {};
}

async function attemptsOf(id: string): Promise<Record<string, unknown>[]> {
  return attemptRows(opened.database, id);
}

function retry(connectionId: string, id: string): Promise<boolean> {
  return retryMessage(opened.database, connectionId, id);
}

describe('the next attempt within a lease', () => {
  const refusedOf = (claimed: ClaimedMessage) =>
    acceptedOutcome(claimed, {
      status: 'queued',
      metaMessageId: null,
      httpStatus: 400,
      platformCode: 131063,
      category: 'account_restricted',
    });

  it('closes the attempt before it, keeps lease and tries, and may be asked for twice', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    const { lease_until: lease } = await rowOf(id);
    const next = newId();
    for (let n = 0; n < 2; n++) expect(await outcomes.openNext(refusedOf(claimed), next)).toBe(true);
    expect(await rowOf(id)).toMatchObject({
      status: 'processing',
      attempt_count: 2,
      tries: 0,
      current_attempt_id: next,
      lease_until: lease,
    });
    expect(await attemptsOf(id)).toMatchObject([
      { id: claimed.attemptId, number: 1, status: 'deferred', platform_code: 131063 },
      { id: next, number: 2, status: 'started' },
    ]);
    expect(await claim(lane)).toEqual([]);
    expect(await outcomes.record(acceptedOutcome({ ...claimed, attemptId: next }))).toBe('recorded');
    expect(await rowOf(id)).toMatchObject({ status: 'accepted', attempt_count: 2 });
  });

  it('is not opened where a report has said that an earlier attempt was taken: the message ends by that one', async () => {
    const lane = newId();
    const id = await queue(lane);
    const { database } = opened;
    const first = await claimOne(lane);
    await runOut(id);
    await retryMessage(database, lane, id);
    const retry = await claimOne(lane);
    const report = { id, attemptId: first.attemptId, metaMessageId: `wamid.${first.attemptId}` };
    await database.transaction(() =>
      applyStatusReports([statusReport(lane, report, 'sent')], database, factsOf(database)),
    );
    expect(await rowOf(id)).toMatchObject({ status: 'processing', current_attempt_id: retry.attemptId });
    expect(await outcomes.openNext(refusedOf(retry), newId())).toBe(false);
    expect(await outcomes.record(refusedOf(retry))).toBe('retry_canceled');
    expect(await rowOf(id)).toMatchObject({
      status: 'accepted',
      current_attempt_id: first.attemptId,
      attempt_count: 2,
    });
    expect(await attemptsOf(id)).toMatchObject([
      { number: 1, status: 'accepted' },
      { number: 2, status: 'deferred', platform_code: 131063 },
    ]);
  });

  it('is not opened where such a report is not committed yet', async () => {
    const lane = newId();
    const id = await queue(lane);
    const { database } = opened;
    const first = await claimOne(lane);
    await runOut(id);
    await retry(lane, id);
    const second = await claimOne(lane);
    const report = { id, attemptId: first.attemptId, metaMessageId: `wamid.${first.attemptId}` };
    const opening = beside(
      opened.database,
      () => applyStatusReports([statusReport(lane, report, 'sent')], database, factsOf(database)),
      () => outcomes.openNext(refusedOf(second), newId()),
    );
    expect(await opening).toBe(false);
    expect(await rowOf(id)).toMatchObject({ status: 'processing', current_attempt_id: second.attemptId });
  });

  it('is not opened once the lease has run out', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    await runOut(id);
    expect(await outcomes.openNext(refusedOf(claimed), newId())).toBe(false);
    // Nothing was sent, so that it waits again.
    await outcomes.record(refusedOf(claimed));
    expect(await rowOf(id)).toMatchObject({ status: 'queued', attempt_count: 1 });
  });
});

describe('outcomes', () => {
  it('are fenced by the attempt, and still close it', async () => {
    const lane = newId();
    const id = await queue(lane);
    const old = await claimOne(lane);
    await runOut(id);
    expect(await retryMessage(opened.database, lane, id)).toBe(true);
    const current = await claimOne(lane);
    const refused = acceptedOutcome(old, { status: 'failed', metaMessageId: null });
    expect(await outcomes.record(refused)).toBe('late');
    expect(await rowOf(id)).toMatchObject({ status: 'processing', current_attempt_id: current.attemptId });
    expect(await attemptsOf(id)).toMatchObject([{ status: 'rejected' }, { status: 'started' }]);
    expect(await outcomes.record({ ...refused, attemptId: newId() })).toBe('not_found');
  });

  it('resolve an unknown outcome however late they come', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    expect(await runOut(id)).toEqual([{ organizationId: lane, connectionId: lane }]);
    expect(await rowOf(id)).toMatchObject({ status: 'outcome_unknown', lease_until: null });
    expect(await attemptsOf(id)).toMatchObject([{ status: 'unknown' }]);
    expect(await outcomes.record(acceptedOutcome(claimed))).toBe('recorded');
    expect(await rowOf(id)).toMatchObject({ status: 'accepted', meta_message_id: `wamid.${claimed.attemptId}` });
    expect(await attemptsOf(id)).toMatchObject([{ status: 'accepted' }]);
  });

  it.each([
    { answer: 'accepted', again: 'late', change: {} },
    { answer: 'a refusal', again: 'late', change: { status: 'failed' } },
    { answer: '"not now"', again: 'late', change: { status: 'queued', tries: 1 } },
    // Still unknown: what the attempt comes to may yet be recorded.
    { answer: 'none', again: 'recorded', change: { status: 'outcome_unknown' } },
  ] as const)('that are recorded twice change nothing the second time ($answer)', async ({ again, change }) => {
    const lane = newId();
    const id = await queue(lane);
    const record = acceptedOutcome(await claimOne(lane), change);
    expect(await outcomes.record(record)).toBe('recorded');
    const [row, attempts] = [await rowOf(id), await attemptsOf(id)];
    expect(await outcomes.record(record)).toBe(again);
    expect(await rowOf(id)).toEqual(row);
    expect(await attemptsOf(id)).toMatchObject(attempts.map(({ number, status }) => ({ number, status })));
  });

  it.each([
    { status: 'accepted', attempt: 'accepted' },
    { status: 'failed', attempt: 'rejected' },
    { status: 'queued', attempt: 'deferred' },
    { status: 'outcome_unknown', attempt: 'unknown' },
  ] as const)('of a message that is then $status close its attempt as $attempt', async ({ status, attempt }) => {
    const lane = newId();
    const id = await queue(lane);
    expect(await outcomes.record(acceptedOutcome(await claimOne(lane), { status }))).toBe('recorded');
    expect(await rowOf(id)).toMatchObject({ status });
    expect(await attemptsOf(id)).toMatchObject([{ number: 1, status: attempt }]);
  });

  it('that put messages back make each due at its own time, not sooner', async () => {
    const lane = newId();
    for (let n = 0; n < 10; n++) await queue(lane, `9${n}`);
    const claimed = await claim(lane);
    expect(claimed).toHaveLength(10);
    const putOff = claimed.map((row) => acceptedOutcome(row, { status: 'queued', delayMs: 60_000, tries: 1 }));
    await Promise.all(putOff.map((record) => outcomes.record(record)));
    const [times] = await opened.database.query(
      `select count(*)::integer as rows, count(*) filter (where due_at <> not_before)::integer as differ
       from message_queue where connection_id = $1 and not_before is not null`,
      [lane],
    );
    expect(times).toEqual({ rows: 10, differ: 0 });
  });

  it('that come late and say that it was taken withdraw the retry', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    await runOut(id);
    expect(await retryMessage(opened.database, lane, id)).toBe(true);
    expect(await outcomes.record(acceptedOutcome(claimed))).toBe('retry_canceled');
    expect(await rowOf(id)).toMatchObject({ status: 'accepted', current_attempt_id: claimed.attemptId });
    expect(await claim(lane)).toEqual([]);
  });

  it('that come late and say that it was taken withdraw the retry while two lanes of its contact are joined', async () => {
    const factories = new Factories(opened.database);
    const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
    const { id: conversationId } = await factories.conversation({ connection, phone: null, userId: 'US.1' });
    const message = newMessage(connection, 'US.1', { recipientUserId: 'US.1', conversationId });
    await accepts.accept(message);
    const claimed = await claimOne(connection.id);
    await runOut(message.id);
    await retryMessage(opened.database, connection.organizationId, message.id);
    const recording = beside(
      opened.database,
      async () => {
        await opened.database.execute('update conversation set phone = $2 where id = $1', [conversationId, '15551']);
        await joinLanes([conversationId], opened.database);
      },
      () => outcomes.record(acceptedOutcome(claimed)),
    );
    expect(await recording).toBe('retry_canceled');
    expect(await rowOf(message.id)).toMatchObject({ status: 'accepted', current_attempt_id: claimed.attemptId });
    expect(await claim(connection.id)).toEqual([]);
  });

  it('that come late and put a message back whose contact has another number by now address it to that', async () => {
    const factories = new Factories(opened.database);
    const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
    const { id: conversationId } = await factories.conversation({ connection, phone: '15551' });
    const message = newMessage(connection, '15551', { conversationId });
    await accepts.accept(message);
    const claimed = await claimOne(connection.id);
    await runOut(message.id);
    await opened.database.execute(`update conversation set phone = '15552' where id = $1`, [conversationId]);
    await opened.database.execute(
      `insert into conversation_alias (organization_id, connection_id, conversation_id, name, replaced_at)
       values ($1, $2, $3, '15551', clock_timestamp())`,
      [connection.organizationId, connection.id, conversationId],
    );
    const notNow = { status: 'queued', metaMessageId: null } as const;
    expect(await outcomes.record(acceptedOutcome(claimed, notNow))).toBe('recorded');
    expect(await claim(connection.id)).toMatchObject([{ id: message.id, recipient: '15552' }]);
  });

  it('that come late and put the message back lose none of its tries', async () => {
    const lane = newId();
    const id = await queue(lane);
    const deferred = { ...refusal('rate_limited', 'later'), kind: 'deferred' } as const;
    for (const tries of [1, 2, 3]) {
      const claimed = await claimOne(lane);
      await runOut(id);
      expect(await outcomes.record({ ...recordOf(claimed, deferred), delayMs: 0 })).toBe('recorded');
      expect(await rowOf(id)).toMatchObject({ status: 'queued', tries });
    }
  });

  it('that come late and say "not now" do not put a message back whose contact was erased', async () => {
    const [lane, other] = [newId(), newId()];
    const [id, kept] = [await queue(lane), await queue(other)];
    const [erased, claimed] = [await claimOne(lane), await claimOne(other)];
    await runOut(id);
    await runOut(kept);
    await new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).blank(lane, [id]);
    const notNow = { status: 'queued', metaMessageId: null } as const;
    const records = [erased, claimed].map((each) => outcomes.record(acceptedOutcome(each, notNow)));
    expect(await Promise.all(records)).toEqual(['late', 'recorded']);
    expect([(await rowOf(id)).status, (await rowOf(kept)).status]).toEqual(['outcome_unknown', 'queued']);
    expect(await attemptsOf(id)).toMatchObject([{ status: 'deferred' }]);
  });

  it('that come late restore nothing of a contact that is being erased', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    await runOut(id);
    const recording = beside(
      opened.database,
      () => new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).blank(lane, [id]),
      () => outcomes.record(acceptedOutcome(claimed)),
    );
    expect(await recording).toBe('recorded');
    expect(await rowOf(id)).toMatchObject({ status: 'accepted', meta_message_id: null });
  });

  it('do not undo what a notification proved first', async () => {
    const lane = newId();
    const id = await queue(lane);
    const claimed = await claimOne(lane);
    const report = { id, attemptId: claimed.attemptId, metaMessageId: `wamid.${claimed.attemptId}` };
    const { database } = opened;
    await database.transaction(() =>
      applyStatusReports([statusReport(lane, report, 'delivered')], database, factsOf(database)),
    );
    expect(await outcomes.record(acceptedOutcome(claimed))).toBe('late');
    expect(await rowOf(id)).toMatchObject({ status: 'delivered' });
    expect(await attemptsOf(id)).toMatchObject([{ status: 'accepted', meta_message_id: `wamid.${claimed.attemptId}` }]);
  });

  it('of many messages at once neither deadlock nor get lost', async () => {
    const lane = newId();
    await Promise.all(
      Array.from({ length: 200 }, (_unused, index) => queue(lane, `8${String(index).padStart(3, '0')}`)),
    );
    const claimed: ClaimedMessage[] = [];
    for (let round = 0; round < 5; round++) claimed.push(...(await claim(lane, 64)));
    expect(claimed).toHaveLength(200);
    const other = new OutcomeRepository(opened.database, factsOf(opened.database));
    const results = await Promise.all(
      claimed.flatMap((row, index) => [
        outcomes.record(acceptedOutcome(row)),
        other.record(acceptedOutcome(claimed[199 - index] ?? row)),
      ]),
    );
    expect(results.filter((result) => result === 'recorded')).toHaveLength(200);
  });
});
