import { factsOf } from '../../../../test/support/facts.js';
import { acceptedOutcome } from '../../../../test/support/accepted-outcome.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { newId } from '../../../common/ids.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import {
  OWNER,
  LIMITS,
  opened,
  sends,
  outcomes,
  queue,
  newConnection,
  claim,
} from '../../../../test/support/fixtures/claim.js';
import { CLAIM, claimParams } from './claim.repository.js';

interface Heads {
  recipients: number;
  /** SQL of the time from which they count as queued. */
  queuedAt: string;
  /** SQL; default: due since they were accepted. */
  nextAttemptAt?: string;
  /** Messages behind each head, due at once. */
  followers?: number;
}

/** Messages to as many recipients, whose numbers are in front of `9...`. */
async function crowd(connectionId: string, heads: Heads): Promise<void> {
  const insert = (queuedAt: string, nextAttemptAt: string, copies: number) =>
    opened.database.execute(
      `with made as (
         insert into message (id, organization_id, connection_id, direction, type, recipient, created_at)
         select gen_random_uuid(), $1, $1, 'outbound', 'text', '1' || lpad(n::text, 8, '0'), ${queuedAt}
         from generate_series(1, $2::integer) as n, generate_series(1, $3::integer)
         returning *), stated as (
         insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
         select id, organization_id, connection_id, created_at, created_at from made)
       insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, due_at, expires_at)
       select connection_id, created_at, id, organization_id, recipient, created_at, ${nextAttemptAt},
         created_at + interval '1 day' from made`,
      [connectionId, heads.recipients, copies],
    );
  await insert(heads.queuedAt, heads.nextAttemptAt ?? 'null', 1);
  if (heads.followers !== undefined) await insert('clock_timestamp()', 'null', heads.followers);
  await opened.database.execute('analyze message_queue');
}

/** The statement of a claim, which others may share, in the ambient transaction. */
function claimAlone(lane: string, limit: number): Promise<unknown> {
  const params = claimParams([claimRequest(lane, OWNER, limit)], [newId()], LIMITS.leaseMs);
  return opened.database.byIndex(() => opened.database.query(CLAIM, params));
}

describe('claiming', () => {
  it('reads a few rows of 20,000 messages to one recipient, in flight or not', async () => {
    const lane = newId();
    await crowd(lane, { recipients: 1, queuedAt: 'clock_timestamp()', followers: 20_000 });
    const [head] = await claim(lane);
    if (head === undefined) throw new Error('nothing was claimed');
    const claimAgain = () => claimAlone(lane, 32);
    expect(await rowsRead(opened.database, 'message_queue', claimAgain)).toBeLessThan(200);
    const failed = { kind: 'answer', ...acceptedOutcome(head, { status: 'failed' }) } as const;
    const settle = () => factsOf(opened.database).applyNow([failed]);
    expect(await rowsRead(opened.database, 'message_queue', settle)).toBeLessThan(200);
    expect(await rowsRead(opened.database, 'message_queue', claimAgain)).toBeLessThan(200);
  });
});

describe('claiming behind recipients that are not to be served', () => {
  const NOW = 'clock_timestamp()';
  const A_MINUTE_AGO = "clock_timestamp() - interval '1 minute'";
  const OVER_A_DAY_AGO = "clock_timestamp() - interval '25 hours'";
  const LATER = "clock_timestamp() + interval '1 hour'";
  const DUE = Array.from({ length: 20 }, (_unused, index) => `9${String(index).padStart(3, '0')}`);

  /** Claims until nothing comes any more, as a drain does. */
  async function drain(lane: string): Promise<string[]> {
    const recipients: string[] = [];
    for (;;) {
      const rows = await claim(lane, 64);
      if (rows.length === 0) return recipients.sort();
      for (const row of rows) await outcomes.record(acceptedOutcome(row));
      recipients.push(...rows.map((row) => row.recipient));
    }
  }

  it.each<[string, Heads]>([
    ['deferred ones', { recipients: 10_000, queuedAt: NOW, nextAttemptAt: LATER }],
    ['deferred ones with more behind', { recipients: 10_000, queuedAt: NOW, nextAttemptAt: LATER, followers: 1 }],
    ['expired ones', { recipients: 10_000, queuedAt: OVER_A_DAY_AGO }],
    ['expired ones that were deferred', { recipients: 10_000, queuedAt: OVER_A_DAY_AGO, nextAttemptAt: NOW }],
    [
      'expired ones with more behind',
      { recipients: 10_000, queuedAt: OVER_A_DAY_AGO, nextAttemptAt: NOW, followers: 1 },
    ],
  ])('finds those that are due behind %s', async (_name, heads) => {
    const lane = newId();
    await queue(lane, ...DUE);
    await crowd(lane, heads);
    expect(await drain(lane)).toEqual(DUE);
  });

  it('reads a few rows of 10,000 deferred recipients where little else is due', async () => {
    const lane = await newConnection('connected');
    await queue(lane, ...DUE);
    await crowd(lane, { recipients: 10_000, queuedAt: A_MINUTE_AGO, nextAttemptAt: LATER });
    await claim(lane, 10);
    await sends.dueConnections.moveMarks();
    const claimAgain = () => claimAlone(lane, 64);
    expect(await rowsRead(opened.database, 'message_queue', claimAgain)).toBeLessThan(500);
    expect(await rowsRead(opened.database, 'message_queue', claimAgain)).toBeLessThan(500);
  });
});
