import { Agent, request } from 'undici';
import type { SignedBody } from './signed-body.js';

/** `refused`: an answer other than 200, or none after the request was on its way. `unreachable`: nobody listens. */
export type PostOutcome = 'acknowledged' | 'refused' | 'unreachable';

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Posts notifications over kept-alive connections. Follows no redirect. */
export class WebhookPost {
  private readonly agent = new Agent({
    connections: 16,
    pipelining: 1,
    connect: { timeout: 3_000 },
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });

  async post(url: string, body: SignedBody): Promise<PostOutcome> {
    try {
      const response = await request(url, {
        method: 'POST',
        headers: body.headers,
        body: body.bytes,
        dispatcher: this.agent,
      });
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
