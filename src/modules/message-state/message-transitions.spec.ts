import { factsOf, cancelMessage, retryMessage } from '../../../test/support/facts.js';
import { newId } from '../../common/ids.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { attemptRow } from '../../../test/messages/attempt-row.js';
import { reportedAs, secondsAgo, statusReport, type Reported } from '../../../test/messages/platform-reports.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { Factories, testPhone, type ConnectionRow } from '../../../test/support/factories.js';
import { runOutLease } from '../../../test/support/run-out-lease.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { MessagesMaintenanceRepository } from '../messages/maintenance/messages-maintenance.repository.js';
import {
  STATE_EVENTS,
  nextStatus,
  OUTBOUND_STATUSES,
  statesThatTake,
  type OutboundStatus,
  type StateEvent,
} from './message-state.types.js';
import type { StatusReport } from './message.types.js';
import { OutcomeRepository, released } from '../sending/outcome/outcome.repository.js';
import type { OutcomeRecord } from './facts.types.js';
import { ScheduleRepository } from '../messages/schedule/schedule.repository.js';
import { ClaimRepository } from '../sending/claim/claim.repository.js';
import { SendingSweepsRepository } from '../sending/sweeps/sending-sweeps.repository.js';
import { applyStatusReports } from '../messages/reports/status-reports.repository.js';

let opened: OpenTestDatabase;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
});
afterAll(() => opened.close());

// A lane of its own for each message: what moves all that is there moves nothing else.
beforeEach(async () => {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
});

interface Made extends Reported {
  recipient: string;
}

/** Lets the event happen to a message, by the statement that applies it in the service. */
const HAPPENS: Record<StateEvent, (made: Made) => Promise<unknown>> = {
  claimed: async () => {
    await new LaneRepository(opened.database).ensure(connection.id);
    const limits = { leaseMs: 60_000 };
    await claimLane(new ClaimRepository(opened.database), claimRequest(connection.id, newId(), 8), limits);
  },
  outcome_accepted: answered('accepted'),
  outcome_refused: answered('failed'),
  outcome_deferred: answered('queued'),
  outcome_unknown: answered('outcome_unknown'),
  lease_expired: async ({ id }) => {
    await runOutLease(opened.database, id);
    await new SendingSweepsRepository(opened.database, factsOf(opened.database)).expireLeases(100);
  },
  expired: async ({ id }) => {
    await opened.database.execute('update message_queue set expires_at = queued_at where message_id = $1', [id]);
    return new SendingSweepsRepository(opened.database, factsOf(opened.database)).expireQueued(100);
  },
  retry: retried('retry'),
  retry_confirmed: retried('retry_confirmed'),
  restored: () => {
    const restore = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    return opened.database.transaction(() => restore.markUncertain(new Date(Date.now() + 60_000)));
  },
  erased: ({ recipient }) =>
    new MessagesMaintenanceRepository(opened.database, factsOf(opened.database)).withdraw({
      organizationId: connection.organizationId,
      numbers: [recipient],
      userIds: [],
      conversationIds: [],
    }),
  canceled: ({ id }) => cancelMessage(opened.database, connection.organizationId, id),
  release_refused: async ({ id }) => {
    await opened.database.execute(
      `update message_queue set due_at = null, held_until = queued_at, scheduled_for = queued_at
       where message_id = $1 and attempt_id is null`,
      [id],
    );
    const refusal = {
      category: 'template_unavailable',
      code: 'TEMPLATE_NOT_APPROVED',
      message: 'It is paused.',
    } as const;
    await new ScheduleRepository(opened.database, factsOf(opened.database)).release([
      { messageId: id, refusal, body: null },
    ]);
  },
  own_sent: reported('sent'),
  own_delivered: reported('delivered'),
  own_read: reported('read'),
  own_failed: reported('failed'),
  other_accepted: async (made) => {
    const { attemptId } = await addOther(made);
    return answered('accepted')({ ...made, attemptId });
  },
  other_sent: (made) => tellOfOther(made, 'sent'),
  other_delivered: (made) => tellOfOther(made, 'delivered'),
  other_read: (made) => tellOfOther(made, 'read'),
  other_failed: (made) => tellOfOther(made, 'failed'),
};

function answered(status: OutcomeRecord['status']) {
  return ({ id, attemptId, metaMessageId }: Made) =>
    new OutcomeRepository(opened.database, factsOf(opened.database)).record({
      ...released({ id, attemptId }),
      status,
      metaMessageId: status === 'accepted' ? metaMessageId : null,
    });
}

function retried(event: 'retry' | 'retry_confirmed') {
  return ({ id }: Made) => {
    const { organizationId } = connection;
    return retryMessage(opened.database, organizationId, id, statesThatTake(event));
  };
}

function apply(report: StatusReport): Promise<unknown> {
  const { database } = opened;
  return database.transaction(() => applyStatusReports([report], database, factsOf(database)));
}

function reported(status: StatusReport['status']) {
  return (made: Made) => apply(statusReport(connection.id, made, status));
}

async function tellOfOther(made: Made, status: StatusReport['status']): Promise<unknown> {
  return apply(statusReport(connection.id, await addOther(made), status));
}

/** An attempt with an unknown outcome before the one that the message has now. */
async function addOther(made: Made): Promise<Made> {
  const earlier = { ...made, attemptId: newId(), metaMessageId: `wamid.${newId()}` };
  for (const table of ['message_queue', 'message_state']) {
    await opened.database.execute(`update ${table} set attempt_number = attempt_number + 1 where message_id = $1`, [
      made.id,
    ]);
  }
  await opened.database.execute(
    `insert into message_attempt (id, organization_id, message_id, number, answer, started_at, replaced_at)
     values ($1, $2, $3, 0, 'unknown', clock_timestamp() - interval '1 minute', clock_timestamp())`,
    [earlier.attemptId, connection.organizationId, made.id],
  );
  return earlier;
}

// A message that waits has no attempt in its row: message-state.spec.ts checks that the table moves it by none of these.
const canHappen = (event: StateEvent, status: OutboundStatus) =>
  !(status === 'queued' && /^(outcome|own)_/.test(event));

const CASES = STATE_EVENTS.flatMap((event) =>
  OUTBOUND_STATUSES.filter((status) => canHappen(event, status)).map(
    (status) => [event, status, nextStatus(status, event)] as const,
  ),
);

it.each(CASES)('%s finds a message %s and makes it %s, as the transition table has it', async (event, status, next) => {
  const recipient = testPhone();
  const made = await factories.message({ connection, status, recipient, createdAt: secondsAgo(60) });
  const message = { ...reportedAs(made), recipient };
  await opened.database.execute('update message_state set meta_message_id = null where message_id = $1', [message.id]);
  await HAPPENS[event](message);
  const [row] = await opened.database.query(
    `select v.status, q.message_id is not null as "isIn", s.status = 'queued' as "isQueued" from message_view v
     left join message_queue q on q.message_id = v.id left join message_state s on s.message_id = v.id where v.id = $1`,
    [message.id],
  );
  const end = next ?? status;
  const isIn = end === 'queued' || end === 'processing';
  expect(row).toEqual({ status: end, isIn, isQueued: isIn });
  if (message.attemptId !== '') expect(await attemptRow(opened.database, message.attemptId)).not.toEqual({});
});
