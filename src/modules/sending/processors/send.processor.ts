import { Processor } from '@nestjs/bullmq';
import { MAX_DELAY_MS } from '../../../common/retry-schedule.js';
import { inBatches } from '../../../infrastructure/queue/sweeps.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { MessageSender, type SendTask } from './message-sender.js';
import { ClaimRepository } from '../claim/claim.repository.js';
import { EXPIRED_SINCE, SendingSweepsRepository, type MovedMessage } from '../sweeps/sending-sweeps.repository.js';

export const SEND_QUEUE = 'send';
const SWEEP_BATCH = 1_000;
/**
 * SQL: seconds for which a message is deferred, the same as in `recordOf`; at least a minute, since an upload or
 * WhatsApp may ask for that.
 */
const DEFERRAL = `least(${MAX_DELAY_MS / 1_000}, greatest(60, power(4, least(tries, 5))))`;

/**
 * The queue of messages: its wakes and sweeps. The work on a message is in MessageSender. After POST /messages has
 * answered 202, a message takes these steps:
 *
 * 1. It is a `queued` row, and its connection's lane was woken. A worker that accepted the message drains the lane
 *    itself; a process without a worker notifies the workers.
 * 2. A worker drains the lane at its pace. Only one process at a time does so (`lane.owner`), and it keeps the lane for
 *    a few seconds after the last row.
 * 3. A claim, one statement for all waiting lanes, gives the message an attempt, `processing` and a lease of 20 s. Its
 *    request is sent at once. The request contains the attempt's id, so that a notification finds the attempt even if
 *    the answer is lost. Before that, our file ids are replaced by WhatsApp's; if an upload takes long, the message
 *    returns to the queue meanwhile.
 * 4. The answer is recorded, many in one statement: accepted, failed, queued again with a later due time, or
 *    outcome_unknown where the request was written and no clear answer came. If the message leaves the queue, the same
 *    statement writes the event for the workspace's webhook.
 * 5. The outcome deletes the row, which makes the recipient's next message due (triggers of message_queue), and wakes
 *    the lane.
 *
 * If the process dies after the claim and before the answer is recorded, the lease runs out and the sweep sets
 * `outcome_unknown`: a message that may have been sent is never sent again automatically. If a wake is lost, the sweep
 * finds the due row. If the answer is lost, WhatsApp's notification resolves the outcome.
 */
@Processor(SEND_QUEUE, QUEUE_WORKER_OPTIONS)
export class SendProcessor extends QueueProcessor<SendTask> {
  constructor(
    claims: ClaimRepository,
    sweeps: SendingSweepsRepository,
    sender: MessageSender,
    private readonly webhook: WebhookService,
    parts: QueueParts,
  ) {
    super(
      {
        kind: sender,
        maxInFlight: parts.config.queue.maxInFlight,
        dueLanes: claims.dueConnections,
        waitsFor: [
          // A deferred message waits for the later of the two times.
          { table: 'message_queue', column: 'not_before', where: 'not_before is not null', mostAhead: DEFERRAL },
          {
            table: 'message_queue',
            column: 'due_at',
            mostAhead: `case when not_before is null then 0 else ${DEFERRAL} end`,
          },
        ],
        leftAtStop: (count) => `${count} sends had no answer when Herald stopped; their outcome will be unknown`,
      },
      parts,
    );
    const mostAhead = `${this.config.limits.sendLeaseMs / 1_000}`;
    parts.sweeps.add({
      name: 'send_leases',
      everyMs: 1_000,
      waitsFor: [{ table: 'message_queue', column: 'lease_until', where: 'lease_until is not null', mostAhead }],
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => this.sweep(sweeps.expireLeases(limit))),
    });
    parts.sweeps.add({
      name: 'send_expiry',
      everyMs: 1_000,
      dueSince: EXPIRED_SINCE,
      run: (signal) =>
        inBatches(signal, SWEEP_BATCH, async (limit) => {
          const first = await this.sweep(sweeps.expireQueued(limit));
          // A workspace with very many expired messages does not delay those of others behind it.
          return first < limit ? first : first + (await this.sweep(sweeps.expireQueued(limit, 'desc')));
        }),
    });
    parts.sweeps.add({ name: 'send_repair', everyMs: 600_000, run: (signal) => this.repair(sweeps, signal) });
  }

  /** The moved message may have been first for its recipient: its lane is woken. */
  private async sweep(moving: Promise<MovedMessage[]>): Promise<number> {
    const moved = await moving;
    for (const connectionId of new Set(moved.map((message) => message.connectionId))) this.wake(connectionId);
    return this.announce(moved);
  }

  private async repair(sweeps: SendingSweepsRepository, signal: AbortSignal): Promise<number> {
    const repaired = await sweeps.repairTurns(signal);
    if (repaired > 0) this.logger.error(`${repaired} recipients had waiting messages without a turn; they are due now`);
    return repaired;
  }

  private announce(moved: readonly MovedMessage[]): number {
    if (moved.length > 0) this.webhook.wake(new Set(moved.map((message) => message.organizationId)));
    return moved.length;
  }
}
