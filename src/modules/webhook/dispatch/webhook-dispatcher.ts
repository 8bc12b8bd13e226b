import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '../../../common/describe-error.js';
import { Signal } from '../../../common/signal.js';
import { PgNotifier } from '../../../infrastructure/database/pg-notifier.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DispatchRepository, type ClaimedEvent } from './dispatch.repository.js';

const SWEEP_EVERY_MS = 1_000;
/** Endpoints that one statement looks at. */
const PAGE = 2_000;
/** Endpoints of one claim, each of which it locks, and events of one claim, whose data it brings. */
const MAX_ENDPOINTS = 250;
const MAX_EVENTS = 250;
/** Claims are so far apart that answers which come together are followed by one claim. */
const CLAIM_EVERY_MS = 5;
const CLAIM_AGAIN_MS = 500;
/** Deliveries of one endpoint while more than half of the process's places are taken, so that others find some. */
const CROWDED_SHARE = 10;
/** Without a free place other workers are asked to help at most this often. */
const ASK_EVERY_MS = 1_000;
/** A process gives hints at most this often. */
const HINT_EVERY_MS = 25;
/** Of ids in one hint; PostgreSQL takes 8,000 bytes. */
const HINT_IDS = 200;
const HINT = 'webhook_due';
/** Deliveries in flight get so much of the stop's time to end by themselves. */
const STOP_PART = 0.3;

/**
 * Claims due events of many endpoints at once and has them delivered; one a process. Independent of other processes:
 * what one has claimed the others skip, and each polls on its own.
 *
 * What happens to one event:
 *
 * 1. It is a row, `pending`, written by the statement of the change that it reports, where the workspace has an
 *    endpoint that chose its kind. After the commit the dispatcher of the same process knows; a process that is no
 *    worker names the endpoint to those that are.
 * 2. A claim takes due events of many endpoints in one statement and gives each an attempt and a lease of 20 s; it
 *    brings the address and the secrets of this moment. How many events of an endpoint go at once depends on how it has
 *    answered so far: 64 at the most, one where it hangs. Any number of workers claim side by side.
 * 3. The delivery is signed and made, ten seconds at the most.
 * 4. The outcome is recorded, many in one statement: delivered; or due again by the schedule; or exhausted after the
 *    tenth attempt. An endpoint that answers 410, or never succeeds in five days, is disabled; one that hangs, or asks
 *    for it, rests.
 * 5. While an endpoint is paused, disabled or rests nothing of it is claimed; events wait for a paused or disabled one
 *    three days at the most.
 *
 * If the process dies in 2 to 4, the lease runs out and the event is due again, under the same id: receivers may see it
 * twice, never not at all. Hints between processes only save time; without any the sweep finds what is due.
 */
