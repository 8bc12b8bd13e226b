import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { lowestIdSince } from '../../common/ids.js';
import { Config } from '../../infrastructure/config/config.js';
import { type Counts, Erasure } from '../workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Restoration } from '../../infrastructure/queue/restoration.js';
import { Backlogs } from '../../infrastructure/operations/backlogs.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { EventJournal } from './events/event-journal.service.js';
import { EventsRepository } from './events/events.repository.js';
import { WebhookMaintenanceRepository } from './webhook-maintenance.repository.js';
import { WebhookService } from './webhook.service.js';

const PURGE_EVERY_MS = 60_000;
/** Events of one endpoint. */
const PURGE_BATCH = 2_000;
const DAY_MS = 86_400_000;

/** After this many days without reading, events of a workspace without an endpoint are no longer recorded. */
const UNREAD_DAYS = 7;

/**
 * The deletion of events, whose data includes what messages said and to whom: old events, those of an erased contact,
 * those that have waited too long or are too many, and those of deleted endpoints. Reports the backlog, and the
 * endpoints by state.
 */
@Injectable()
export class WebhookMaintenance implements OnModuleInit {
  private readonly logger = new Logger('Webhook');

  constructor(
    private readonly repository: WebhookMaintenanceRepository,
    private readonly webhook: WebhookService,
    private readonly events: EventsRepository,
    private readonly journal: EventJournal,
    private readonly restoration: Restoration,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly retention: Retention,
    private readonly sweeps: Sweeps,
    private readonly backlogs: Backlogs,
    private readonly metrics: Metrics,
    private readonly counters: Counters,
    private readonly config: Config,
  ) {}

  async onModuleInit(): Promise<void> {
    const { repository } = this;
    this.erasure.add({
      name: 'webhook events',
      // Events that name only the contact. Events of messages are deleted with the messages.
      batch: async ({ organizationId, numbers, userIds }, _cursor, erase) => ({
        found: await this.about(organizationId, [...numbers, ...userIds], erase),
        cursor: null,
      }),
      ofMessages: (organizationId, { messageIds, fileIds }, erase) =>
        this.about(organizationId, [...messageIds, ...fileIds], erase),
    });
    this.workspaces.add({ stop: async (organizationId) => void (await this.webhook.remove(organizationId)) });
    this.sweeps.add({ name: 'webhook_purge', everyMs: PURGE_EVERY_MS, run: (signal) => this.purge(signal) });
    this.backlogs.add('webhooks', () => repository.backlog());
    this.metrics.add({
      name: 'webhook_endpoints',
      help: 'Webhook endpoints by state; gone: answered 410, failing: five days without one success.',
      labelNames: ['state'],
      collect: async () => {
        const rows = await repository.endpointsByState();
        return rows.map(({ state, endpoints }) => ({ labels: { state }, value: endpoints }));
      },
    });
    this.metrics.add({
      name: 'webhook_endpoints_failing',
      help: 'Active webhook endpoints of which each attempt has failed for a minute or longer.',
      collect: async () => [{ value: await repository.endpointsFailing() }],
    });
    this.restoration.onConfirm(() => this.events.renumber());
    const { webhookDays: days } = this.config.retention;
    this.retention.add({
      name: 'webhook events',
      days,
      clear: async (before, limit) =>
        (await this.journal.isPassed(before)) ? repository.removeOld(lowestIdSince(before), limit) : 0,
    });
    await this.retention.addPartitioned({ table: 'webhook_delivery', period: 'day', days });
  }

  private async about(organizationId: string, subjects: readonly string[], erase: boolean): Promise<Counts> {
    const found = erase
      ? this.repository.removeAbout(organizationId, subjects)
      : this.repository.countAbout(organizationId, subjects);
    return { webhook_events: await found };
  }

  private async purge(signal: AbortSignal): Promise<number> {
    const { repository } = this;
    const most = this.config.webhook.maxWaiting;
    const { webhookDays } = this.config.retention;
    const kept = lowestIdSince(new Date(databaseClock.now() - webhookDays * DAY_MS));
    let [held, excess, deleted, old] = [0, 0, 0, 0];
    // One batch of each kind in turn, so that a large number of one delays the others by a batch only.
    const batch = async (limit: number): Promise<number> => {
      const before = [held, excess, deleted, old];
      held += await repository.dropHeld(limit);
      excess += await repository.dropExcess(most, limit);
      deleted += await repository.purgeDeleted(limit);
      old += await repository.dropOld(kept, limit);
      return Math.max(...[held, excess, deleted, old].map((rows, n) => rows - (before[n] ?? 0)));
    };
    try {
      await inBatches(signal, PURGE_BATCH, batch);
    } finally {
      this.dropped(held, 'three days at a paused or disabled endpoint');
      this.dropped(excess, `more than ${most} at an endpoint that fails or rests`);
      this.dropped(old, `older than ${webhookDays} days (WEBHOOK_RETENTION_DAYS)`);
    }
    await this.events.stopUnread(Math.min(UNREAD_DAYS, webhookDays));
    return held + excess + deleted + old + (await repository.purgeSecrets());
  }

  /** Always logged: the endpoint does not get these events. */
  private dropped(events: number, why: string): void {
    if (events === 0) return;
    this.counters.increment('webhook_events_dropped', events);
    this.logger.warn(`${events} webhook events are not delivered any more: ${why}`);
  }
}
