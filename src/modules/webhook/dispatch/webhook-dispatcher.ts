import { keepTrying } from '../../../common/keep-trying.js';
import { describeError } from '../../../common/describe-error.js';
import { Injectable, Logger } from '@nestjs/common';
import type { Claim, ClaimRequest, LaneHandler, LanePace } from '../../../platform/lanes/lane-handler.js';
import { LaneRepository } from '../../../platform/lanes/lane.repository.js';
import { Counters } from '../../../platform/operations/counters.js';
import { DeliveryClient, type DeliveryRequest, type DeliveryResult } from '../delivery-client.js';
import { EndpointSecrets } from '../endpoint-secrets.js';
import { endpointOfLane, laneKeyOf } from '../webhook-lane-key.js';
import { deliveryBody, deliveryHeaders } from './delivery-body.js';
import { DeliveryWindows, MOST_IN_FLIGHT } from './delivery-window.js';
import { DispatchRepository, type ClaimedEvent } from './dispatch.repository.js';
import { OutcomesRepository, RECORD_FOR_MS, type DeliveryOutcome } from './outcomes.repository.js';
import { retryDelayMs } from './retry-plan.js';

/** A claimed event, when it was claimed (monotonic ms), and the secrets that sign it; null where they cannot be opened. */
export type DeliveryTask = ClaimedEvent & { claimedAt: number; signing: readonly string[] | null };

// Far above what ten places can use; only the lane's holder matters here, not its pace.
const PACE: LanePace = { ratePerSecond: 5_000, burstSeconds: 0.1 };
/** The longest wait for a key that opens the secret. */
const KEY_WITHIN_MS = 3_600_000;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** Delivers claimed events and records what came of each attempt. */
@Injectable()
export class WebhookDispatcher implements LaneHandler<DeliveryTask> {
  readonly name = 'webhook';
  readonly maxInFlightPerLane = MOST_IN_FLIGHT;
  private readonly logger = new Logger(WebhookDispatcher.name);
  private readonly windows = new DeliveryWindows();
  private readonly giveUp = new AbortController();
  private stopping = false;

  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly outcomes: OutcomesRepository,
    private readonly secrets: EndpointSecrets,
    private readonly client: DeliveryClient,
    private readonly lanes: LaneRepository,
    private readonly counters: Counters,
  ) {}

  /** From now on claimed events that are not on the wire yet go back to the queue. */
  stop(): void {
    this.stopping = true;
  }

  /** Ends the deliveries in flight; their events are delivered again by another process. */
  abort(): void {
    this.giveUp.abort();
  }

  /** As many deliveries are in flight as the endpoint may have: nothing can be claimed before one of them ends. */
  isFull(laneKey: string): boolean {
    return this.windows.room(endpointOfLane(laneKey)) === 0;
  }

  /** None while the endpoint's places are taken: a drain would only wait. */
  pace(laneKey: string): Promise<LanePace | null> {
    return Promise.resolve(this.isFull(laneKey) ? null : PACE);
  }

  async claim(request: ClaimRequest): Promise<Claim<DeliveryTask>> {
    const endpointId = endpointOfLane(request.laneKey);
    const hold = await this.lanes.hold(request);
    const limit = Math.min(hold?.slots ?? 0, this.windows.room(endpointId));
    if (limit === 0) return { hold, items: [] };
    const claimedAt = performance.now();
    const claimed = await this.dispatches.claim({ ...request, limit });
    // All rows of a claim bear the same secrets.
    const signing = claimed[0] === undefined ? null : this.open(claimed[0]);
    for (const event of claimed) this.windows.started(endpointId, event.revision);
    return { hold, items: claimed.map((event) => ({ ...event, claimedAt, signing })), more: claimed.length === limit };
  }

  async work(task: DeliveryTask): Promise<void> {
    const request = this.stopping ? null : this.requestOf(task);
    if (request === null) {
      this.windows.abandoned(task.endpointId);
      await this.record(this.stopping ? emptyOutcome(task) : unsigned(task));
      return;
    }
    const result = await this.client.deliver(request);
    if (this.giveUp.signal.aborted && result.kind === 'failed') {
      this.windows.abandoned(task.endpointId);
      await this.record(emptyOutcome(task));
      return;
    }
    await this.settle(task, result);
  }

  private async settle(task: DeliveryTask, result: DeliveryResult): Promise<void> {
    const outcome = outcomeOf(task, result);
    this.counters.increment(`webhook_${outcome.kind}`);
    const succeeded = outcome.kind === 'succeeded';
    const hangs = this.windows.finished(task.endpointId, succeeded, result.durationMs);
    await this.quietly(this.tellLane(task, { succeeded, hangs }, result));
    await this.record(outcome);
  }

  private async tellLane(
    task: DeliveryTask,
    { succeeded, hangs }: { succeeded: boolean; hangs: boolean },
    result: DeliveryResult,
  ): Promise<void> {
    const lane = laneKeyOf(task.endpointId);
    const asked = result.kind === 'answered' && SLOW_DOWN.has(result.status) ? result.retryAfterMs : null;
    if (succeeded) await this.lanes.succeeded(lane, task.claimedAt);
    else if (hangs) await this.lanes.pause(lane, 'the endpoint hangs');
    else if (asked !== null) await this.lanes.pause(lane, 'the endpoint asked to wait', asked);
  }

  private open(event: ClaimedEvent): readonly string[] | null {
    const opened: string[] = [];
    for (const [index, { id, sealed }] of event.secrets.entries()) {
      try {
        opened.push(this.secrets.open(event.organizationId, id, sealed));
      } catch (error) {
        this.unreadable(event, error);
        // A replaced one only signs beside the current one, which a rotation has made readable again.
        if (index === 0) return null;
      }
    }
    return opened;
  }

  /** The signed request; null where it cannot be signed. */
  private requestOf(task: DeliveryTask): DeliveryRequest | null {
    if (task.signing === null) return null;
    try {
      const body = deliveryBody(task);
      const headers = deliveryHeaders(task.id, body, task.signing, Date.now());
      return { url: task.url, headers, body, endpoint: task.endpointId, signal: this.giveUp.signal };
    } catch (error) {
      this.unreadable(task, error);
      return null;
    }
  }

  private unreadable(event: ClaimedEvent, error: unknown): void {
    this.counters.increment('webhook_secret_unreadable');
    this.logger.error(`endpoint ${event.endpointId}: its secret cannot be used: ${describeError(error)}`);
  }

  /** An outcome is never dropped for a database that is away: after a minute the event is simply delivered again. */
  private async record(outcome: DeliveryOutcome): Promise<void> {
    try {
      const { disabled } = await keepTrying(() => this.outcomes.record(outcome), {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('webhook_record_failed'),
      });
      if (disabled === null) return;
      this.counters.increment(`webhook_disabled_${disabled}`);
      this.logger.warn(`endpoint ${outcome.endpointId} is disabled: ${disabled}`);
    } catch (error) {
      this.logger.error(`event ${outcome.eventId}: what came of it could not be stored: ${describeError(error)}`);
    }
  }

  private async quietly(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.logger.warn(`after a delivery: ${describeError(error)}`);
    }
  }
}

