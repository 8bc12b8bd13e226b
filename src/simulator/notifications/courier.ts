import { Agent, request } from 'undici';
import type { EnvelopeBuilder } from './envelope.js';
import {
  type InboundNotification,
  type Outgoing,
  signBody,
  type SignedBody,
  type StatusNotification,
} from './notification.js';

/** `refused`: an answer other than 200, or none after the request was on its way. `unreachable`: nothing listens. */
type PostOutcome = 'acknowledged' | 'refused' | 'unreachable';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Posts notifications over kept-alive connections. Follows no redirect. */
class WebhookPost {
  private readonly agent = new Agent({
    connections: 16,
    pipelining: 1,
    connect: { timeout: 3_000 },
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });

  async post(url: string | null, body: SignedBody): Promise<PostOutcome> {
    if (url === null) return 'unreachable';
    try {
      const { headers, bytes } = body;
      const response = await request(url, { method: 'POST', headers, body: bytes, dispatcher: this.agent });
      await response.body.dump();
      return response.statusCode === 200 ? 'acknowledged' : 'refused';
    } catch (error) {
      const { code } = error as { code?: string };
      return code !== undefined && UNREACHABLE.has(code) ? 'unreachable' : 'refused';
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

const LANES = 4;
const BATCH = 200;
const LONGEST_PAUSE_MS = 60_000;

interface Lane {
  queue: Outgoing[];
  running: boolean;
  /** Ends the pause after an unreachable webhook; null while there is none. */
  wake: (() => void) | null;
}

interface Retry {
  items: Outgoing[];
  body: SignedBody;
  failures: number;
  timer: NodeJS.Timeout;
}

export interface CourierOptions {
  webhookUrl: string | null;
  appSecret: string;
  retryBaseMs: number;
  maxPending: number;
  /** Called with whatever needs no more posting: acknowledged, or given up for want of space. */
  onSettled: (items: readonly Outgoing[]) => void;
  log: (line: string) => void;
}

/**
 * Brings notifications to the webhook. A person's notifications stay in one lane, which has one request on its way at
 * a time, so they arrive in order; what is due together goes together. A request that was refused is set aside and
 * posted again by itself (1, 2, 4 ... 60 s), as the platform does, so one that is never accepted holds up nothing; only an
 * address where nothing listens stops the lane.
 */
export class Courier {
  private readonly lanes: Lane[] = Array.from({ length: LANES }, () => ({
    queue: [],
    running: false,
    wake: null,
  }));
  private readonly retries = new Set<Retry>();
  private readonly wire = new WebhookPost();
  private address: string | null;
  private waiting = 0;
  private stopped = false;
  /** Raised by a reset: what was on its way before it is not posted again. */
  private generation = 0;
  acknowledged = 0;
  dropped = 0;

  constructor(
    private readonly options: CourierOptions,
    private readonly envelopes: EnvelopeBuilder,
  ) {
    this.address = options.webhookUrl;
  }

  /** Statuses and messages not acknowledged yet. */
  get pending(): number {
    return this.waiting;
  }

  enqueue(item: Outgoing): void {
    if (this.stopped) return;
    const lane = this.lanes[laneOf(item)] as Lane;
    if (this.waiting >= this.options.maxPending) this.dropOldest(lane);
    this.waiting++;
    lane.queue.push(item);
    this.start(lane);
  }

  get webhookUrl(): string | null {
    return this.address;
  }

  /** Null lets everything wait. Whatever waits for the former address goes to the new one at once. */
  setWebhookUrl(url: string | null): void {
    this.address = url;
    for (const lane of this.lanes) {
      lane.wake?.();
      this.start(lane);
    }
  }

  /** Forgets what waits; what is on its way is not posted again. */
  clear(): void {
    this.generation++;
    for (const lane of this.lanes) {
      lane.queue = [];
      lane.wake?.();
    }
    for (const retry of this.retries) clearTimeout(retry.timer);
    this.retries.clear();
    this.waiting = 0;
    this.acknowledged = 0;
    this.dropped = 0;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.clear();
    await this.wire.close();
  }

  private start(lane: Lane): void {
    if (lane.running || lane.queue.length === 0 || this.address === null || this.stopped) return;
    lane.running = true;
    // One turn later, so that everything due in this turn shares a request.
    setImmediate(() => {
      this.drain(lane)
        .catch((error: unknown) => this.options.log(`simulator: a lane of notifications broke: ${String(error)}`))
        .finally(() => {
          lane.running = false;
          this.start(lane);
        });
    });
  }

  private async drain(lane: Lane): Promise<void> {
    const generation = this.generation;
    while (!this.stopped && this.address !== null && lane.queue.length > 0 && generation === this.generation) {
      const items = takeBatch(lane.queue);
      const body = this.render(items);
      for (let failures = 0; ;) {
        const outcome = await this.wire.post(this.address, body);
        if (generation !== this.generation) return;
        if (outcome === 'acknowledged') this.settle(items);
        else if (outcome === 'refused') this.setAside(items, body, 1);
        if (outcome !== 'unreachable') break;
        await this.pause(lane, failures++);
        if (generation !== this.generation) return;
      }
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

  private setAside(items: Outgoing[], body: SignedBody, failures: number): void {
    const retry: Retry = {
      items,
      body,
      failures,
      timer: setTimeout(() => void this.again(retry), this.pauseMs(failures - 1)),
    };
    this.retries.add(retry);
  }

  private async again(retry: Retry): Promise<void> {
    const generation = this.generation;
    const outcome = await this.wire.post(this.address, retry.body);
    if (generation !== this.generation) return;
    this.retries.delete(retry);
    if (outcome === 'acknowledged') this.settle(retry.items);
    else this.setAside(retry.items, retry.body, retry.failures + 1);
  }

  private settle(items: readonly Outgoing[]): void {
    this.waiting -= items.length;
    this.acknowledged += items.length;
    this.options.onSettled(items);
  }

  private dropOldest(lane: Lane): void {
    const oldest = lane.queue.shift();
    if (oldest === undefined) return;
    if (this.dropped++ === 0) this.options.log('simulator: too many notifications wait; the oldest are dropped');
    this.waiting--;
    this.options.onSettled([oldest]);
  }

  private pause(lane: Lane, failures: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        lane.wake = null;
        resolve();
      };
      const timer = setTimeout(end, this.pauseMs(failures));
      lane.wake = end;
    });
  }

  private pauseMs(failures: number): number {
    return Math.min(this.options.retryBaseMs * 2 ** Math.min(failures, 16), LONGEST_PAUSE_MS);
  }
}

function laneOf(item: Outgoing): number {
  if (item.kind === 'raw') return 0;
  const party = item.kind === 'inbound' ? item.party : (item.message.waId ?? item.message.to);
  let sum = 0;
  for (let i = Math.max(0, party.length - 6); i < party.length; i++) sum += party.charCodeAt(i) * (i + 1);
  return sum % LANES;
}

/** What goes in one request. */
function takeBatch(queue: Outgoing[]): Outgoing[] {
  const end = queue.slice(0, BATCH).findIndex((item) => item.kind === 'raw' || (item.kind === 'status' && item.alone));
  return queue.splice(0, end === -1 ? BATCH : Math.max(end, 1));
}
