import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Metrics } from './metrics.js';

/** What the platform's own rooms show: connections to the database, sweeps, lanes that rest. */
@Injectable()
export class PlatformGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
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
