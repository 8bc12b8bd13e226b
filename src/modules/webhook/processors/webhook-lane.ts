import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Slots } from '../../../common/slots.js';
import { Config } from '../../../platform/config/config.js';
import { inBatches } from '../../../platform/lanes/in-batches.js';
import type { DrainResult } from '../../../platform/lanes/lane-runner.js';
import type { DrainJob } from '../../../platform/lanes/lane-waker.js';
import { LaneFactory, type QueuedLanes } from '../../../platform/lanes/queued-lanes.js';
import { Sweeps } from '../../../platform/lanes/sweeps.js';
import { Counters } from '../../../platform/operations/counters.js';
import { DeliveryClient } from '../delivery-client.js';
import { DispatchRepository } from '../dispatch/dispatch.repository.js';
import { WebhookDispatcher, type DeliveryTask } from '../dispatch/webhook-dispatcher.js';
import { laneKeyOf } from '../webhook-lane-key.js';

export const WEBHOOK_QUEUE = 'webhook';

const PURGE_EVERY_MS = 60_000;
const PURGE_BATCH = 5_000;
/** A drain may wait for slow answers so long before it costs the queue another job; less than a lane's hold lasts. */
const QUANTUM_MS = 3_000;
/** Deliveries in flight get so much of the stop's time to end by themselves. */
const STOP_PART = 0.3;

/** The lanes of deliveries, one an endpoint: waking, draining, sweeping. */
@Injectable()
export class WebhookLane implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookLane.name);
  private readonly lanes: QueuedLanes<DeliveryTask>;
  /** Lanes whose drain ended because all places of their endpoint are taken. */
  private readonly full = new Set<string>();

  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly dispatcher: WebhookDispatcher,
    private readonly client: DeliveryClient,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    private readonly config: Config,
    @InjectQueue(WEBHOOK_QUEUE) queue: Queue<DrainJob>,
    factory: LaneFactory,
  ) {
    this.lanes = factory.create({
      handler: {
        name: dispatcher.name,
        maxInFlightPerLane: dispatcher.maxInFlightPerLane,
        pace: (laneKey) => dispatcher.pace(laneKey),
        claim: (request) => dispatcher.claim(request),
        work: (task) => dispatcher.work(task).finally(() => this.placeIsFree(laneKeyOf(task.endpointId))),
      },
      // Places of their own: endpoints that hang must not keep messages from being sent.
      slots: new Slots(config.webhook.maxInFlight),
      queue,
      quantumMs: QUANTUM_MS,
      dueLanes: this.dispatches.dueLanes,
      // Of leases and retries alike: what is made again was not recorded, as after any lost lease.
      waitsFor: [{ table: 'webhook_event', column: 'next_attempt_at', where: `status = 'pending'` }],
      // Which also saves the receiver its time; the lane's hold keeps it from doing what another process does already.
      drainsOwnWakes: true,
      rests: (laneKey) => this.rests(laneKey),
    });
  }

  onModuleInit(): void {
    this.sweeps.add({ name: 'webhook_purge', everyMs: PURGE_EVERY_MS, run: (signal) => this.purge(signal) });
  }

  /** Tells the workers that an endpoint has events to deliver. */
  wake(endpointId: string): void {
    this.lanes.wake(laneKeyOf(endpointId));
  }

  /** Drains one lane for its quantum; events that are left wait behind everybody else's. */
  drain(laneKey: string): Promise<DrainResult> {
    return this.lanes.drain(laneKey);
  }

  /** Gives deliveries in flight a moment to end, then ends them: they are made again, elsewhere or after the start. */
  async beforeApplicationShutdown(): Promise<void> {
    this.dispatcher.stop();
    const stopMs = this.config.process.shutdownTimeoutMs;
    let left = await this.lanes.stop(stopMs * STOP_PART);
    if (left > 0) {
      this.dispatcher.abort();
      left = await this.lanes.stop(stopMs * STOP_PART);
    }
    if (left > 0) this.logger.warn(`${left} deliveries had no answer when Herald stopped; they will be repeated`);
    await this.client.close();
  }

  /** An endpoint that hangs costs nothing while it does: its lane goes on when an answer, or its deadline, comes. */
  private rests(laneKey: string): boolean {
    if (!this.dispatcher.isFull(laneKey)) return false;
    this.full.add(laneKey);
    return true;
  }

  private placeIsFree(laneKey: string): void {
    if (!this.full.delete(laneKey) || this.lanes.isStopping) return;
    // After the runner has counted the place as free as well.
    setImmediate(() => this.lanes.wake(laneKey));
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
