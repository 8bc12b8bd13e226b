import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { Backlogs, boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';

/** What those who run the service see of events and endpoints, of all workspaces together. */
@Injectable()
export class WebhookBacklogRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly backlogs: Backlogs,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('webhooks', () => this.read());
    this.metrics.add({
      name: 'webhook_endpoints',
      help: 'Webhook endpoints by state; gone: answered 410, failing: five days without one success.',
      labelNames: ['state'],
      collect: async () => {
        const rows = await this.endpoints();
        return rows.map(({ state, endpoints }) => ({ labels: { state }, value: endpoints }));
      },
    });
  }

  /** Events of endpoints that take any; what waits for a paused one is not overdue. */
  private async read(): Promise<Backlog> {
    const rows = await this.database.query<Backlog>(BACKLOG);
    return rows[0] ?? { waiting: 0, inFlight: 0, oldestDueSeconds: 0 };
  }

  private endpoints(): Promise<{ state: string; endpoints: number }[]> {
    return this.database.query(
      `select state, coalesce(found.endpoints, 0) as endpoints
       from unnest(array['active', 'paused', 'gone', 'failing']) as state left join (
         select coalesce(disabled_reason, case when active then 'active' else 'paused' end) as state,
           count(*)::integer as endpoints
         from webhook_endpoint where deleted_at is null group by 1) as found using (state)`,
    );
  }
}

const BACKLOG = `
select ${boundedCount("from webhook_event where status = 'pending'")} as waiting,
  ${boundedCount('from webhook_event where current_attempt_id is not null')} as "inFlight",
  ${secondsSince(`(
    select min(head.next_attempt_at)
    from (select id from webhook_endpoint where active and disabled_reason is null and deleted_at is null) as endpoint
    cross join lateral (
      select next_attempt_at from webhook_event where endpoint_id = endpoint.id and status = 'pending'
      order by next_attempt_at limit 1) as head)`)} as "oldestDueSeconds"`;
