import type { PoolClient } from 'pg';

/**
 * A statement that PostgreSQL parses and plans once a connection instead of at every call, which for the long ones of
 * the hot paths is as much work as running them. Elsewhere plain text is better: it is planned for its own parameters.
 */
export interface Prepared {
  /** One text has one name, and one name one text. */
  readonly name: string;
  readonly text: string;
}

/**
 * A plan that was made while tables were empty reads them whole; PostgreSQL itself makes a new one only when the table is
 * analyzed, perhaps a minute later (seen: a claim from 100,000 new rows took 3.3 s by such a plan, 15 ms by a new one).
 */
const PLANS_LIVE_MS = 1_000;

const plannedAt = new WeakMap<PoolClient, number>();

/** Lets a connection forget plans that are older than a second; the statements themselves stay prepared. */
export function forgetOldPlans(client: PoolClient): void {
  const now = performance.now();
  if (now - (plannedAt.get(client) ?? -Infinity) < PLANS_LIVE_MS) return;
  plannedAt.set(client, now);
  // Waits in the connection's own line before the statement; where it fails, that one tells.
  client.query('discard plans').catch(() => undefined);
}
