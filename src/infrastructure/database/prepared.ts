import type { PoolClient, QueryResult, QueryResultRow } from 'pg';

/**
 * A statement that PostgreSQL parses and plans once a connection instead of at every call, which for the long ones of
 * the hot paths is as much work as running them. Elsewhere plain text is better: it is planned for its own parameters.
 */
export interface Prepared {
  /** One text has one name, and one name one text. */
  readonly name: string;
  readonly text: string;
}

const PLANS_LIVE_MS = 1_000;
const NEW_MS = 60_000;
const SLOW_MS = 50;
/** By then the table has been analyzed. */
const MAX_PAUSE_MS = 60_000;

interface Plans {
  forgottenAt: number;
  /** For which they are kept at least. */
  pauseMs: number;
  wasSlow: boolean;
}

/**
 * Runs prepared statements, and keeps their plans from being wrong for long. A plan that was made while tables were empty
 * reads them whole; PostgreSQL itself makes a new one only when the table is analyzed, perhaps a minute later (seen: a
 * claim from 100,000 new rows took 3.3 s by such a plan, 15 ms by a new one). So a connection forgets its plans, while the
 * statements stay prepared: in the first minute after 1, 2, 4 ... seconds, since tables at most double in between, and
 * whenever a statement was slow, in case its plan is why. Where it stays slow, as under load, this is done
 * ever less often.
 */
export class PreparedStatements {
  private readonly plans = new WeakMap<PoolClient, Plans>();
  private firstAt: number | null = null;

  /** @param keeps whether connections keep statements; behind a pooler that lends them for a transaction they do not. */
  constructor(private readonly keeps = true) {}

  async run<R extends QueryResultRow>(
    client: PoolClient,
    { name, text }: Prepared,
    params: readonly unknown[],
  ): Promise<QueryResult<R>> {
    if (!this.keeps) return client.query<R>(text, params as unknown[]);
    const startedAt = performance.now();
    const plans = this.plansOf(client, startedAt);
    // Where it fails, the statement reports it.
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
      // A new connection has none.
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
