import { Injectable } from '@nestjs/common';
import type { FailureCategory } from '../../../common/failure-category.js';
import { deferralMs, MAX_TRIES, pairLimitMs } from '../../../common/retry-schedule.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';
import { Database } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { OutcomeRecord, Result } from '../../message-state/facts.types.js';
import { FactsService } from '../../message-state/facts.service.js';

/**
 * How long recording an outcome is retried. Meanwhile the lease may end, and the message is `outcome_unknown` until a
 * report says more.
 */
export const RECORD_FOR_MS = 60_000;

/** The pause between writes while outcomes keep coming. Only the recipient's next message waits for it. */
const APART_MS = 25;

/** Records outcomes of attempts with their events, many in one transaction. */
@Injectable()
export class OutcomeRepository {
  private readonly batches: GroupCommit<OutcomeRecord, Result>;

  constructor(
    database: Database,
    private readonly facts: FactsService,
  ) {
    this.batches = new GroupCommit(database, {
      name: 'outcome',
      maxBatch: 250,
      // The requests in flight bound the number of outcomes; none may be refused.
      maxWaiting: 100_000,
      byIndex: true,
      lockedForMs: RECORD_FOR_MS,
      gather: { quietMs: 10, apartMs: APART_MS, atMostMs: APART_MS, enough: 64 },
      commit: async (records, statements) => {
        // Refusals come last: another outcome of the batch may be the acceptance of another attempt of the same
        // message.
        const ordered = [...records].sort((a, b) => Number(a.status === 'failed') - Number(b.status === 'failed'));
        const answers = ordered.map((record) => ({ kind: 'answer', ...record }) as const);
        const applied = await this.facts.apply(answers, statements);
        const results = new Map(ordered.map((record, index) => [record, applied[index]?.result ?? 'not_found']));
        return records.map((record) => results.get(record) ?? 'not_found');
      },
    });
  }

  /**
   * Records an outcome. It is applied if the attempt id matches, even after the lease has ended: WhatsApp's own answer
   * is the best evidence.
   */
  record(record: OutcomeRecord): Promise<Result> {
    return this.batches.submit(record, true);
  }

  /**
   * Closes an attempt whose endpoint the platform refused, and opens the next one within the same lease. May be
   * repeated. Resolves with false where the message is no longer in flight with this attempt: it must not be sent.
   */
  async openNext(refused: OutcomeRecord, nextAttemptId: string): Promise<boolean> {
    const { messageId } = refused;
    const [applied] = await this.facts.applyNow([{ kind: 'next_attempt', messageId, refused, nextAttemptId }]);
    return applied?.result === 'recorded';
  }

  idle(): Promise<void> {
    return this.batches.idle();
  }
}

/** `tries` is unknown for messages of a lost claim. */
type AttemptOf = Pick<ClaimedMessage, 'id' | 'attemptId'> & Partial<Pick<ClaimedMessage, 'tries'>>;

/**
 * The new status of a claimed message after WhatsApp's answer, and the words used for the answers.
 *
 * | `outcome.kind`               | Called    | `status`                                         | Of the attempt             |
 * | ---------------------------- | --------- | ------------------------------------------------ | -------------------------- |
 * | accepted                     | accepted  | accepted                                         | accepted                   |
 * | rejected                     | refused   | failed                                           | rejected                   |
 * | unknown                      | unknown   | outcome_unknown                                  | unknown                    |
 * | deferred, recipient_deferred | "not now" | queued: released. After `MAX_TRIES` tries failed | deferred; then rejected    |
 * | lane_paused, which is no try | "not now" | queued: released                                 | deferred                   |
 */
export function recordOf(task: ClaimedMessage, outcome: SendOutcome): OutcomeRecord {
  const { id: messageId, attemptId, tries: triesBefore } = task;
  if (outcome.kind === 'accepted') {
    const { metaMessageId, httpStatus } = outcome;
    return { attemptId, messageId, status: 'accepted', metaMessageId, httpStatus };
  }
  const { httpStatus, platformCode, platformMessage, category, traceId } = outcome;
  const record = { attemptId, messageId, httpStatus, platformCode, platformMessage, category, traceId };
  switch (outcome.kind) {
    case 'rejected':
      return { ...record, status: 'failed' };
    case 'unknown':
      return { ...record, status: 'outcome_unknown' };
    case 'lane_paused':
      return { ...record, status: 'queued', delayMs: 0, tries: triesBefore };
    case 'deferred':
    case 'recipient_deferred': {
      const tries = triesBefore + 1;
      if (tries >= MAX_TRIES) return { ...record, status: 'failed' };
      const leastMs =
        outcome.kind === 'recipient_deferred' ? pairLimitMs(triesBefore) : deferralMs(tries, Math.random());
      const delayMs = Math.max(leastMs, outcome.retryAfterMs ?? 0);
      return { ...record, status: 'queued', delayMs, tries };
    }
  }
}

/** The outcome of an attempt after which the message goes to the other endpoint at once. It does not count as a try. */
export function refusedByEndpoint(task: ClaimedMessage, outcome: NotAcceptedOutcome): OutcomeRecord {
  const { httpStatus, platformCode, platformMessage, category, traceId } = outcome;
  return { ...released(task), httpStatus, platformCode, platformMessage, category, traceId };
}

/** The message was claimed but certainly not sent: it returns to the queue, and the attempt does not count as a try. */
export function released({ id: messageId, attemptId, tries = 0 }: AttemptOf, delayMs = 0): OutcomeRecord {
  return { attemptId, messageId, status: 'queued', delayMs, tries };
}

/** For a message that Herald itself fails before sending anything. */
export function refusal(category: FailureCategory, message: string): NotAcceptedOutcome {
  return {
    kind: 'rejected',
    httpStatus: null,
    platformCode: null,
    platformMessage: message,
    category,
    traceId: null,
    retryAfterMs: null,
    written: false,
  };
}
