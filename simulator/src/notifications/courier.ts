import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { AllOptions } from '../simulator.types.js';
import {
  type EnvelopeBuilder,
  type InboundNotification,
  type Outgoing,
  signBody,
  type SignedBody,
  type StatusNotification,
  customerOf,
} from './notification.js';

/** `refused`: an answer other than 200, or none after the request was sent. `unreachable`: nothing listens. */
type PostOutcome = 'acknowledged' | 'refused' | 'unreachable';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const LANES = 4;
const BATCH = 200;
const MAX_PAUSE_MS = 60_000;

interface Lane {
  queue: Outgoing[];
  running: boolean;
}

/**
 * Posts notifications to the webhook. A person's notifications share a lane, which has one request in flight at a time,
 * so they arrive in order; notifications due together share a request. Like on WhatsApp, a refused request is retried
 * separately (after 1, 2, 4 ... 60 s), so one that is never accepted blocks nothing; only an address where nothing
 * listens stops the lane.
 */
export class Courier {
  private readonly lanes: Lane[] = Array.from({ length: LANES }, () => ({ queue: [], running: false }));
  private readonly agent = new Agent({
    connections: 16,
    pipelining: 1,
    connect: { timeout: 3_000 },
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });
  /** Aborted by a reset: requests from before it are not retried. */
  private round = new AbortController();
  /** Aborted by a new address: waiting lanes try it at once. */
  private address = new AbortController();
  private stopped = false;
  webhookUrl: string | null;
  /** Waits between two tries; tests replace it. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void> = (ms, signal) => sleep(ms, undefined, { signal });
  /** Statuses and messages that are not acknowledged yet. */
  pending = 0;
  acknowledged = 0;
  dropped = 0;

  /**
   * @param onSettled called with each notification that needs no more posting: acknowledged, or dropped for lack of
   * space
   */
  constructor(
    private readonly options: AllOptions,
    private readonly envelopes: EnvelopeBuilder,
    private readonly onSettled: (items: readonly Outgoing[]) => void,
  ) {
    this.webhookUrl = options.webhookUrl;
  }

  enqueue(item: Outgoing): void {
    if (this.stopped) return;
    const lane = this.lanes[laneOf(item)] as Lane;
    if (this.pending >= this.options.maxPendingNotifications) this.dropOldest(lane);
    this.pending++;
    lane.queue.push(item);
    this.start(lane);
  }

  /** Null holds everything. Notifications that wait for the former address go to the new one at once. */
  setWebhookUrl(url: string | null): void {
    this.webhookUrl = url;
    this.address.abort();
    this.address = new AbortController();
    for (const lane of this.lanes) this.start(lane);
  }

  /** Drops waiting notifications; those in flight are not retried. */
  clear(): void {
    for (const lane of this.lanes) lane.queue = [];
    this.round.abort();
    this.round = new AbortController();
    this.setWebhookUrl(this.webhookUrl);
    this.pending = 0;
    this.acknowledged = 0;
    this.dropped = 0;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.clear();
    await this.agent.destroy();
  }

  private start(lane: Lane): void {
    if (lane.running || lane.queue.length === 0 || this.webhookUrl === null || this.stopped) return;
    lane.running = true;
    // One turn later, so that everything due in this turn shares a request.
    setImmediate(() => {
      this.drain(lane, this.round.signal)
        .catch((error: unknown) => this.options.log(`simulator: a lane of notifications broke: ${String(error)}`))
        .finally(() => {
          lane.running = false;
          this.start(lane);
        });
    });
  }

  private async drain(lane: Lane, round: AbortSignal): Promise<void> {
    while (this.webhookUrl !== null && lane.queue.length > 0 && !round.aborted) {
      const items = takeBatch(lane.queue);
      const body = this.render(items);
      let outcome = await this.post(body);
      for (let failures = 0; outcome === 'unreachable' && !round.aborted; failures++) {
        await this.pause(failures, this.address.signal);
        if (!round.aborted) outcome = await this.post(body);
      }
      if (outcome === 'refused') void this.postAgain(items, body, round);
      else if (!round.aborted) this.settle(items);
    }
  }

  private async postAgain(items: readonly Outgoing[], body: SignedBody, round: AbortSignal): Promise<void> {
    // Any number of requests may have been refused.
    setMaxListeners(Infinity, round);
    for (let failures = 0; !round.aborted; failures++) {
      await this.pause(failures, round);
      if (round.aborted || (await this.post(body)) !== 'acknowledged') continue;
      if (!round.aborted) this.settle(items);
      return;
    }
  }

  /** Over kept-alive connections. Follows no redirects. */
  private async post({ headers, bytes }: SignedBody): Promise<PostOutcome> {
    if (this.webhookUrl === null) return 'unreachable';
    try {
      const response = await request(this.webhookUrl, {
        method: 'POST',
        headers,
        body: bytes,
        dispatcher: this.agent,
      });
      await response.body.dump();
      return response.statusCode === 200 ? 'acknowledged' : 'refused';
    } catch (error) {
      const { code } = error as { code?: string };
      return code !== undefined && UNREACHABLE.has(code) ? 'unreachable' : 'refused';
    }
  }

  private render(items: readonly Outgoing[]): SignedBody {
    const first = items[0];
    const body =
      first?.kind === 'raw'
        ? first.body
        : this.envelopes.build(items as readonly (StatusNotification | InboundNotification)[]);
    return signBody(body, this.options.appSecret);
  }

  private settle(items: readonly Outgoing[]): void {
    this.pending -= items.length;
    this.acknowledged += items.length;
    this.onSettled(items);
  }

  private dropOldest(lane: Lane): void {
    const oldest = lane.queue.shift();
    if (oldest === undefined) return;
    if (this.dropped++ === 0) this.options.log('simulator: too many notifications wait; the oldest are dropped');
    this.pending--;
    this.onSettled([oldest]);
  }

  /** Ends early where the signal is aborted. */
  private async pause(failures: number, signal: AbortSignal): Promise<void> {
    const ms = Math.min(this.options.retryBaseMs * 2 ** Math.min(failures, 16), MAX_PAUSE_MS);
    await this.sleep(ms, signal).catch(() => undefined);
  }
}

function laneOf(item: Outgoing): number {
  if (item.kind === 'raw') return 0;
  const party = customerOf(item);
  let sum = 0;
  for (let i = Math.max(0, party.length - 6); i < party.length; i++) sum += party.charCodeAt(i) * (i + 1);
  return sum % LANES;
}

/** The notifications for one request. */
function takeBatch(queue: Outgoing[]): Outgoing[] {
  const end = queue.slice(0, BATCH).findIndex((item) => item.kind === 'raw' || (item.kind === 'status' && item.alone));
  return queue.splice(0, end === -1 ? BATCH : Math.max(end, 1));
}
