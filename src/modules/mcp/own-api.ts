import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, request } from 'undici';
import { PublicUrl } from '../../infrastructure/http/public-url.js';

const TIMEOUT_MS = 30_000;
const CONNECTIONS = 32;

export interface OwnApiCall {
  method: string;
  /** Below the origin, with the query. */
  path: string;
  body?: unknown;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Calls the API of this process as any client does: the same keys, scopes, checks, limits and answers. */
@Injectable()
export class OwnApi implements OnApplicationShutdown {
  private readonly agent = new Agent({ connections: CONNECTIONS, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  constructor(private readonly publicUrl: PublicUrl) {}

  /** @throws what undici throws where no answer came within 30 seconds, or the signal was aborted. */
  async call({ method, path, body, headers, signal }: OwnApiCall): Promise<{ status: number; body: unknown }> {
    const answer = await request(this.publicUrl.local + path, {
      method: method as 'GET',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: this.agent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: answer.statusCode, body: await answer.body.json() };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.close();
  }
}