@Injectable()
export class WebhookDispatcher implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookDispatcher.name);
  /** Endpoints that may have due events, the longest known first. */
  private readonly ready = new Set<string>();
  /** Such endpoints whose places are all taken: they are ready again when one of their deliveries ends. */
  private readonly full = new Set<string>();
  private readonly settled = new Signal();
  private readonly isWorker: boolean;
  private inFlight = 0;
  private claiming = false;
  private stopping = false;
  private askedAt = -Infinity;
  /** Endpoints of the next hint. */
  private readonly hinted = new Set<string>();
  private resting: NodeJS.Timeout | null = null;

  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly attempts: DeliveryAttempts,
    private readonly invalidation: PgNotifier,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    private readonly config: Config,
  ) {
    this.isWorker = config.process.roles.includes('worker');
  }

  onModuleInit(): void {
    const { dispatches, invalidation } = this;
    if (this.isWorker) {
      invalidation.on(HINT, (ids) => {
        for (const endpointId of ids?.split(' ') ?? []) this.ready.add(endpointId);
        void this.claimAll();
      });
    }
    this.sweeps.add({
      name: 'webhook_due',
      everyMs: SWEEP_EVERY_MS,
      // No hint reaches this worker then.
      get everywhere() {
        return !invalidation.connected;
      },
      get hasWork() {
        return dispatches.hasWork;
      },
      // Of leases and retries alike: what is made again was not recorded, as after any lost lease.
      waitsFor: [
        { table: 'webhook_event', column: 'next_attempt_at', where: `status = 'pending'` },
        { table: 'webhook_endpoint', column: 'rests_until', where: 'rests_until is not null' },
      ],
      run: (signal) => this.look(signal),
    });
  }

  /** Says that an endpoint has due events. Never waits. */
  wake(endpointId: string): void {
    if (!this.isWorker || this.stopping) {
      this.hint([endpointId]);
      return;
    }
    this.ready.add(endpointId);
    void this.claimAll();
  }

  /** Looks for all endpoints with due events and begins to deliver to them; returns how many there are. */
  async look(signal?: AbortSignal): Promise<number> {
    let found = 0;
    let after: string | null = null;
    // Page by page to the end: endpoints that fail, however many, must not hide those behind them.
    do {
      const { endpoints, next }: { endpoints: string[]; next: string | null } = await this.dispatches.dueEndpoints(
        PAGE,
        after,
      );
      for (const endpointId of endpoints) this.ready.add(endpointId);
      if (endpoints.length > 0) void this.claimAll();
      found += endpoints.length;
      after = next;
    } while (after !== null && signal?.aborted !== true && !this.stopping);
    return found;
  }

  /** Gives deliveries in flight a moment to end, then ends them: they are made again, elsewhere or after the start. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.attempts.stop();
    const partMs = this.config.process.shutdownTimeoutMs * STOP_PART;
    if (!(await this.idle(partMs))) {
      this.attempts.abort();
      if (!(await this.idle(partMs))) {
        this.logger.warn(`${this.inFlight} deliveries had no answer when Herald stopped; they will be repeated`);
      }
    }
    await this.attempts.close();
  }

  private async idle(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (this.isBusy && performance.now() < until) await this.settled.wait(until - performance.now());
    return !this.isBusy;
  }

  private get isBusy(): boolean {
    return this.claiming || this.inFlight > 0;
  }

  /** Claims for the endpoints that are ready as long as there are any and places are free. Never rejects. */
  private async claimAll(): Promise<void> {
    if (this.claiming) return;
    this.claiming = true;
    while (!this.stopping) {
      const wanted = this.choose();
      if (wanted.size === 0) break;
      try {
        await this.claim(wanted);
        await pause(CLAIM_EVERY_MS);
      } catch (error) {
        this.counters.increment('webhook_claims_failed');
        this.logger.warn(`a claim of webhook events failed and will be tried again: ${describeError(error)}`);
        for (const endpointId of wanted.keys()) this.ready.add(endpointId);
        await pause(CLAIM_AGAIN_MS);
      }
    }
    this.claiming = false;
    this.settled.notify();
  }

  /** How many events of which endpoints to claim now; those with none in flight go ahead. */
  private choose(): Map<string, number> {
    const { windows } = this.attempts;
    const wanted = new Map<string, number>();
    let places = Math.min(MAX_EVENTS, this.config.webhook.maxInFlight - this.inFlight);
    const share = this.inFlight * 2 > this.config.webhook.maxInFlight ? CROWDED_SHARE : undefined;
    for (const idle of [true, false]) {
      for (const endpointId of this.ready) {
        if (places <= 0 || wanted.size >= MAX_ENDPOINTS) break;
        if (windows.isIdle(endpointId) !== idle) continue;
        this.ready.delete(endpointId);
        const capacity = Math.min(places, windows.capacity(endpointId, share));
        if (capacity === 0) this.full.add(endpointId);
        else wanted.set(endpointId, capacity);
        places -= capacity;
      }
    }
    if (this.ready.size > 0 && this.inFlight >= this.config.webhook.maxInFlight) this.askOthers();
    return wanted;
  }

  private askOthers(): void {
    if (performance.now() - this.askedAt < ASK_EVERY_MS) return;
    this.askedAt = performance.now();
    this.hint([...this.ready].slice(0, HINT_IDS));
  }

  /** Names endpoints to the workers, now or soon together with those that come meanwhile. A hint may get lost. */
  private hint(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) this.hinted.add(endpointId);
    if (this.resting !== null || this.hinted.size === 0) return;
    const ids = [...this.hinted];
    this.hinted.clear();
    for (let from = 0; from < ids.length; from += HINT_IDS) {
      this.invalidation.hint(HINT, ids.slice(from, from + HINT_IDS).join(' '));
    }
    this.resting = setTimeout(() => {
      this.resting = null;
      this.hint([]);
    }, HINT_EVERY_MS).unref();
  }

  private async claim(wanted: Map<string, number>): Promise<void> {
    for (const event of await this.dispatches.claim(wanted, this.config.webhook.maxInFlightPerEndpoint)) {
      const capacity = wanted.get(event.endpointId) ?? 0;
      wanted.set(event.endpointId, capacity - 1);
      // It got all that it had places for, so it may have more.
      if (capacity === 1) this.ready.add(event.endpointId);
      this.start(event);
    }
  }

  private start(task: ClaimedEvent): void {
    const { endpointId } = task;
    const { windows } = this.attempts;
    this.inFlight++;
    windows.started(endpointId, task.revision);
    void this.attempts.make(task).finally(() => {
      this.inFlight--;
      windows.ended(endpointId);
      if (this.full.delete(endpointId)) this.ready.add(endpointId);
      if (this.ready.size > 0) void this.claimAll();
      this.settled.notify();
    });
  }
}
