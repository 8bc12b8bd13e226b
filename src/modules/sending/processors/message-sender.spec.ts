import { factsOf } from '../../../../test/support/facts.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { Factories, testPhone } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { Deadline } from '../../../common/deadline.js';
import { newId } from '../../../common/ids.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import type { CloudApiClient } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { ConnectionsService } from '../../connections/connections.service.js';
import type { SendingConnection } from '../../connections/connections.types.js';
import type { TemplatesService } from '../../templates/templates.service.js';
import type { WebhookService } from '../../webhook/webhook.service.js';
import { ClaimRepository, type ClaimedMessage } from '../claim/claim.repository.js';
import { OutcomeRepository } from '../outcome/outcome.repository.js';
import { MessageSender } from './message-sender.js';

const REFUSED = {
  kind: 'rejected',
  httpStatus: 400,
  platformCode: 131063,
  platformMessage: 'Marketing messages are not available on this endpoint.',
  category: 'account_restricted',
  traceId: null,
  retryAfterMs: null,
  written: true,
} as const;

let opened: OpenTestDatabase;
let claims: ClaimRepository;
let outcomes: OutcomeRepository;
let lanes: LaneRepository;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  claims = new ClaimRepository(opened.database);
  lanes = new LaneRepository(opened.database);
});
beforeEach(() => (outcomes = new OutcomeRepository(opened.database, factsOf(opened.database))));
afterAll(() => opened.close());

interface SenderOptions {
  counters: Counters;
  answer: NotAcceptedOutcome;
  /** Workspaces whose events were announced. */
  woken: string[];
}

/** A sender of marketing templates; the platform refuses each, by default for its endpoint, and `onRequest` runs before it answers. */
function senderFor(
  connection: object,
  onRequest: (sender: MessageSender) => unknown = () => undefined,
  { counters = new Counters(), answer = REFUSED, woken = [] }: Partial<SenderOptions> = {},
): MessageSender {
  const done = () => Promise.resolve();
  const sending = { ...connection, status: 'connected', marketingStatus: null, marketingRoute: 'auto' };
  const connections = { peekSending: () => sending as SendingConnection, askSoon: done };
  const templates = { categoryOf: () => Promise.resolve('MARKETING'), suspect: done };
  const client = {
    sendMessage: async () => {
      await onRequest(sender);
      return answer;
    },
  };
  const unused = {} as never;
  const sender = new MessageSender(
    claims,
    outcomes,
    unused,
    lanes,
    connections as unknown as ConnectionsService,
    templates as unknown as TemplatesService,
    unused,
    { wake: (ids: readonly string[]) => woken.push(...ids) } as unknown as WebhookService,
    unused,
    client as unknown as CloudApiClient,
    LIMITED,
    counters,
    Tracing.OFF,
  );
  return sender;
}

/** A template that is in flight, and its number. */
async function claimedTemplate() {
  const factories = new Factories(opened.database);
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  const content = { name: 'sale', language: { code: 'en' } };
  await factories.message({ connection, recipient: testPhone(), type: 'template', content });
  await lanes.ensure(connection.id);
  const { items } = await claimLane(claims, claimRequest(connection.id, newId(), 1), { leaseMs: 3_600_000 });
  return { connection, message: items[0] as ClaimedMessage };
}

// Over at once: what fails is not tried again.
const task = (message: ClaimedMessage) => ({
  message: { ...message },
  times: { claimedAt: 0, notAfter: Deadline.in(0) },
});

const statusOf = async (id: string): Promise<unknown> =>
  (await opened.database.row<{ status: string }>('select status from message_view where id = $1', [id])).status;