const SLOW_DOWN = new Set([TOO_MANY_REQUESTS, UNAVAILABLE]);

/** What is written down of an attempt. A success is any 2xx; redirects are not followed. */
export function outcomeOf(task: ClaimedEvent, result: DeliveryResult, random = Math.random()): DeliveryOutcome {
  const outcome = { ...emptyOutcome(task), counted: true, durationMs: result.durationMs };
  if (result.kind === 'failed') {
    return { ...outcome, kind: 'failed', error: result.error, delayMs: retryDelayMs(task.tries + 1, random, null) };
  }
  const { status, retryAfterMs } = result;
  if (status >= 200 && status < 300) return { ...outcome, kind: 'succeeded', httpStatus: status };
  const delayMs = retryDelayMs(task.tries + 1, random, retryAfterMs);
  return { ...outcome, kind: 'failed', httpStatus: status, error: `http_${status}`, delayMs };
}

/**
 * Without its key a secret cannot be opened. The attempt stands in the log, so that the workspace sees it, but counts
 * neither against the event nor against the endpoint. It is made again later and later, each hour in the end, until the
 * operator has given the key back.
 */
export function unsigned(task: ClaimedEvent, random = Math.random()): DeliveryOutcome {
  return {
    ...emptyOutcome(task),
    kind: 'failed',
    error: 'secret_unreadable',
    delayMs: Math.min(retryDelayMs(task.attemptNumber, random, null) ?? KEY_WITHIN_MS, KEY_WITHIN_MS),
  };
}

/** The event goes back to the queue, and the try does not count. */
function emptyOutcome(task: ClaimedEvent): DeliveryOutcome {
  return {
    attemptId: task.attemptId,
    eventId: task.id,
    organizationId: task.organizationId,
    endpointId: task.endpointId,
    revision: task.revision,
    eventType: task.type,
    attempt: task.attemptNumber,
    kind: 'released',
    counted: false,
    httpStatus: null,
    error: null,
    durationMs: 0,
    delayMs: 0,
  };
}
