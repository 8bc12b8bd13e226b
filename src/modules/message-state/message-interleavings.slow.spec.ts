import { factsOf, cancelMessage, retryMessage } from '../../../test/support/facts.js';
import fc from 'fast-check';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { LIMITED } from '../../../test/support/limits.js';
import { newMessage } from '../../../test/support/new-message.js';
import { FUZZ_SCALE, FUZZ_SEED, runs } from '../../../test/support/runs.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { listenFor } from '../../../test/support/webhook-events.js';
import { statusReport } from '../../../test/messages/platform-reports.js';
import { newId } from '../../common/ids.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { joinLanes } from './join-lanes.service.js';
import { ClaimRepository } from '../sending/claim/claim.repository.js';
import { OutcomeRepository, released } from '../sending/outcome/outcome.repository.js';
import type { OutcomeRecord } from './facts.types.js';
import { SendingSweepsRepository } from '../sending/sweeps/sending-sweeps.repository.js';
import { TagCountsRepository } from '../tags/tag-counts.repository.js';
import { TagsRepository } from '../tags/tags.repository.js';
import type { TagPart } from '../tags/tags.types.js';
import { AcceptRepository } from '../messages/accept/accept.repository.js';
import { applyStatusReports } from '../messages/reports/status-reports.repository.js';
import { ScheduleRepository } from '../messages/schedule/schedule.repository.js';
import { isInQueue, legalMoves, statesThatTake, type OutboundStatus } from './message-state.types.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const TAG = 'sale';
const USER_ID = 'US.1';
const NUMBERS = ['15550', '15551'] as const;
const RETRYABLE = [...new Set([...statesThatTake('retry'), ...statesThatTake('retry_confirmed')])];
const LEGAL = new Set(legalMoves().map(({ from, to }) => `${from} > ${to}`));
const OUTCOMES = {
  accepted: { status: 'accepted', httpStatus: 200 },
  rejected: { status: 'failed', httpStatus: 400, category: 'invalid_content' },
  deferred: { status: 'queued', httpStatus: 429, category: 'rate_limited', tries: 1 },
  unknown: { status: 'outcome_unknown', category: 'platform_unavailable' },
} as const satisfies Record<string, Partial<OutcomeRecord>>;
const REFUSAL = { category: 'template_unavailable', code: 'TEMPLATE_NOT_APPROVED', message: 'It is paused.' } as const;

interface Attempt {
  id: string;
  messageId: string;
  number: number;
  /** What WhatsApp answers, however often it is recorded. */
  answer: keyof typeof OUTCOMES;
}

let opened: OpenTestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase(12);
});
afterAll(() => opened.close());

