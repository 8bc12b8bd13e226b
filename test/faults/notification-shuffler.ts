import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope } from '../support/rig/scope.js';
import { pause } from '../support/rig/wait.js';
import { bodyOf, LocalServer } from '../support/local-server.js';
import { randomBetween } from './scenario.js';

const REQUEST_MS = 10_000;
const AGAIN_MS = 100;
const GIVE_UP_MS = 120_000;

export interface ShufflerOptions {
  /** How often each notification arrives. */
  times: number;
  /** Each copy by itself comes so much later at the most, so that none keeps its place. */
  latestMs: number;
}

/**
 * Stands between the platform and its webhook: takes notifications as the webhook would and passes each on several
 * times, late and in another order, until the webhook has said 200.
 */
export class NotificationShuffler {
  passed = 0;
  private open = 0;
  private closing = false;
  private target: string | null = null;

  private url = '';

  private constructor(private readonly options: ShufflerOptions) {}

  static async start(scope: Scope, options: ShufflerOptions): Promise<NotificationShuffler> {
    const shuffler = new NotificationShuffler(options);
    const server = await LocalServer.start((request, response) => shuffler.take(request, response));
    shuffler.url = `${server.url}/`;
    scope.defer(() => {
      shuffler.closing = true;
      return server.stop();
    });
    return shuffler;
  }

  /** Passes on to this address from now on; returns the one for the platform. */
  before(address: string): string {
    this.target = address;
    return this.url;
  }

  /** Copies that have not arrived yet. */
  get pending(): number {
    return this.open;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const signature = String(request.headers['x-hub-signature-256'] ?? '');
    response.end();
    for (let copy = 0; copy < this.options.times; copy++) void this.pass(body, signature);
  }

  private async pass(body: Buffer, signature: string): Promise<void> {
    this.open++;
    await pause(randomBetween(0, this.options.latestMs));
    const until = performance.now() + GIVE_UP_MS;
    while (!this.closing && performance.now() < until && !(await this.post(body, signature))) await pause(AGAIN_MS);
    this.open--;
    this.passed++;
  }

  private async post(body: Buffer, signature: string): Promise<boolean> {
    if (this.target === null) return false;
    try {
      const response = await fetch(this.target, {
        method: 'POST',
        signal: AbortSignal.timeout(REQUEST_MS),
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
        body: new Uint8Array(body),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }
}
