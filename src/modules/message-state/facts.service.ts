import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { actOf, type ActRow, type Among, FactsRepository } from './facts.repository.js';
import type { Applied, Fact } from './facts.types.js';
import type { MessageCase } from './message-case.js';

/**
 * The only way to change the rows of accepted messages, after news about them or decisions on them. It runs three
 * statements: lock, read, write. Between the last two `MessageCase` decides.
 *
 * There are these exceptions: the accept inserts the rows, the claim writes to its rows of `message_queue`, and code
 * that only moves messages within the queue (schedule, tags, joins of lanes, repair of turns) writes to that table
 * only. docs/how-it-works.md lists all statements.
 */
@Injectable()
export class FactsService {
  constructor(
    private readonly database: Database,
    private readonly rows: FactsRepository,
  ) {}

  /** Like `apply`, in a transaction of its own. */
  applyNow(facts: readonly Fact[], options?: Among): Promise<Applied[]> {
    return this.database.byIndex(() => this.apply(facts, this.database, options));
  }

  /**
   * Applies facts in the caller's transaction, those of one message in order. Returns their results, in the same order.
   */
  async apply(facts: readonly Fact[], statements: Statements, among: Among = {}): Promise<Applied[]> {
    const applied: Applied[] = [];
    const acts: ActRow[] = [];
    let open = facts.map((fact, index) => ({ fact, index }));
    // Usually runs once. A case has one row of the queue, so a message cannot leave the queue and enter it again in one
    // write. The fact that would do so, and the later facts of the message, run on the result of the first write.
    while (open.length > 0) {
      const ids = [...new Set(open.map(({ fact }) => fact.messageId))].sort();
      const cases = await this.rows.read(ids, statements, among);
      const kept = new Set<string>();
      for (const { fact, index } of open) {
        const found = cases.get(fact.messageId);
        if (found !== undefined && mayEnterAgain(found, fact)) kept.add(fact.messageId);
        if (kept.has(fact.messageId)) continue;
        const done = (applied[index] = applyTo(found, fact));
        const act = done.result === 'recorded' && found !== undefined ? actOf(fact, found) : null;
        if (act !== null) acts.push(act);
      }
      await this.rows.write([...cases.values()], statements);
      open = open.filter(({ index }) => applied[index] === undefined);
    }
    await this.rows.writeActs(acts, statements);
    return applied;
  }
}

function applyTo(found: MessageCase | undefined, fact: Fact): Applied {
  if (found === undefined) return { result: 'not_found', moved: false, message: null };
  const before = found.events.length;
  const result = found.apply(fact);
  return { result, moved: found.events.length > before, message: found.message };
}

function mayEnterAgain({ message, work }: MessageCase, fact: Fact): boolean {
  const hasLeft = message.work !== null && work === null;
  return hasLeft && (fact.kind === 'retry' || (fact.kind === 'answer' && fact.status === 'queued'));
}