/** A number with messages to few recipients. Whatever is done with them here may be done at once. */
class World {
  readonly ids: string[] = [];
  readonly attempts: Attempt[] = [];
  private readonly outcomes = [1, 2].map(() => new OutcomeRepository(opened.database, factsOf(opened.database)));
  private readonly sends = new ClaimRepository(opened.database);
  private readonly sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
  private readonly schedule = new ScheduleRepository(opened.database, factsOf(opened.database));
  readonly counts = new TagCountsRepository(opened.database);
  private readonly tags = new TagsRepository(opened.database, factsOf(opened.database));
  private readonly accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);

  private constructor(
    readonly connection: ConnectionRow,
    private readonly conversationId: string,
  ) {}

  static async make(): Promise<World> {
    const factories = new Factories(opened.database);
    const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
    await listenFor(opened.database, connection.organizationId);
    await new LaneRepository(opened.database).ensure(connection.id);
    const { id } = await factories.conversation({ connection, phone: null, userId: USER_ID });
    const world = new World(connection, id);
    for (let n = 0; n < 6; n++) await world.does.accept(n);
    return world;
  }

  /** What can be done; the number says with which message, attempt or answer. */
  readonly does = {
    accept: async (n: number) => {
      const change = [
        {},
        { tag: TAG },
        { tag: TAG, sendAt: new Date(Date.now() - 1_000).toISOString() },
        { recipientUserId: USER_ID, conversationId: this.conversationId },
      ][n % 4];
      const recipient = n % 4 === 3 ? USER_ID : `1555${(n >> 2) % 2}`;
      const message = newMessage(this.connection, recipient, change);
      await this.accepts.accept(message);
      this.ids.push(message.id);
    },
    claim: async (n: number) => {
      const { items } = await claimLane(this.sends, claimRequest(this.connection.id, OWNER, 1 + (n % 3)), LIMITS);
      for (const { id: messageId, attemptId: id, attemptNumber: number } of items) {
        const answer = (['accepted', 'rejected', 'deferred', 'unknown'] as const)[(n >> 2) % 4] ?? 'accepted';
        this.attempts.push({ id, messageId, number, answer });
      }
    },
    answer: async (n: number) => {
      const attempt = this.attempt(n);
      if (attempt !== undefined) await this.outcomes[n % 2]?.record(this.record(attempt));
    },
    openNext: async (n: number) => {
      const attempt = this.attempt(n);
      if (attempt === undefined) return;
      const next = { ...attempt, id: newId(), number: attempt.number + 1 };
      const refused = this.record({ ...attempt, answer: 'deferred' });
      if (await this.outcomes[0]?.openNext(refused, next.id)) this.attempts.push(next);
    },
    report: async (n: number) => {
      const reports = [n, n >> 3, n >> 5].flatMap((which) => {
        const attempt = this.attempt(which);
        const status = (['sent', 'delivered', 'read', 'failed', 'sent', 'failed'] as const)[which % 6] ?? 'sent';
        if (attempt === undefined) return [];
        const reported = { id: attempt.messageId, attemptId: attempt.id, metaMessageId: `wamid.${attempt.id}` };
        return [statusReport(this.connection.id, reported, status)];
      });
      await opened.database.transaction(() => applyStatusReports(reports, opened.database, factsOf(opened.database)));
    },
    retry: (n: number) =>
      opened.database.transaction(() =>
        retryMessage(opened.database, this.connection.organizationId, this.message(n), RETRYABLE),
      ),
    cancel: (n: number) => cancelMessage(opened.database, this.connection.organizationId, this.message(n)),
    lease: async () => {
      await opened.database.execute(
        `update message_queue set lease_until = clock_timestamp() - interval '1 s'
         where connection_id = $1 and lease_until is not null`,
        [this.connection.id],
      );
      await this.sweeps.expireLeases(2);
    },
    expiry: async (n: number) => {
      await opened.database.execute(
        'update message_queue set expires_at = queued_at where message_id = $1 and attempt_id is null',
        [this.message(n)],
      );
      await this.sweeps.expireQueued(10);
    },
    tag: async (n: number) => {
      const key = { organizationId: this.connection.organizationId, tag: TAG };
      const action = (['pause', 'resume', 'cancel', 'pause', 'resume'] as const)[n % 7];
      if (action !== undefined) await this.tags.act(key, action, null);
      else await this.tags.put(key, { paused: n % 3 === 0, messagesPerMinute: n % 2 === 0 ? 6_000 : null });
    },
    fold: () => this.counts.fold(),
    tagStep: async () => {
      const work = (await this.tags.work(this.connection.organizationId, '')).at(0);
      if (work?.isCanceling) await this.tags.cancel(work);
      else if (work?.isHeld) await this.tags.hold(work);
      else if (work?.isResuming) await this.tags.resume(work);
      else if (work?.isPaced) await this.tags.pace(work);
    },
    // Of all messages: decisions may come late.
    release: (n: number) =>
      this.schedule.release(
        this.ids.map((messageId) => ({ messageId, refusal: n % 3 === 0 ? REFUSAL : null, body: null })),
      ),
    /** The number of the contact becomes known, or is not known any more. */
    join: (n: number) =>
      opened.database.transaction(async () => {
        await opened.database.execute('update conversation set phone = $2 where id = $1', [
          this.conversationId,
          n % 2 === 0 ? NUMBERS[0] : null,
        ]);
        await joinLanes([this.conversationId], opened.database);
      }),
  };

  private attempt(n: number): Attempt | undefined {
    return this.attempts[n % Math.max(1, this.attempts.length)];
  }

  private message(n: number): string {
    return this.ids[n % this.ids.length] ?? '';
  }

  private record({ id: attemptId, messageId: id, answer }: Attempt): OutcomeRecord {
    const metaMessageId = answer === 'accepted' ? `wamid.${attemptId}` : null;
    return { ...released({ id, attemptId }), metaMessageId, ...OUTCOMES[answer] };
  }
}

