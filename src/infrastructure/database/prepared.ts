import type { PoolClient, QueryResult, QueryResultRow } from 'pg';

/**
 * A statement that PostgreSQL parses and plans once per connection instead of at every call. For the long statements of
 * hot paths this takes as long as running them. Elsewhere use plain text, which is planned for its actual parameters.
 */
export interface Prepared {
  /** Each name belongs to exactly one text. */
  readonly name: string;
  readonly text: string;
}

const PLANS_LIVE_MS = 1_000;
const NEW_MS = 60_000;
const SLOW_MS = 50;
/** By then autovacuum has analyzed the table. */
const MAX_PAUSE_MS = 60_000;

interface Plans {
  forgottenAt: number;
  /** How long plans are kept at least. */
  pauseMs: number;
  wasSlow: boolean;
}

/**
 * Runs prepared statements, and limits how long a bad plan stays in use. A plan made while tables were empty reads them
 * whole, and PostgreSQL replaces it only when the table is analyzed, perhaps a minute later. (Seen: a claim from
 * 100,000 new rows took 3.3 s with such a plan, 15 ms with a new one.) So a connection discards its plans, while the
 * statements stay prepared: in the first minute after 1, 2, 4 ... seconds, since tables at most double in between, and
 * after a slow statement, in case its plan is the reason. If it stays slow, as under load, plans are discarded less and
 * less often.
 */
export class PreparedStatements {
  private readonly plans = new WeakMap<PoolClient, Plans>();
  private firstAt: number | null = null;

  /** @param keeps whether connections keep prepared statements; a pooler in transaction mode does not. */
  constructor(private readonly keeps = true) {}

  async run<R extends QueryResultRow>(
    client: PoolClient,
    { name, text }: Prepared,
    params: readonly unknown[],
  ): Promise<QueryResult<R>> {
    if (!this.keeps) return client.query<R>(text, params as unknown[]);
    const startedAt = performance.now();
    const plans = this.plansOf(client, startedAt);
    // If it fails, the statement reports the error.
    if (this.forgets(plans, startedAt)) await client.query('discard plans').catch(() => undefined);
    try {
      return await client.query<R>({ name, text, values: params as unknown[] });
    } finally {
      plans.wasSlow ||= performance.now() - startedAt > SLOW_MS;
    }
  }

  private plansOf(client: PoolClient, now: number): Plans {
    let plans = this.plans.get(client);
    if (plans === undefined) {
      // A new connection has no plans.
      plans = { forgottenAt: now, pauseMs: PLANS_LIVE_MS, wasSlow: false };
      this.plans.set(client, plans);
    }
    return plans;
  }

  private forgets(plans: Plans, now: number): boolean {
    this.firstAt ??= now;
    const isNew = now - this.firstAt < NEW_MS;
    const age = now - plans.forgottenAt;
    if (!isNew && !plans.wasSlow) return false;
    const pauseMs = isNew && !plans.wasSlow ? plans.forgottenAt - this.firstAt : plans.pauseMs;
    if (age < Math.max(pauseMs, PLANS_LIVE_MS)) return false;
    const again = !isNew && age < 2 * MAX_PAUSE_MS;
    plans.pauseMs = again ? Math.min(plans.pauseMs * 2, MAX_PAUSE_MS) : PLANS_LIVE_MS;
    plans.forgottenAt = now;
    plans.wasSlow = false;
    return true;
  }
}
