import { Injectable, Logger } from '@nestjs/common';
import { type Clock, systemClock } from '../../common/clock.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { PRIMARY_FACTS, type PrimaryFacts, reasonAgainst, reasonToAsk } from './failover-proof.js';
import { LaneOwner } from './lane-owner.js';

/** A worker that has not written for this long knows too little about the previous database. */
const MAX_SILENCE_MS = 600_000;
/** Another worker may know the previous database: a worker that does not leaves the decision to it for this long. */
export const LEAVE_TO_OTHERS_MS = 30_000;

/** The last facts of this worker whose commit was confirmed. */
interface Known {
  identity: string;
  n: number;
  /** When the statement was sent (monotonic ms). */
  at: number;
}

/** `wait`: another process may decide. `ask`: an operator must. */
export type Verdict = { kind: 'continue' } | { kind: 'wait' } | { kind: 'ask'; reason: string | null };

/**
 * With AFTER_FAILOVER=continue each worker writes once a second which standbys the primary's commits wait for: a row
 * `primary:<worker>` of `heartbeat`, except while claims are blocked. After a promotion these rows, and the worker's
 * memory, show whether the new primary has every commit. A worker that did not know the previous database cannot tell a
 * promotion from a restored backup.
 */
@Injectable()
export class Failover {
  private readonly logger = new Logger('Failover');
  private readonly clock: Clock = systemClock;
  private beats = 0;
  private known: Known | null = null;
  private waiting: { found: string; since: number } | null = null;
  private reason: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly owner: LaneOwner,
    private readonly config: Config,
  ) {}

  get continues(): boolean {
    return this.config.database.afterFailover === 'continue';
  }

  /** Writes which standbys the primary's commits wait for; runs as a sweep of each worker. */
  async beat(): Promise<number> {
    const at = this.clock.monotonic();
    const n = ++this.beats;
    const row = await this.database.find<{ facts: PrimaryFacts }>(BEAT, [n, this.name]);
    if (row === null) return 0;
    // A commit without an answer, or one that did not wait for the standby, counts as failed: the new primary may lack
    // it.
    this.known = { identity: row.facts.identity, n, at };
    const reason = reasonAgainst(row.facts);
    if (reason !== this.reason && reason !== null) {
      this.logger.warn(`after a failover now an operator would have to decide: ${reason}`);
    }
    this.reason = reason;
    return 0;
  }

  /** The decision where the database is `found`, and no longer `confirmed`. */
  async verdict(confirmed: string, found: string): Promise<Verdict> {
    if (!this.continues) return { kind: 'ask', reason: null };
    const now = this.clock.monotonic();
    const { known } = this;
    if (known?.identity !== confirmed) {
      if (this.waiting?.found !== found) this.waiting = { found, since: now };
      if (now - this.waiting.since < LEAVE_TO_OTHERS_MS) return { kind: 'wait' };
      return { kind: 'ask', reason: 'no worker that knew the database before was there to compare' };
    }
    if (now - known.at > MAX_SILENCE_MS) {
      return { kind: 'ask', reason: 'this worker had lost the database before for more than ten minutes' };
    }
    const { address, last, here } = await this.database.row<{
      address: string | null;
      last: PrimaryFacts[];
      here: string | null;
    }>(LAST, [this.name, confirmed]);
    const own = here === null ? null : Number(here);
    const reason = reasonToAsk({ confirmed, found, address, last, known: known.n, here: own });
    return reason === null ? { kind: 'continue' } : { kind: 'ask', reason };
  }

  private get name(): string {
    return `primary:${this.owner.id}`;
  }
}

// $1 the number, $2 the row. Deletes rows of workers that ended long ago.
const BEAT = `
with ended as (
  delete from heartbeat where name = any(array(
    select name from heartbeat
    where name like 'primary:%' and name <> $2 and beat_at < clock_timestamp() - interval '${MAX_SILENCE_MS} ms'
    for update skip locked))
)
insert into heartbeat as h (name, beat_at, replication)
select $2, clock_timestamp(), ${PRIMARY_FACTS} from database_identity where identity = identity_of_database()
on conflict (name) do update set beat_at = excluded.beat_at, replication = excluded.replication
returning replication as facts`;

// $1 this worker's row, $2 the previous identity.
const LAST = `
with written as (
  select name, beat_at, replication from heartbeat where name like 'primary:%' and replication ->> 'identity' = $2
)
select host(inet_server_addr()) as address,
  coalesce((select jsonb_agg(replication) from written
    where beat_at > (select max(beat_at) from written) - interval '1 minute'), '[]') as last,
  (select replication ->> 'n' from written where name = $1) as here`;
