import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { describeError } from '../../../common/describe-error.js';
import { retry } from '../../../common/retry.js';
import { Config } from '../../../infrastructure/config/config.js';
import type { ClaimRequest, LanePace, Claim } from '../../../infrastructure/queue/lane-grant.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { type LostClaimError, releaseLost } from '../../../infrastructure/queue/lost-claims.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { type Span, Tracing } from '../../../infrastructure/operations/tracing.js';
import type { QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { DemoReceivers } from '../address/demo-receivers.service.js';
import { DeliveryClient, type DeliveryRequest, type DeliveryResult } from '../delivery-client.js';
import { eventBody } from '../event-body.js';
import { signatureHeaders } from '../../../common/standard-webhooks.js';
import { EndpointSecrets } from '../webhook-secrets.js';
import {
  DispatchRepository,
  endpointOfLane,
  LEASE_MS,
  RECORD_FOR_MS,
  webhookLaneOf,
  type ClaimedEvent,
  type DeliveryAttempt,
  type DeliveryOutcome,
} from './dispatch.repository.js';
import { DeliveryWindows } from './delivery-windows.js';

export const WEBHOOK_QUEUE = 'webhook';
/** Answers within this time share the next claim. */
const CLAIM_EVERY_MS = 8;

/** The longest wait while a secret's key is missing. */
const KEY_WITHIN_MS = 3_600_000;
/** Too many requests, service unavailable. */
const SLOW_DOWN = new Set([429, 503]);

/** Effectively no pace: the window limits deliveries. */
const PACE: LanePace = { ratePerSecond: 1_000_000, burstSeconds: 1 };
/**
 * Limit of one endpoint's deliveries while more than half of the process's capacity is used, so that others get some.
 */
const CROWDED_SHARE = 10;
/** The part of the stop's time in which deliveries in flight may end by themselves. */
const STOP_PART = 0.3;

/** The work on webhook events: claims them, makes an attempt of each, and records its outcome. See WebhookProcessor. */
@Injectable()
export class DeliveryAttempts implements QueueKind<ClaimedEvent>, OnApplicationShutdown {
  readonly name = 'webhook';
  readonly maxPerLane: number;
  private readonly windows: DeliveryWindows;
  private readonly logger = new Logger(DeliveryAttempts.name);
  private readonly giveUp = new AbortController();
  private inFlight = 0;
  private stopping = false;

  constructor(
    private readonly dispatches: DispatchRepository,
    private readonly lanes: LaneRepository,
    private readonly secrets: EndpointSecrets,
    private readonly client: DeliveryClient,
    private readonly demo: DemoReceivers,
    private readonly counters: Counters,
    private readonly tracing: Tracing,
    private readonly config: Config,
  ) {
    this.maxPerLane = config.webhook.maxInFlightPerEndpoint;
    this.windows = new DeliveryWindows(this.maxPerLane);
  }

  window(laneKey: string): number {
    const allowed = this.windows.allowed(endpointOfLane(laneKey));
    return this.inFlight * 2 > this.config.webhook.maxInFlight ? Math.min(allowed, CROWDED_SHARE) : allowed;
  }

  /** No check here: the claim skips endpoints that accept no events. */
  pace(): Promise<LanePace> {
    return Promise.resolve(PACE);
  }

  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<Claim<ClaimedEvent>[]> {
    return this.dispatches.claim(requests, withinMs);
  }

  /** Otherwise these events would wait for the end of their leases, and be logged as interrupted. */
  async releaseLost(lost: LostClaimError, laneKeys: readonly string[]): Promise<void> {
    const endpointIds = laneKeys.map(endpointOfLane);
    const count = await releaseLost(lost, {
      find: ([claimId = '']) => this.dispatches.findAttempts(endpointIds, claimId),
      release: (attempt) => this.dispatches.record(released(attempt)),
      forMs: LEASE_MS,
    });
    this.counters.increment('claims_taken_back', count);
  }

  async work(task: ClaimedEvent): Promise<number | null> {
    this.inFlight++;
    this.windows.started(task.endpointId, task.revision);
    try {
      const outcome = await this.deliver(task);
      return (await this.record(outcome)) ? outcome.delayMs : null;
    } finally {
      this.inFlight--;
    }
  }

  /**
   * Claimed events whose requests are not sent yet return to the queue. Deliveries in flight get a moment to end; then
   * they are aborted, and another process or the next start repeats them.
   */
  stop(): void {
    this.stopping = true;
    setTimeout(() => this.giveUp.abort(), this.config.process.shutdownTimeoutMs * STOP_PART).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.client.close(), this.demo.close()]);
  }

  private async deliver(task: ClaimedEvent): Promise<DeliveryOutcome> {
    if (this.stopping) return released(task);
    const span = this.spanOf(task);
    const request = this.requestOf(task, span);
    if (request === null) {
      this.tracing.end(span, { failure: 'secret_unreadable' });
      return unsigned(task);
    }
    const client = this.demo.clientFor(task.organizationId, task.url) ?? this.client;
    const result = await client.deliver(request);
    this.tracing.end(
      span,
      result.kind === 'failed' ? { failure: result.error } : { status: result.status, failedFrom: 300 },
    );
    if (this.giveUp.signal.aborted && result.kind === 'failed') return released(task);
    const outcome = outcomeOf(task, result);
    const succeeded = outcome.kind === 'succeeded';
    this.counters.increment(`webhook_${outcome.kind}`);
    if (this.windows.answered(task.endpointId, task.revision, succeeded, result.durationMs)) outcome.pauseMs ??= 0;
    return outcome;
  }

  /** @throws Error where the current one cannot be opened. */
  private secretsOf(event: ClaimedEvent): string[] {
    return event.secrets.flatMap(({ id, sealed }, index) => {
      try {
        return this.secrets.open(event.organizationId, id, sealed);
      } catch (error) {
        // A replaced secret signs only beside the current one; a rotation has made the current one readable again.
        if (index === 0) throw error;
        this.unreadable(event, error);
        return [];
      }
    });
  }

  private spanOf({ traceContext: parent, eventId, eventType, endpointId, attempt }: ClaimedEvent): Span | undefined {
    if (!this.tracing.on || parent === null) return undefined;
    const attributes = {
      'http.request.method': 'POST',
      'herald.event_id': eventId,
      'herald.event_type': eventType,
      'herald.endpoint_id': endpointId,
      'herald.attempt': attempt,
    };
    return this.tracing.start('deliver webhook', { kind: 'client', parent, attributes });
  }

  /** The signed request; null where it cannot be signed. */
  private requestOf(task: ClaimedEvent, span: Span | undefined): DeliveryRequest | null {
    try {
      const signing = this.secretsOf(task);
      const body = eventBody(task);
      const own = this.secrets.openHeaders(task.organizationId, task.endpointId, task.headers);
      const ours = { ...PLAIN_HEADERS, ...signatureHeaders(signing, task.eventId, body) };
      const headers: Record<string, string> = { ...own, ...ours };
      if (span !== undefined) headers.traceparent = this.tracing.headerOf(span);
      return { url: task.url, headers, body, endpoint: task.endpointId, signal: this.giveUp.signal };
    } catch (error) {
      this.unreadable(task, error);
      return null;
    }
  }

  private unreadable(event: ClaimedEvent, error: unknown): void {
    this.counters.increment('webhook_secret_unreadable');
    this.logger.error(
      `endpoint ${event.endpointId}: its secret or its headers cannot be used: ${describeError(error)}`,
    );
  }

  /**
   * An outcome is never dropped because the database is away: after a minute the event is delivered again. Returns
   * whether it was stored.
   */
  private async record(outcome: DeliveryOutcome): Promise<boolean> {
    const { endpointId, eventId } = outcome;
    try {
      const { disabled, isCurrent } = await retry(() => this.dispatches.record(outcome), {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('webhook_record_failed'),
      });
      if (isCurrent) await this.pauseLane(outcome).catch(() => undefined);
      if (disabled !== null) {
        this.counters.increment(`webhook_disabled_${disabled}`);
        this.logger.warn(`endpoint ${endpointId} is disabled: ${disabled}`);
      }
      return true;
    } catch (error) {
      this.logger.error(`event ${eventId}: the outcome of its delivery could not be stored: ${describeError(error)}`);
      return false;
    }
  }

  /** Pauses the lane of an endpoint that hangs or asks to wait; a success resets the length of the next pause. */
  private async pauseLane({ endpointId, kind, pauseMs, claimedAt }: DeliveryOutcome): Promise<void> {
    const lane = webhookLaneOf(endpointId);
    if (pauseMs !== null) await this.lanes.pause(lane, 'webhook_endpoint', { claimedAt, leastMs: pauseMs });
    else if (kind === 'succeeded') await this.lanes.succeeded(lane, claimedAt);
  }
}

