import type pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '../common/describe-error.js';
import type { Config } from '../infrastructure/config/config.js';
import { closeNow } from '../infrastructure/database/lost-server.js';
import { startClient } from '../infrastructure/database/pooler.js';
import { lsnOf, PRIMARY_PLACE, PrimaryHistory } from '../infrastructure/database/primary-history.js';
import { askStandby } from '../infrastructure/database/standby.js';
import { PRIMARY_FACTS, type PrimaryFacts, reasonAgainst } from '../infrastructure/queue/failover-proof.js';
import { type Finding, ok, type Result, warn } from './doctor-findings.js';

/** A working standby is milliseconds behind. */
const WAIT_MS = 2_000;
const AGAIN_MS = 50;
const INSTEAD = 'The primary is read instead';

/** Returns one finding for each standby of DATABASE_READ_URL. */
export async function checkStandbys(primary: pg.Client, { database }: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [index, url] of database.readUrls.entries()) {
    findings.push({ check: `standby ${index + 1}`, ...(await checkStandby(primary, url)) });
  }
  return findings;
}

/**
 * With AFTER_FAILOVER=continue, returns one finding: whether Herald would continue by itself after a failover now.
 * Otherwise returns none.
 */
export async function checkFailover(primary: pg.Client, { database }: Config): Promise<Finding[]> {
  if (database.afterFailover !== 'continue') return [];
  const { rows } = await primary.query<{ facts: PrimaryFacts }>(`select ${PRIMARY_FACTS} as facts`, [0]);
  const reason = rows[0] === undefined ? null : reasonAgainst(rows[0].facts);
  const finding =
    reason === null
      ? ok('AFTER_FAILOVER=continue: each commit waits for the synchronous standbys')
      : warn(`AFTER_FAILOVER=continue, but after a failover now an operator would have to decide: ${reason}`);
  return [{ check: 'failover', ...finding }];
}

async function checkStandby(primary: pg.Client, url: string): Promise<Result> {
  const { hostname, port } = new URL(url);
  const name = `${hostname}:${port || '5432'}`;
  const standby = startClient(url, WAIT_MS);
  try {
    await standby.connect();
    const history = new PrimaryHistory();
    const { rows } = await primary.query<{ identity: string; lsn: string }>(PRIMARY_PLACE);
    const [place] = rows;
    if (place !== undefined) history.note(place.identity, lsnOf(place.lsn), performance.now());
    return await compare(standby, history, name);
  } catch (error) {
    return warn(`${name} can't be reached: ${describeError(error)}. ${INSTEAD}; is DATABASE_READ_URL right?`);
  } finally {
    closeNow(standby);
  }
}

async function compare(standby: pg.Client, history: PrimaryHistory, name: string): Promise<Result> {
  const askedAt = performance.now();
  for (;;) {
    const { fault, replayed } = await askStandby(standby, history);
    if (fault !== null) return warn(`${name} ${fault}. ${INSTEAD}`);
    const ms = Math.round(performance.now() - askedAt);
    const { lastLsn } = history;
    if (lastLsn !== null && replayed >= lastLsn) return ok(`${name} had the primary's last commit ${ms} ms later`);
    if (ms > WAIT_MS) {
      return warn(`${name} is more than ${WAIT_MS} ms behind. ${INSTEAD} where it is more than READ_LAG_MS`);
    }
    await pause(AGAIN_MS);
  }
}
