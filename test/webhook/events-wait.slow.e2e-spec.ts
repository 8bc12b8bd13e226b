import { jest } from '@jest/globals';
import { Drain } from '../../src/infrastructure/http/drain.js';
import { EventsRepository } from '../../src/modules/webhook/events/events.repository.js';
import { MAX_OF_WORKSPACE } from '../../src/modules/webhook/events/event-waits.service.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp, subscriber } from './fixture.js';

const LONG = '25';

let looks: jest.SpiedFunction<EventsRepository['look']>;
let pages: jest.SpiedFunction<EventsRepository['page']>;

beforeAll(() => {
  looks = jest.spyOn(EventsRepository.prototype, 'look');
  pages = jest.spyOn(EventsRepository.prototype, 'page');
});
afterAll(() => {
  jest.restoreAllMocks();
});

const read = (api: ApiClient, query: Record<string, string>): Promise<ApiResponse> =>
  api.get(`/events?${new URLSearchParams(query).toString()}`);

describe('two hundred waiting readers', () => {
  it('cost one statement a look, hold no connection, and end at once when the process stops', async () => {
    const own = await startWebhookApp({ roles: ['api'], env: { CONNECTIONS_PER_ADDRESS: '1000' } });
    try {
      const workspaces = await Promise.all([subscriber(own), subscriber(own)]);
      const places = await Promise.all(
        workspaces.map(async ({ organizationId, api }) => {
          await own.database.execute('update organization set rate_burst = 10000 where id = $1', [organizationId]);
          const { text } = await own.factories.apiKey({ organizationId });
          const { next } = (await read(api, { after: 'now' })).body as unknown as { next: string };
          return { api: own.api.as(text), next };
        }),
      );
      let stopping = false;
      /** A reader that asks again at once, as each does: however slow the machine is, all of them wait at some moment. */
      const follow = async (api: ApiClient, next: string): Promise<ApiResponse> => {
        for (;;) {
          const answer = await read(api, { after: next, wait: LONG });
          if (stopping || answer.status !== 200) return answer;
        }
      };
      const answers = places.flatMap(({ api, next }) =>
        Array.from({ length: MAX_OF_WORKSPACE }, () => follow(api, next)),
      );
      const all = workspaces.length * MAX_OF_WORKSPACE;
      await waitFor(
        () => {
          const waited = looks.mock.calls.map(([at]) => at.length);
          if (pages.mock.calls.length === 0 && waited.every((count) => count === all)) return waited.length >= 3;
          looks.mockClear();
          pages.mockClear();
          return false;
        },
        { what: 'three looks, each for all readers, and nothing else that is read' },
      );
      // The share of the workspace is free for its other reads, and one more may not wait.
      const [{ api, next }] = places as [(typeof places)[number]];
      expect((await api.get('/messages')).status).toBe(200);
      const more = await read(api, { after: next, wait: LONG });
      expect({ status: more.status, ...more.body.error }).toMatchObject({ status: 429, scope: 'waiting_readers' });
      stopping = true;
      const stopped = own.app.get(Drain).stop(own.app.getHttpServer(), 60_000);
      for (const answer of await Promise.all(answers)) {
        expect({ status: answer.status, data: answer.body.data }).toEqual({ status: 200, data: [] });
      }
      expect(await stopped).toBe(0);
    } finally {
      await own.stop();
    }
  });
});