describe('a template that is refused for its endpoint, and cannot go by the other one now', () => {
  const refused = { number: 1, status: 'deferred', platform_code: 131063, failure_category: 'account_restricted' };

  it('waits again with the refusal in its history where the process stops', async () => {
    const { connection, message } = await claimedTemplate();
    await senderFor(connection, (sender) => sender.stop()).work(task(message));
    expect(await statusOf(message.id)).toBe('queued');
    expect(await attemptRows(opened.database, message.id)).toMatchObject([refused]);
  });

  it('waits again with the refusal where its next attempt was not stored', async () => {
    const { connection, message } = await claimedTemplate();
    outcomes.openNext = () => Promise.reject(new Error('the database is away'));
    const counters = new Counters();
    await senderFor(connection, undefined, { counters }).work(task(message));
    expect(counters.snapshot()).not.toHaveProperty('outcome_not_found');
    expect(await statusOf(message.id)).toBe('queued');
    expect(await attemptRows(opened.database, message.id)).toMatchObject([refused]);
  });

  it('waits again where its next attempt was stored and the answer to that was lost', async () => {
    const { connection, message } = await claimedTemplate();
    const counters = new Counters();
    const openNext = outcomes.openNext.bind(outcomes);
    outcomes.openNext = async (...given) => {
      await openNext(...given);
      throw new Error('the connection broke');
    };
    await senderFor(connection, undefined, { counters }).work(task(message));
    expect(counters.snapshot()).not.toHaveProperty('outcome_not_found');
    expect(await statusOf(message.id)).toBe('queued');
    expect(await attemptRows(opened.database, message.id)).toMatchObject([
      refused,
      { number: 2, status: 'deferred', platform_code: null },
    ]);
  });
});

it('a message whose content was cleared fails at once, and nothing is sent', async () => {
  const { connection, message } = await claimedTemplate();
  const sent = () => Promise.reject(new Error('it was sent'));
  await senderFor(connection, sent).work(task({ ...message, content: {} }));
  expect(await statusOf(message.id)).toBe('failed');
  expect(await attemptRows(opened.database, message.id)).toMatchObject([
    { status: 'rejected', failure_category: 'invalid_content', platform_message: expect.stringContaining('cleared') },
  ]);
});

it('a refusal pauses the lane once, also where its outcome is stored after the pause', async () => {
  const { connection, message } = await claimedTemplate();
  const throttled = { ...REFUSED, kind: 'lane_paused', category: 'rate_limited', retryAfterMs: 30_000 } as const;
  const record = outcomes.record.bind(outcomes);
  outcomes.record = async (outcome) => {
    outcomes.record = record;
    await opened.database.execute('update lane set paused_until = clock_timestamp() where key = $1', [connection.id]);
    await record(outcome);
    throw new Error('the connection broke');
  };
  await senderFor(connection, undefined, { answer: throttled }).work(task(message));
  expect(await statusOf(message.id)).toBe('queued');
  expect(
    await opened.database.row(
      'select pause_count as count, paused_until > clock_timestamp() as paused from lane where key = $1',
      [connection.id],
    ),
  ).toEqual({ count: 1, paused: false });
});

it('a retry that is answered "not now" and is not needed ends at once, and its event is announced', async () => {
  const { connection, message } = await claimedTemplate();
  const reportOfEarlier = () =>
    opened.database.execute(
      `with retry as (update message_queue set attempt_number = 2 where message_id = $1 returning *)
       insert into message_attempt (id, organization_id, message_id, number, answer, started_at, answered_at, replaced_at)
       select $2, organization_id, message_id, 1, 'accepted', claimed_at, claimed_at, claimed_at from retry`,
      [message.id, newId()],
    );
  const woken: string[] = [];
  const later = { ...REFUSED, kind: 'deferred', category: 'rate_limited', retryAfterMs: 30_000 } as const;
  const dueInMs = await senderFor(connection, reportOfEarlier, { answer: later, woken }).work(task(message));
  expect(dueInMs).toBeNull();
  expect(woken).toEqual([message.organizationId]);
  expect(await statusOf(message.id)).toBe('accepted');
});

it('an outcome whose attempt is not found is counted', async () => {
  const { connection, message } = await claimedTemplate();
  const counters = new Counters();
  const erase = (sender: MessageSender) => {
    sender.stop();
    return opened.database.execute('delete from message_queue where message_id = $1', [message.id]);
  };
  await senderFor(connection, erase, { counters }).work(task(message));
  expect(counters.snapshot()).toMatchObject({ outcome_not_found: 1 });
});
