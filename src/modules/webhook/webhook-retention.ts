import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lowestIdSince } from '../../common/ids.js';
import { Config } from '../../infrastructure/config/config.js';
import { inBatches } from '../../infrastructure/lanes/in-batches.js';
import { Retention } from '../../infrastructure/lanes/retention.js';
import { Sweeps } from '../../infrastructure/lanes/sweeps.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { DispatchRepository } from './dispatch/dispatch.repository.js';

const PURGE_EVERY_MS = 60_000;
const PURGE_BATCH = 5_000;

/**
 * Forgets old events, whose data is what messages said, and the log of their deliveries; drops events that have waited
 * for too long or are too many, and what deleted endpoints leave behind.
 */
@Injectable()
export class WebhookRetention implements OnModuleInit {
  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly retention: Retention,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    private readonly config: Config,
  ) {}

  async onModuleInit(): Promise<void> {
    const { webhookDays: days } = this.config.retention;
    this.retention.add({
      name: 'webhook events',
      days,
      clear: (before, limit) => this.dispatches.removeOld(lowestIdSince(before), limit),
    });
    this.sweeps.add({ name: 'webhook_purge', everyMs: PURGE_EVERY_MS, run: (signal) => this.purge(signal) });
    await this.retention.addPartitioned('webhook_delivery', days);
  }

  private async purge(signal: AbortSignal): Promise<number> {
    const held = await inBatches(signal, PURGE_BATCH, (limit) => this.dispatches.dropHeld(limit));
    const most = this.config.webhook.maxWaiting;
    const excess = await inBatches(signal, PURGE_BATCH, (limit) => this.dispatches.dropExcess(most, limit));
    this.counters.increment('webhook_events_dropped', held + excess);
    const deleted = await inBatches(signal, PURGE_BATCH, (limit) => this.dispatches.purgeDeleted(limit));
    return held + excess + deleted + (await this.dispatches.purgeSecrets());
  }
}