/** The outcome to store. A success is any 2xx; redirects are not followed. */
export function outcomeOf(task: ClaimedEvent, result: DeliveryResult, random = Math.random()): DeliveryOutcome {
  const outcome = { ...released(task), counted: true, durationMs: result.durationMs };
  if (result.kind === 'failed') {
    return { ...outcome, kind: 'failed', error: result.error, delayMs: retryDelayMs(task.tries + 1, random, null) };
  }
  const { status, retryAfterMs } = result;
  if (status >= 200 && status < 300) return { ...outcome, kind: 'succeeded', httpStatus: status };
  const delayMs = retryDelayMs(task.tries + 1, random, retryAfterMs);
  const pauseMs = SLOW_DOWN.has(status) ? retryAfterMs : null;
  return { ...outcome, kind: 'failed', httpStatus: status, error: `http_${status}`, delayMs, pauseMs };
}

/**
 * The outcome where the key of a secret is missing. The attempt is logged, so that the workspace sees it, but counts
 * neither against the event nor against the endpoint. It is repeated at growing intervals, up to an hour, until the
 * operator has restored the key.
 */
export function unsigned(task: ClaimedEvent, random = Math.random()): DeliveryOutcome {
  return {
    ...released(task),
    kind: 'failed',
    error: 'secret_unreadable',
    delayMs: Math.min(retryDelayMs(task.attempt, random, null) ?? KEY_WITHIN_MS, KEY_WITHIN_MS),
  };
}

