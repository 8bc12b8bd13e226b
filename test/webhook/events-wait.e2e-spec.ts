import { jest } from '@jest/globals';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import { EventsRepository, type EventPlace } from '../../src/modules/webhook/events/events.repository.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp, subscriber } from './fixture.js';

const LONG = '25';

let test: TestApp;
let looks: jest.SpiedFunction<EventsRepository['look']>;

beforeAll(async () => {
  test = await startWebhookApp({ roles: ['api'], env: { CONNECTIONS_PER_ADDRESS: '1000' } });
  looks = jest.spyOn(EventsRepository.prototype, 'look');
});
afterAll(async () => {
  jest.restoreAllMocks();
  await test?.stop();
});

const read = (api: ApiClient, query: Record<string, string>): Promise<ApiResponse> =>
  api.get(`/events?${new URLSearchParams(query).toString()}`);

/** A workspace that reads its events, as often as it likes, and where it is. */
async function reader() {
  const made = await subscriber(test);
  await test.database.execute('update organization set rate_per_second = 10000, rate_burst = 10000 where id = $1', [
    made.organizationId,
  ]);
  const { text, id: keyId } = await test.factories.apiKey({ organizationId: made.organizationId });
  const api = test.api.as(text);
  const { next } = (await read(api, { after: 'now' })).body as unknown as { next: string };
  return { ...made, api, keyId, next };
}

const lookedFor = (places: readonly EventPlace[], organizationId: string): number =>
  places.filter((place) => place.organizationId === organizationId).length;

/** Until a look begins that is for so many readers of the workspace. */
async function waiting(organizationId: string, count = 1): Promise<void> {
  looks.mockClear();
  await waitFor(() => looks.mock.calls.some(([places]) => lookedFor(places, organizationId) === count), {
    what: `${count} waiting readers`,
  });
}

const idsOf = ({ body }: ApiResponse): string[] => (body.data as unknown as { id: string }[]).map(({ id }) => id);

it('answers as soon as an event is there, in the order of the events', async () => {
  const { api, next, emit, organizationId } = await reader();
  const answer = read(api, { after: next, wait: LONG });
  await waiting(organizationId);
  const ids = await emit(3);
  expect(idsOf(await answer)).toEqual(ids);
});

it('does not wait where events are there', async () => {
  const { api, next, emit } = await reader();
  const ids = await emit(2);
  looks.mockClear();
  expect(idsOf(await read(api, { after: next, wait: LONG }))).toEqual(ids);
});

it('is empty after the time, with the place to go on from', async () => {
  const { api, next, emit } = await reader();
  const { status, body } = await read(api, { after: next, wait: '1' });
  expect({ status, ...body }).toMatchObject({ status: 200, data: [], done: true });
  const ids = await emit();
  // A transaction of any database that is still open keeps it back for a moment.
  expect(idsOf(await read(api, { after: (body as unknown as { next: string }).next, wait: LONG }))).toEqual(ids);
});

it('passes over other types, and remembers where it was', async () => {
  const { api, next, emit, organizationId } = await reader();
  const answer = read(api, { after: next, wait: LONG, types: 'media.ready' });
  await waiting(organizationId);
  await emit(2, 'message.status.updated');
  await waitFor(
    () =>
      looks.mock.calls.some(([places]) =>
        places.some((place) => place.organizationId === organizationId && place.after.kind === 'event'),
      ),
    { what: 'a place behind the other events' },
  );
  const ids = await emit(1, 'media.ready');
  expect(idsOf(await answer)).toEqual(ids);
});

it.each(['-1', '26', '1.5', 'x'])('wait=%s is no time', async (wait) => {
  const { api } = await reader();
  expect((await read(api, { wait })).status).toBe(400);
});

it('a client that goes frees its place', async () => {
  const { next, organizationId } = await reader();
  const { text } = await test.factories.apiKey({ organizationId });
  const gone = new AbortController();
  const call = fetch(`${test.baseUrl}/api/v1/events?after=${next}&wait=${LONG}`, {
    headers: { authorization: `Bearer ${text}` },
    signal: gone.signal,
  });
  await waiting(organizationId);
  // Another one keeps the looks going.
  const other = await reader();
  const answer = read(other.api, { after: other.next, wait: LONG });
  gone.abort();
  await expect(call).rejects.toThrow();
  await waitFor(
    () => {
      const places = looks.mock.calls.at(-1)?.[0] ?? [];
      return lookedFor(places, other.organizationId) === 1 && lookedFor(places, organizationId) === 0;
    },
    { what: 'its place to be free' },
  );
  await other.emit();
  expect((await answer).status).toBe(200);
});

it('a key that was revoked meanwhile is refused', async () => {
  const { api, keyId, next, emit, organizationId } = await reader();
  const answer = read(api, { after: next, wait: LONG });
  await waiting(organizationId);
  await test.app.get(ApiKeysService).revoke(keyId);
  await waitFor(async () => (await api.get('/key')).status === 401, { what: 'this process to know' });
  await emit();
  expect((await answer).body.error.code).toBe('API_KEY_REVOKED');
});