interface Place {
  id: string;
  place: 'queue' | 'held' | 'state';
  /** The state says that it is queued where it is in the queue. */
  agree: boolean;
  counting: string[];
  attemptId: string | null;
  status: OutboundStatus;
  events: number;
  attempts: number;
}

const PLACES = `
select m.id, case when q.held_until is not null then 'held' when q.message_id is not null then 'queue' else 'state' end as place,
  (q.message_id is not null) = (s.status = 'queued') as agree,
  case when q.attempt_id is not null then 'processing' else s.status end as status, s.event_count as events,
  coalesce(q.attempt_number, s.attempt_count) as attempts,
  -- One attempt counts: that of the state, else the one in flight.
  array(select a.id from message_attempt a where a.message_id = m.id and a.replaced_at is null) as counting,
  s.attempt_id as "attemptId"
from message m left join message_queue q on q.message_id = m.id left join message_state s on s.message_id = m.id
where m.connection_id = $1 order by m.id`;

const ATTEMPTS = `
select a.message_id as "messageId", a.id, a.number from message_attempt_view a
join message m on m.id = a.message_id where m.connection_id = $1 order by a.number`;

const EVENTS = `
select data ->> 'message_id' as "messageId", (data ->> 'sequence')::integer as sequence,
  data ->> 'previous_status' as "from", data ->> 'status' as "to" from webhook_event
where organization_id = $1 and type = 'message.status.updated' order by sequence`;

/** Recipients whose first message waits and has no turn. */
const STRANDED = `
select q.recipient from message_queue q
where q.connection_id = $1 and q.attempt_id is null and q.due_at is null and q.held_until is null and q.message_id = (
  select f.message_id from message_queue f where f.connection_id = q.connection_id and f.recipient = q.recipient
       and f.held_until is null
  order by (f.attempt_id is null), f.seq limit 1)`;

/** How many messages of the tag stand where, by their own rows. */
const COUNTED = `
select case when q.attempt_id is not null then 'processing' else s.status end as status,
  case when s.status = 'failed' then coalesce(s.failure_category, 'unknown') end as "failureCategory", count(*)::integer as messages,
  count(q.scheduled_for)::integer as scheduled
from message m join message_state s on s.message_id = m.id left join message_queue q on q.message_id = m.id
where m.organization_id = $1 and m.tag = '${TAG}' group by 1, 2 order by 1, 2`;

const inOrder = (a: TagCounted, b: TagCounted): number =>
  `${a.status} ${a.failureCategory ?? ''}` < `${b.status} ${b.failureCategory ?? ''}` ? -1 : 1;
type TagCounted = Pick<TagPart, 'status' | 'failureCategory' | 'messages' | 'scheduled'>;

/** What is kept of the tag is what its messages' rows say. */
async function checkCounts({ connection: { organizationId }, counts }: World): Promise<void> {
  const counted = await opened.database.query<TagCounted & Record<string, unknown>>(COUNTED, [organizationId]);
  const kept = ((await counts.parts(organizationId, [TAG])).get(TAG) ?? [])
    .filter(({ messages, scheduled }) => messages !== 0 || scheduled !== 0)
    .map(({ status, failureCategory, messages, scheduled }) => ({ status, failureCategory, messages, scheduled }));
  expect(kept.sort(inOrder)).toEqual([...counted].sort(inOrder));
}