/** The event returns to the queue, and the try does not count. */
function released(task: DeliveryAttempt): DeliveryOutcome {
  const { attemptId, eventId, organizationId, endpointId, revision, eventType, attempt, claimedAt } = task;
  const attempted = { attemptId, eventId, organizationId, endpointId, revision, eventType, attempt, claimedAt };
  const nothing = { httpStatus: null, error: null, durationMs: 0, delayMs: 0, pauseMs: null };
  return { ...attempted, ...nothing, kind: 'released', counted: false };
}

/** Headers of every delivery besides its signature. */
export const PLAIN_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Herald/1.0 (+webhooks)' };

/**
 * Waits after the first, second ... failed attempt of an event (specification: webhook deliveries); ten attempts in
 * all: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 10 h.
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000,
];

/** A `Retry-After` longer than the schedule's wait is followed up to this limit. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

const SPREAD = 0.2;

/**
 * SQL, for a row of `webhook_queue`: seconds until the end of its lease, or until its next attempt; an hour where its
 * secret cannot be opened.
 */
const MOST_AHEAD = `case when attempt_id is not null then ${LEASE_MS / 1_000} when attempt_count = 0 then 0
  else coalesce((array[${RETRY_DELAYS_MS.map((ms) => (ms / 1_000) * (1 + SPREAD)).join(', ')}])[tries], ${KEY_WITHIN_MS / 1_000}) end`;

/**
 * Milliseconds until the next attempt of an event that failed `tries` times; null after the last one. Each wait is
 * spread by ±20 %, so that events which failed together do not return together. If the receiver asks for a longer wait
 * it gets it, up to an hour; a shorter one is ignored.
 *
 * @param tries failed attempts so far, including this one: 1 or more.
 * @param random a number from 0 up to 1.
 * @param retryAfterMs the wait that the receiver asked for.
 */
export function retryDelayMs(tries: number, random: number, retryAfterMs: number | null): number | null {
  const base = RETRY_DELAYS_MS[Math.max(0, tries - 1)];
  if (base === undefined) return null;
  const planned = Math.round(base * (1 - SPREAD + 2 * SPREAD * random));
  return Math.max(planned, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/**
 * The queue of webhook events; the work on one is in DeliveryAttempts. The steps of an event:
 *
 * 1. It is a row of the log, `webhook_event`, written by the statement of the change that it reports, and a row of
 *    `webhook_queue` where the workspace has an endpoint that chose its kind. After the commit the endpoint's lane is
 *    woken.
 * 2. A worker drains the lane. A claim, one statement for all waiting lanes, gives due events an attempt and a lease of
 *    20 s, and reads the present address and secrets. The endpoint's earlier answers decide how many of its events are
 *    in flight together: at most 64, one where it hangs.
 * 3. The delivery is signed and made, within ten seconds.
 * 4. The outcome is recorded, many in one statement. After a success or the tenth attempt the row is deleted; otherwise
 *    it is due again by the schedule. An endpoint that answers 410, or has no success in five days, is disabled. If an
 *    endpoint hangs, or asks to wait, its lane is paused.
 * 5. While an endpoint or its lane is paused, or the endpoint is disabled, its events are not claimed. Events wait for
 *    a paused or disabled endpoint at most three days.
 *
 * If the process dies in 2 to 4, the lease runs out and the event is due again under the same id: receivers may see it
 * twice, but never miss it. If the answer to a claim is lost, its events are released at once, since none was
 * delivered.
 */
@Processor(WEBHOOK_QUEUE, QUEUE_WORKER_OPTIONS)
export class WebhookProcessor extends QueueProcessor<ClaimedEvent> {
  constructor(dispatches: DispatchRepository, attempts: DeliveryAttempts, parts: QueueParts) {
    super(
      {
        kind: attempts,
        maxInFlight: parts.config.webhook.maxInFlight,
        claimEveryMs: CLAIM_EVERY_MS,
        dueLanes: dispatches.dueEndpoints,
        waitsFor: [{ table: 'webhook_queue', column: 'due_at', mostAhead: MOST_AHEAD }],
        leftAtStop: (count) => `${count} deliveries had no answer when Herald stopped; they will be repeated`,
      },
      parts,
    );
  }
}
