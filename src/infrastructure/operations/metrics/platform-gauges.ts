import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Database } from '../../database/database.js';
import { Backlogs } from '../backlogs.js';
import { heraldVersion } from '../build-info.js';
import { Metrics } from './metrics.js';

/** What the platform's own queues show: connections to the database, sweeps, lanes that rest. */
@Injectable()
export class PlatformGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly backlogs: Backlogs,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.addProcess();
    this.addBacklogs();
    this.addFleet();
  }

  private addProcess(): void {
    const build = { version: heraldVersion(), node: process.version, roles: this.config.process.roles.join(',') };
    this.metrics.add({
      name: 'build_info',
      help: 'What runs here, and with which roles; always 1.',
      labelNames: ['version', 'node', 'roles'],
      collect: () => Promise.resolve([{ labels: build, value: 1 }]),
    });
    this.metrics.add({
      name: 'database_connections_limit',
      help: "Connections that this process's pool may open.",
      collect: () => Promise.resolve([{ value: this.config.database.poolSize }]),
    });
    this.metrics.add({
      name: 'database_connections',
      help: "Connections of this process's pool: in use, idle, and callers that wait for one.",
      labelNames: ['state'],
      collect: () => {
        const { totalCount, idleCount, waitingCount } = this.database.pool;
        return Promise.resolve([
          { labels: { state: 'used' }, value: totalCount - idleCount },
          { labels: { state: 'idle' }, value: idleCount },
          { labels: { state: 'waiting' }, value: waitingCount },
        ]);
      },
    });
  }

  private addBacklogs(): void {
    this.metrics.add({
      name: 'backlog_rows',
      help: 'What waits and what is under way, by queue, in all workspaces; counted up to 100000.',
      labelNames: ['queue', 'state'],
      collect: async () =>
        (await this.backlogs.read()).flatMap(({ queue, waiting, inFlight }) => [
          { labels: { queue, state: 'waiting' }, value: waiting },
          { labels: { queue, state: 'in_flight' }, value: inFlight },
        ]),
    });
    this.metrics.add({
      name: 'backlog_oldest_due_seconds',
      help: 'How long the row of a queue that is due for longest has waited; 0: none is due.',
      labelNames: ['queue'],
      collect: async () =>
        (await this.backlogs.read()).map(({ queue, oldestDueSeconds }) => ({
          labels: { queue },
          value: oldestDueSeconds,
        })),
    });
  }

  /** The same in every process: it is read from the database. */
  private addFleet(): void {
    this.metrics.add({
      name: 'sweep_age_seconds',
      help: 'Time since each sweep last succeeded, in whichever process; one that only grows has died.',
      labelNames: ['sweep'],
      collect: async () => {
        const rows = await this.database.query<{ name: string; age: number }>(
          `select substr(name, 7) as name, extract(epoch from clock_timestamp() - beat_at)::float8 as age
           from heartbeat where name like 'sweep:%'`,
        );
        return rows.map(({ name, age }) => ({ labels: { sweep: name }, value: age }));
      },
    });
    this.metrics.add({
      name: 'lanes_paused',
      help: 'Lanes that rest because the platform said so, by reason.',
      labelNames: ['reason'],
      collect: async () => {
        const rows = await this.database.query<{ reason: string; lanes: number }>(
          `select coalesce(pause_reason, 'unknown') as reason, count(*)::integer as lanes from lane
           where paused_until > clock_timestamp() group by 1 order by 2 desc limit 50`,
        );
        return rows.map(({ reason, lanes }) => ({ labels: { reason }, value: lanes }));
      },
    });
  }
}
