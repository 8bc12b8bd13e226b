import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { newId } from '../../common/ids.js';
import { Database } from '../database/database.js';

const BEAT_EVERY_MS = 2_000;
/** Wait after a failed beat. */
const BEAT_AGAIN_MS = 500;
/** Other processes may take the lanes of a process that has been silent for this long. */
const ALIVE_MS = 5_000;
/** When to remove rows of processes that ended without removing them. */
const FORGET_AFTER = '1 minute';

/**
 * SQL: the row of `worker` under this alias belongs to a live process. A time more than 5 s ahead does not count: it
 * was written by a clock that was ahead, before a failover to a server with a slower clock.
 */
export const isAlive = (worker: string): string => `${worker}.alive_until > clock_timestamp()
    and ${worker}.alive_until <= clock_timestamp() + interval '${ALIVE_MS} milliseconds'`;

/** SQL: a live process owns the lane in the row of `lane` under this alias. */
export function isOwned(lane: string): string {
  return `exists (select from worker where worker.id = ${lane}.owner and ${isAlive('worker')})`;
}

/**
 * This process as an owner of lanes. Its row in `worker` shows that it is alive, and is written every two seconds for
 * any number of lanes. A lane belongs to the process in `lane.owner` while that is alive:
 *
 * | A lane is | By                               | Then                                                                     |
 * | --------- | -------------------------------- | ------------------------------------------------------------------------ |
 * | taken     | a claim (`laneGrants`)           | `owner` is this process                                                  |
 * | known     | `BusyLane.claimed`               | its unused pace is in memory; claims do not write to the lane            |
 * | unknown   | `BusyLane.paceIsUnknown`         | a claim failed, and may have taken it: the next one takes it again       |
 * | released  | `LaneRepository.release`         | `owner` is null, with the unused pace; first waits for a hanging claim   |
 * | free      | no beat for 5 s (`isOwned`)      | `owner` names a process that is not alive: the next claim takes the lane |
 */
@Injectable()
export class LaneOwner implements OnApplicationShutdown {
  /** New at every start. */
  readonly id = newId();
  private readonly logger = new Logger('Queue');
  private timer: NodeJS.Timeout | null = null;
  private beating: Promise<void> = Promise.resolve();
  private isFailing = false;
  private stopped = false;
  private others = 0;

  constructor(private readonly database: Database) {}

  /** Whether other processes work, as of the last beat. */
  get hasOthers(): boolean {
    return this.others > 0;
  }

  /** Call it before the first lane is claimed: other processes may take the lanes of one that has no row. */
  async start(): Promise<void> {
    await this.beat();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.beating;
    if (this.timer === null) return;
    // If the database is away, the row expires by itself.
    await this.database.execute('delete from worker where id = $1', [this.id]).catch(() => undefined);
  }

  private beat(): Promise<void> {
    // Uses a reserved connection if all others are in use, since a busy process is alive.
    const beat = this.database.detached(() => this.database.row<{ others: number }>(BEAT, [this.id]));
    this.beating = beat.then(
      ({ others }) => {
        this.isFailing = false;
        this.others = others;
        this.next(BEAT_EVERY_MS);
      },
      (error: unknown) => {
        if (!this.isFailing) this.logger.warn(`other processes may take its lanes: ${describeError(error)}`);
        this.isFailing = true;
        this.next(BEAT_AGAIN_MS);
      },
    );
    return this.beating;
  }

  private next(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.beat(), inMs);
    this.timer.unref();
  }
}

/** $1 this process. Returns how many other processes work. */
const BEAT = `
with ended as (
  delete from worker where id = any(array(
    select id from worker where alive_until not between clock_timestamp() - interval '${FORGET_AFTER}'
      and clock_timestamp() + interval '${FORGET_AFTER}' and id <> $1
    for update skip locked))
), beat as (
  insert into worker (id, alive_until) values ($1, clock_timestamp() + interval '${ALIVE_MS} milliseconds')
  on conflict (id) do update set alive_until = excluded.alive_until
)
select count(*)::integer as others from worker where id <> $1 and ${isAlive('worker')}`;
