import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { OutcomeRecord, Result } from '../../message-state/facts.types.js';
import { FactsService } from '../../message-state/facts.service.js';

/** How long recording an outcome is retried. Meanwhile the lease ends, and the message is `outcome_unknown` until a report says more. */
export const RECORD_FOR_MS = 60_000;

/** Outcomes that keep coming are written so far apart; nothing but the recipient's next message waits. */
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
      // Outcomes are bounded by the requests in flight; none may be refused.
      maxWaiting: 100_000,
      byIndex: true,
      lockedForMs: RECORD_FOR_MS,
      gather: { quietMs: 10, apartMs: APART_MS, atMostMs: APART_MS, enough: 64 },
      commit: async (records, statements) => {
        // Refusals last: one of the others may be the acceptance of another attempt of the same message.
        const ordered = [...records].sort((a, b) => Number(a.status === 'failed') - Number(b.status === 'failed'));
        const answers = ordered.map((record) => ({ kind: 'answer', ...record }) as const);
        const applied = await this.facts.apply(answers, statements);
        const results = new Map(ordered.map((record, index) => [record, applied[index]?.result ?? 'not_found']));
        return records.map((record) => results.get(record) ?? 'not_found');
      },
    });
  }

  /**
   * Records an outcome. It is applied if the attempt id matches, even after the lease ended: the platform's own answer
   * is the best evidence, however late.
   */
  record(record: OutcomeRecord): Promise<Result> {
    return this.batches.submit(record, true);
  }

  /**
   * Closes an attempt that the platform has refused for its endpoint, and opens the next one within the same lease. May be
   * repeated. Resolves with false where the message is not in flight with this attempt any more: it must not be sent.
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
