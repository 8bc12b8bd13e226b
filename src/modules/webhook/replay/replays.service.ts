import { Injectable, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseClock } from '../../../common/clock.js';
import { invalidField } from '../../../common/common.errors.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { newId } from '../../../common/ids.js';
import { ratesErrors } from '../../../infrastructure/rates/rates.errors.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { webhookLaneOf } from '../dispatch/dispatch.repository.js';
import { WebhookProcessor } from '../dispatch/webhook.processor.js';
import { HELD_DAYS } from '../webhook-maintenance.repository.js';
import { webhookErrors } from '../webhook.errors.js';
import { EVENT_TYPES } from '../webhook.types.js';
import type { ReplayData, StartReplayRequest } from './replays.dto.js';
import { MAX_REPLAYED, ReplaysRepository } from './replays.repository.js';

const SWEEP_EVERY_MS = 1_000;
/** Time limit of one round of the sweep, and the pause between two checks for room within it. */
const ROUND_MS = 5_000;
const FEED_EVERY_MS = 100;
const PURGE_EVERY_MS = 3_600_000;
/** After a replay that was too large: finding that out is expensive, and nothing is stored. Per process. */
const PAUSE_SECONDS = 10;
const MAX_PAUSED = 10_000;

/**
 * Repeats many deliveries. A replay never fills its endpoint's queue: it adds a few events whenever few are due, so a
 * new event waits for twenty at most. Its progress is in the database after each step.
 */
@Injectable()
export class ReplaysService implements OnModuleInit {
  /** Workspaces that were refused, with the time (monotonic ms). */
  private readonly refused = new ExpiringCache<string, number>({
    ttlMs: PAUSE_SECONDS * 1_000,
    maxEntries: MAX_PAUSED,
  });

  constructor(
    private readonly replays: ReplaysRepository,
    private readonly processor: WebhookProcessor,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'webhook_replays',
      everyMs: SWEEP_EVERY_MS,
      hasWork: 'exists (select 1 from webhook_replay where finished_at is null)',
      run: (signal) => this.feed(signal),
    });
    this.sweeps.add({
      name: 'webhook_replay_purge',
      everyMs: PURGE_EVERY_MS,
      run: () => this.replays.purge(this.config.retention.webhookDays, HELD_DAYS),
    });
  }

  /**
   * @throws INVALID_REQUEST (400) for an end before the beginning, WEBHOOK_NOT_FOUND (404), WEBHOOK_REPLAY_RUNNING
   * (409), WEBHOOK_REPLAY_TOO_LARGE (422), RATE_LIMITED (429) for some seconds after that.
   */
  async start(organizationId: string, request: StartReplayRequest): Promise<ReplayData> {
    const since = new Date(request.since);
    const now = databaseClock.date();
    // An end in the past, so that the replay does not include its own attempts.
    const until = request.until === undefined ? now : new Date(Math.min(Date.parse(request.until), now.getTime()));
    if (since >= until) throw invalidField('since', 'range', 'since must be before until, and before now.');
    const refusedAt = this.refused.peek(organizationId);
    if (refusedAt !== undefined) {
      const elapsed = Math.floor((performance.now() - refusedAt) / 1_000);
      const retryAfterSeconds = Math.max(1, PAUSE_SECONDS - elapsed);
      throw ratesErrors.RATE_LIMITED({ retryAfterSeconds, scope: 'webhook_replay' });
    }
    const types = [...new Set(request.types ?? EVENT_TYPES)];
    const id = newId();
    const onlyFailed = request.status === 'failed';
    const started = await this.replays.start(organizationId, id, { since, until, types, onlyFailed });
    if (started === null) throw webhookErrors.WEBHOOK_NOT_FOUND();
    if (started.tooMany) {
      this.refused.set(organizationId, performance.now());
      throw webhookErrors.WEBHOOK_REPLAY_TOO_LARGE({ limit: MAX_REPLAYED });
    }
    if (started.id === null) throw webhookErrors.WEBHOOK_REPLAY_RUNNING();
    return this.get(organizationId, id);
  }

  /** @throws WEBHOOK_REPLAY_NOT_FOUND (404). */
  async get(organizationId: string, id: string): Promise<ReplayData> {
    const found = await this.replays.find(organizationId, id);
    if (found === null) throw webhookErrors.WEBHOOK_REPLAY_NOT_FOUND();
    return found;
  }

  private async feed(signal: AbortSignal): Promise<number> {
    const until = performance.now() + ROUND_MS;
    let fed = 0;
    while (!signal.aborted && performance.now() < until) {
      const endpoints = await this.replays.feed();
      if (endpoints.length === 0) break;
      for (const { endpointId, events } of endpoints) {
        fed += events;
        this.processor.wake(webhookLaneOf(endpointId));
      }
      await pause(FEED_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    return fed;
  }
}
