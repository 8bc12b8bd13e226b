import { Injectable, Logger } from '@nestjs/common';
import { type Clock, systemClock } from '../../common/clock.js';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { PRIMARY_FACTS, type PrimaryFacts, reasonAgainst, reasonToAsk } from './failover-proof.js';
import { LaneOwner } from './lane-owner.js';

/** A worker that has not written for so long knows too little of the database before. */
const MAX_SILENCE_MS = 600_000;
/** Another worker may know the database before: one that does not leaves it the decision for so long. */
export const LEAVE_TO_OTHERS_MS = 30_000;

/** The last facts of this worker of which the commit was answered. */
interface Known {
  identity: string;
  n: number;
  /** Monotonic milliseconds, before the question. */
  at: number;
}

/** `wait`: another process may decide. `ask`: an operator has to. */
export type Verdict = { kind: 'continue' } | { kind: 'wait' } | { kind: 'ask'; reason: string | null };

/**
 * With AFTER_FAILOVER=continue each worker writes once a second which standbys the primary's commits wait for: a row `primary:<worker>` of
 * `heartbeat`, not while claims are blocked. After a promotion these rows, and what this worker remembers, tell whether the new primary has every
 * commit. A worker that does not remember the database before cannot tell a promotion from a restored backup.
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

  /** Writes what the primary's commits wait for; the sweep of each worker. */
  async beat(): Promise<number> {
    const at = this.clock.monotonic();
    const n = ++this.beats;
    const row = await this.database.find<{ facts: PrimaryFacts }>(BEAT, [n, this.name]);
    if (row === null) return 0;
    // A commit that is not answered, or did not wait for the standby, has failed: it may lack on the new primary.
    this.known = { identity: row.facts.identity, n, at };
    const reason = reasonAgainst(row.facts);
    if (reason !== this.reason && reason !== null) {
      this.logger.warn(`after a failover now an operator would have to decide: ${reason}`);
    }
    this.reason = reason;
    return 0;
  }

  /** What to do where the database is `found` and no more `confirmed`. */
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

// $1 the number, $2 the row. Rows of workers that ended long ago go.
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

// $1 this worker's row, $2 the identity before.
const LAST = `
with written as (
  select name, beat_at, replication from heartbeat where name like 'primary:%' and replication ->> 'identity' = $2
)
select host(inet_server_addr()) as address,
  coalesce((select jsonb_agg(replication) from written
    where beat_at > (select max(beat_at) from written) - interval '1 minute'), '[]') as last,
  (select replication ->> 'n' from written where name = $1) as here`;
