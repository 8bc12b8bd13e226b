import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { Restoration } from '../../infrastructure/queue/restoration.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { EventJournal } from '../webhook/events/event-journal.service.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { DestinationsMaintenanceRepository } from './destinations-maintenance.repository.js';
import { DestinationsService } from './destinations.service.js';

const REPORT_EVERY_MS = 10_000;
/** Limit of statements in one removal of old events; the rest follows a minute later. */
const MAX_STATEMENTS = 50;

/**
 * Maintenance of destinations over all workspaces: events past their retention, reports of lost ones, figures for
 * operators.
 */
@Injectable()
export class DestinationsMaintenance implements OnModuleInit {
  private readonly logger = new Logger('Destinations');

  constructor(
    private readonly repository: DestinationsMaintenanceRepository,
    private readonly destinations: DestinationsService,
    private readonly journal: EventJournal,
    private readonly restoration: Restoration,
    private readonly workspaces: WorkspaceErasure,
    private readonly sweeps: Sweeps,
    private readonly metrics: Metrics,
    private readonly counters: Counters,
  ) {}

  onModuleInit(): void {
    const { repository } = this;
    this.workspaces.add({ stop: (organizationId) => this.destinations.removeAll(organizationId) });
    this.journal.beforeRemoval((below) => this.pass(below));
    this.restoration.onConfirm(() => repository.renumber());
    this.sweeps.add({
      name: 'destination_losses',
      everyMs: REPORT_EVERY_MS,
      hasWork: repository.hasLosses,
      run: () => repository.reportLosses(),
    });
    this.metrics.add({
      name: 'event_destinations',
      help: 'Event destinations by kind and state: active, failing or paused.',
      labelNames: ['kind', 'state'],
      collect: async () =>
        (await repository.byState()).map(({ kind, state, destinations }) => ({
          labels: { kind, state },
          value: destinations,
        })),
    });
    this.metrics.add({
      name: 'event_destinations_oldest_seconds',
      help: 'Seconds for which the oldest event waits for an event destination that is not paused, by kind.',
      labelNames: ['kind'],
      collect: async () =>
        (await repository.oldest()).map(({ kind, seconds }) => ({ labels: { kind }, value: seconds })),
    });
  }

  /** Moves destinations past events that are about to be removed; selected ones count as lost. */
  private async pass(below: string): Promise<boolean> {
    for (let n = 0; n < MAX_STATEMENTS; n++) {
      const { lost, more } = await this.repository.pass(below);
      if (lost > 0) {
        this.counters.increment('destination_events_lost', lost);
        this.logger.warn(`${lost} events were not written to their destinations before their time was over`);
      }
      if (!more) return true;
    }
    return false;
  }
}