async function check({ connection, ids, attempts }: World): Promise<Set<string>> {
  const { database } = opened;
  const places = await database.query<Place & Record<string, unknown>>(PLACES, [connection.id]);
  const known = await database.query<{ messageId: string; id: string; number: number }>(ATTEMPTS, [connection.id]);
  type Event = { messageId: string; sequence: number; from: OutboundStatus; to: OutboundStatus };
  const events = await database.query<Event & Record<string, unknown>>(EVENTS, [connection.organizationId]);
  expect(places.map(({ id }) => id)).toEqual([...ids].sort());
  expect(await database.query(STRANDED, [connection.id])).toEqual([]);
  for (const { id, place, status, ...counted } of places) {
    expect({ id, agree: counted.agree }).toEqual({ id, agree: true });
    expect({ id, counting: counted.counting }).toEqual({
      id,
      counting: counted.attemptId === null ? [] : [counted.attemptId],
    });
    // Each attempt once, numbered without a gap, and as it was made.
    const own = known.filter(({ messageId }) => messageId === id);
    expect(own.map(({ number }) => number)).toEqual(Array.from({ length: counted.attempts }, (_none, n) => n + 1));
    const made = attempts.filter(({ messageId }) => messageId === id).sort((a, b) => a.number - b.number);
    expect(own.map((attempt) => attempt.id)).toEqual(made.map((attempt) => attempt.id));
    // Each event once, and each goes on where the one before ended, or from the queue after a retry.
    const told = events.filter(({ messageId }) => messageId === id);
    expect(told.map(({ sequence }) => sequence)).toEqual(Array.from({ length: counted.events }, (_none, n) => n + 1));
    let before: OutboundStatus = 'queued';
    for (const { from, to } of told) {
      expect(LEGAL).toContain(`${from} > ${to}`);
      if (isInQueue(from)) expect(['queued', ...RETRYABLE]).toContain(before);
      else expect(from).toBe(before);
      before = to;
    }
    if (place === 'state') expect(status).toBe(before);
  }
  return new Set(places.map(({ status, place }) => `${place} ${status}`));
}

type Deed = keyof World['does'];
const WEIGHTS: Readonly<Record<Deed, number>> = {
  accept: 1,
  claim: 5,
  answer: 7,
  openNext: 1,
  report: 6,
  retry: 5,
  cancel: 1,
  lease: 2,
  expiry: 1,
  tag: 2,
  tagStep: 4,
  fold: 1,
  release: 2,
  join: 2,
};
const step = fc.record({
  deed: fc.oneof(
    ...(Object.entries(WEIGHTS) as [Deed, number][]).map(([deed, weight]) => ({
      weight,
      arbitrary: fc.constant(deed),
    })),
  ),
  n: fc.nat(100_000),
});

it('no message, attempt, event or turn is lost, or there twice, whatever happens to a few messages at once', async () => {
  const seen = new Set<string>();
  await fc.assert(
    // Those of one list are under way at once.
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 4, maxLength: 12 }), { minLength: 8, maxLength: 12 }),
      async (rounds) => {
        const world = await World.make();
        for (const round of rounds) {
          await Promise.all(round.map(({ deed, n }) => world.does[deed](n)));
          for (const place of await check(world)) seen.add(place);
          await checkCounts(world);
        }
      },
    ),
    // What runs at once is not the same twice: a smaller case proves nothing.
    { numRuns: runs(6), seed: FUZZ_SEED, endOnFailure: true },
  );
  const expected = ['queue queued', 'queue processing', 'held queued', 'state failed', 'state outcome_unknown'];
  // A shortened run does not meet each of them.
  if (FUZZ_SCALE >= 1) expect([...seen]).toEqual(expect.arrayContaining(expected));
});
