import { GroupCommitRunner, type GroupCommitOptions } from '../../common/group-commit.js';
import { commonErrors } from '../../common/common.errors.js';
import { codeOf } from '../../common/describe-error.js';
import type { Span, Tracing } from '../operations/tracing.js';
import type { Database, Statements } from './database.js';
import { isExhausted, isLocked, isOutOfTime, isTransientConflict, isUnreachable } from './database-faults.js';

type Batches<I, O> = GroupCommitOptions<I, O>;

/** What is not explained here is as in `GroupCommitOptions`; by default `maxBatch` is 200 and `maxWaiting` 2,000. */
export interface GroupCommitSettings<I, O>
  extends
    Pick<Batches<I, O>, 'sizeOf' | 'maxSize' | 'gather' | 'overlapAfterMs'>,
    Partial<Pick<Batches<I, O>, 'maxBatch' | 'maxWaiting'>> {
  name: string;
  /**
   * Writes the batch. Runs in one transaction of its own; with `transactional: false` the single statement that it
   * runs is its own transaction, which saves two round trips.
   */
  commit(items: I[], statements: Statements): Promise<O[]>;
  transactional?: boolean;
  /** How long an item whose row another transaction has locked is tried, from its arrival on. Default 10 s. */
  lockedForMs?: number;
  /** Also the first try of a batch waits for locks only briefly, so that a locked item delays the others by little. */
  careful?: boolean;
  /** Each batch has a span where items were submitted with theirs. */
  tracing?: Tracing;
}

const LOCKED_FOR_MS = 10_000;
// Not for every batch: it is a round trip more.
const CAREFUL = `set local lock_timeout = '200ms'`;

/** `GroupCommitRunner` on PostgreSQL: see there for what it promises. */
export class GroupCommit<I, O> {
  private readonly runner: GroupCommitRunner<I, O>;
  private readonly spans = new WeakMap<object, Span>();

  constructor(
    private readonly database: Database,
    private readonly settings: GroupCommitSettings<I, O>,
  ) {
    this.runner = new GroupCommitRunner({
      maxBatch: 200,
      maxWaiting: 2_000,
      ...settings,
      maxInFlight: 2,
      commit: (items, careful) => this.traced(items, careful || settings.careful === true),
      isRetryable: isTransientConflict,
      locks: {
        isLocked,
        mayBeLocked: (error) => isLocked(error) || isOutOfTime(error),
        forMs: settings.lockedForMs ?? LOCKED_FOR_MS,
      },
      // A database that refuses work is not asked again for each half of the batch.
      isOutcomeUnknown: (error) => isUnreachable(error) || isExhausted(error),
      overloaded: () => commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: `${settings.name}: too many waiting` }),
      unavailable: (cause) =>
        commonErrors.SERVICE_UNAVAILABLE(undefined, {
          internal: `${settings.name}: outcome of the commit unknown, or refused`,
          cause,
        }),
    });
  }

  get depth(): number {
    return this.runner.depth;
  }

  /**
   * Resolves once the item is durable.
   *
   * @param mayWait it may be gathered with others (`gather`).
   * @param span of what the item, an object, is a part of.
   * @throws Error when called inside a transaction: the batch commits on its own, so the caller could not undo it.
   */
  submit(item: I, mayWait = false, span?: Span): Promise<O> {
    if (this.database.inTransaction) {
      throw new Error(`${this.settings.name}: a group commit cannot take part in a transaction`);
    }
    if (span !== undefined) this.spans.set(item as object, span);
    return this.runner.submit(item, mayWait);
  }

  idle(): Promise<void> {
    return this.runner.idle();
  }

  private async traced(items: I[], careful: boolean): Promise<O[]> {
    const { tracing } = this.settings;
    if (tracing?.on !== true) return this.commit(items, careful);
    const span = tracing.together(
      `commit ${this.settings.name}`,
      items.map((item) => this.spans.get(item as object)),
    );
    try {
      const results = await this.commit(items, careful);
      tracing.end(span);
      return results;
    } catch (error) {
      tracing.end(span, { failure: codeOf(error) ?? 'failed' });
      throw error;
    }
  }

  private commit(items: I[], careful: boolean): Promise<O[]> {
    const { database, settings } = this;
    return database.detached(() =>
      settings.transactional === false && !careful
        ? settings.commit(items, database)
        : database.transaction(async () => {
            if (careful) await database.execute(CAREFUL);
            return settings.commit(items, database);
          }),
    );
  }
}
