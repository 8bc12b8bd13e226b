import { databaseClock } from '../../../common/clock.js';
import { heraldVersion } from '../../../common/version.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { endOfGraphVersion } from '../../config/graph-version.js';
import { Database } from '../../database/database.js';
import { Standbys } from '../../database/standbys.js';
import { Backlogs } from '../backlogs.js';
import { Readiness } from '../readiness.js';
import { Metrics, type Sample } from './metrics.js';
import { oldestXmin } from './vacuum-horizon.js';

/**
 * Gauges of the infrastructure: connections to the database, readiness, backlogs, sweeps, paused lanes, expiring keys,
 * the clock.
 */
@Injectable()
export class InfrastructureGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly backlogs: Backlogs,
    private readonly readiness: Readiness,
    private readonly standbys: Standbys,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const build = { version: heraldVersion(), node: process.version, roles: this.config.process.roles.join(',') };
    this.metrics.add({
      name: 'build_info',
      help: 'Version and roles of this process; always 1.',
      labelNames: ['version', 'node', 'roles'],
      collect: async () => [{ labels: build, value: 1 }],
    });
    this.metrics.add({
      name: 'graph_version_days_left',
      help: "Days until the version of WhatsApp's API that is set ends; none where its end is not known.",
      labelNames: ['version'],
      collect: async () => {
        const { apiVersion: version } = this.config.whatsapp;
        const end = endOfGraphVersion(version, databaseClock.date());
        return end === null ? [] : [{ labels: { version }, value: end.daysLeft }];
      },
    });
    this.metrics.add({
      name: 'clock_offset_seconds',
      help: "How far the clock of this process's host is ahead of the database's, by which Herald goes; negative: behind.",
      collect: async () => [{ value: databaseClock.hostAheadMs / 1_000 }],
    });
    this.metrics.add({
      name: 'ready',
      help: 'Whether this process is ready, by part, as /health/ready says: 1 or 0.',
      labelNames: ['part'],
      collect: async () => {
        const { parts } = await this.readiness.report();
        return Object.entries(parts).map(([part, { ok }]) => ({ labels: { part }, value: ok ? 1 : 0 }));
      },
    });
    this.metrics.add({
      name: 'database_connections_limit',
      help: "Connections that this process's pool may open.",
      collect: async () => [{ value: this.config.database.poolSize }],
    });
    this.metrics.add({
      name: 'database_connections',
      help: "Connections of this process's pool: in use, idle, and callers that wait for one.",
      labelNames: ['state'],
      collect: async () => {
        const { totalCount, idleCount, waitingCount } = this.database.pool;
        return [
          { labels: { state: 'used' }, value: totalCount - idleCount },
          { labels: { state: 'idle' }, value: idleCount },
          { labels: { state: 'waiting' }, value: waitingCount },
        ];
      },
    });
    if (this.standbys.all.length > 0) this.addStandbys();
    this.metrics.add({
      name: 'backlog_rows',
      help: 'Rows waiting and in progress, by queue, in all workspaces; counted up to 100000.',
      labelNames: ['queue', 'state'],
      collect: async () =>
        (await this.backlogs.read()).flatMap(({ queue, waiting, inFlight }) => [
          { labels: { queue, state: 'waiting' }, value: waiting },
          { labels: { queue, state: 'in_flight' }, value: inFlight },
        ]),
    });
    this.metrics.add({
      name: 'backlog_oldest_due_seconds',
      help: 'Age of the oldest due row of each queue; 0: none is due.',
      labelNames: ['queue'],
      collect: async () =>
        (await this.backlogs.read()).map(({ queue, oldestDueSeconds: value }) => ({ labels: { queue }, value })),
    });
    // Read from the database, so every process reports the same.
    this.metrics.add({
      name: 'sweep_age_seconds',
      help: 'Time since each sweep last succeeded, in whichever process; a value that only grows means that the sweep does not run.',
      labelNames: ['sweep'],
      collect: () =>
        this.database.query<Sample>(
          `select json_build_object('sweep', substr(name, 7)) as labels,
             extract(epoch from clock_timestamp() - beat_at)::float8 as value
           from heartbeat where name like 'sweep:%'`,
        ),
    });
    this.metrics.add(oldestXmin(this.database));
    this.metrics.add({
      name: 'api_keys_ending',
      help: 'API keys that end within seven days; of those only that were made for longer than 14 days.',
      collect: () => this.database.query<Sample>(KEYS_ENDING),
    });
    this.metrics.add({
      name: 'lanes_paused',
      help: 'Lanes paused by reason: of the platform, or webhook_endpoint for one that hangs or asked to wait.',
      labelNames: ['reason'],
      collect: () =>
        this.database.query<Sample>(
          `select jsonb_build_object('reason', coalesce(pause_reason, 'unknown')) as labels, count(*)::integer as value
           from lane where paused_until > clock_timestamp() group by 1 order by 2 desc limit 50`,
        ),
    });
  }

  private addStandbys(): void {
    const of = (value: (standby: Standbys['all'][number]) => number) =>
      this.standbys.all.map((standby, index) => ({ labels: { standby: String(index + 1) }, value: value(standby) }));
    this.metrics.add({
      name: 'standby_read',
      help: 'Whether a standby of DATABASE_READ_URL, by its place there, is read by this process: 1 or 0.',
      labelNames: ['standby'],
      collect: async () => of((standby) => (this.standbys.isRead(standby) ? 1 : 0)),
    });
    this.metrics.add({
      name: 'standby_lag_seconds',
      help: 'How far a standby of DATABASE_READ_URL is behind at most, up to a second more than it is; +Inf: it is away.',
      labelNames: ['standby'],
      collect: async () => of(({ lagMs }) => lagMs / 1_000),
    });
  }
}

// Keys that live for hours or days are left out: their users renew them.
const KEYS_ENDING = `select count(*)::integer as value from api_key
  where expires_at between clock_timestamp() and clock_timestamp() + interval '7 days'
    and expires_at > created_at + interval '14 days' and revoked_at is null`;
