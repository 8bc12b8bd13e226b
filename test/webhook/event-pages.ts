import type { Envelope } from '../faults/webhook-receiver.js';
import type { ApiClient } from '../support/api-client.js';
import type { TestApp } from '../support/test-app.js';
import { subscriber } from './fixture.js';

export interface Page {
  data: (Envelope & { cursor: string })[];
  next: string;
  done: boolean;
  omitted: string[];
}

export const read = (api: ApiClient, query: Record<string, string> = {}) =>
  api.get(`/events?${new URLSearchParams(query).toString()}`);

export async function page(api: ApiClient, query: Record<string, string> = {}): Promise<Page> {
  const answer = await read(api, query);
  if (answer.status !== 200) throw new Error(`GET /events: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as unknown as Page;
}

/** A workspace that reads its events and has no webhook. */
export async function reader(test: TestApp) {
  const made = await subscriber(test);
  const { next } = await page(made.api);
  return { ...made, start: next };
}

export const idsOf = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id);
