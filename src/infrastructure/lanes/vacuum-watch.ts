import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import { TransactionTimes, VACUUM_HORIZON, type Holder } from '../database/vacuum-horizon.js';
import { Metrics, type Sample } from '../operations/metrics/metrics.js';
import { Sweeps } from './sweeps.js';

const EVERY_MS = 15_000;
/** After so long another process measures; this one's figures would stand still. */
const STALE_MS = 3 * EVERY_MS;
const KINDS = ['session', 'prepared', 'slot'] as const;

/** Measures, in the process that leads the sweeps, for how long rows that are gone are kept from being cleared away. */
@Injectable()
export class VacuumWatch implements OnModuleInit {
  private readonly times = new TransactionTimes();
  private measured: Sample[] = [];
  private measuredAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly sweeps: Sweeps,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({ name: 'vacuum_horizon', everyMs: EVERY_MS, run: () => this.measure() });
    this.metrics.add({
      name: 'database_oldest_xmin_seconds',
      help:
        'Age of the oldest open transaction that keeps the database from clearing rows away: a session, a prepared transaction, ' +
        'or what a replication slot holds; shown by the process that leads the sweeps.',
      labelNames: ['holder'],
      collect: () => Promise.resolve(performance.now() - this.measuredAt < STALE_MS ? this.measured : []),
    });
  }

  private async measure(): Promise<number> {
    const [newest] = await this.database.query<{ xid: number }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as xid',
    );
    const holders = await this.database.query<Holder>(VACUUM_HORIZON);
    const now = performance.now();
    if (newest !== undefined) this.times.note(now, newest.xid);
    this.measured = KINDS.map((kind) => {
      const ages = holders
        .filter((holder) => holder.kind === kind)
        .map(({ xid, seconds }) => seconds ?? this.times.secondsSince(xid, now));
      return { labels: { holder: kind }, value: Math.max(0, ...ages) };
    });
    this.measuredAt = now;
    return 0;
  }
}
