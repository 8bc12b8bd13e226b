import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import type { DeliveryResult } from '../delivery-client.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import type { ClaimedEvent, DeliveryOutcome } from './dispatch.repository.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';

const OK: DeliveryResult = { kind: 'answered', status: 204, retryAfterMs: null, durationMs: 20 };
const HUNG: DeliveryResult = { kind: 'answered', status: 500, retryAfterMs: null, durationMs: 10_000 };

interface Delivery {
  endpoint: string;
  answer: (result: DeliveryResult) => void;
}

/** A dispatcher whose events are numbers in memory, and whose receivers a test answers for. */
function stage({ maxInFlight = 100, roles = ['worker'], answers = false } = {}) {
  const waiting = new Map<string, number>();
  const claims: Map<string, number>[] = [];
  const open: Delivery[] = [];
  const outcomes: DeliveryOutcome[] = [];
  const hints: string[] = [];
  let failure: Error | null = null;
  const eventOf = (endpointId: string): ClaimedEvent => ({
    eventId: newId(),
    organizationId: newId(),
    endpointId,
    url: 'https://example.com/hook',
    secrets: [{ id: newId(), sealed: 'sealed' }],
    revision: 1,
    headers: null,
    eventType: 'message.received',
    data: '{}',
    occurredAt: new Date(),
    attemptId: newId(),
    attempt: 1,
    claimedAt: performance.now(),
    tries: 0,
    traceContext: null,
    transaction: '7',
    identity: 'a/1/b',
  });
  const dispatches = {
    claim: (wanted: ReadonlyMap<string, number>) => {
      claims.push(new Map(wanted));
      if (failure !== null) return Promise.reject(failure);
      const taken = [...wanted].flatMap(([endpointId, capacity]) => {
        const count = Math.min(capacity, waiting.get(endpointId) ?? 0);
        waiting.set(endpointId, (waiting.get(endpointId) ?? 0) - count);
        return Array.from({ length: count }, () => eventOf(endpointId));
      });
      return Promise.resolve(taken);
    },
    dueEndpoints: (limit: number, after: string | null) => {
      const behind = [...waiting].filter(([id, count]) => count > 0 && id > (after ?? '')).map(([id]) => id);
      const endpoints = behind.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
      return Promise.resolve({ endpoints, next: behind.length > limit ? (endpoints.at(-1) ?? null) : null });
    },
  };
  const client = {
    deliver: ({ endpoint }: { endpoint: string }) =>
      answers ? Promise.resolve(OK) : new Promise<DeliveryResult>((answer) => open.push({ endpoint, answer })),
    close: () => Promise.resolve(),
  };
  const record = (outcome: DeliveryOutcome) => {
    outcomes.push(outcome);
    return Promise.resolve(null);
  };
  const secrets = { open: () => `whsec_${Buffer.alloc(32, 1).toString('base64')}`, openHeaders: () => ({}) };
  const config = { process: { roles, shutdownTimeoutMs: 1_000 }, webhook: { maxInFlight, maxInFlightPerEndpoint: 10 } };
  const attempts = new DeliveryAttempts(
    { record } as never,
    secrets as never,
    client as never,
    { clientFor: () => null, close: () => Promise.resolve() } as never,
    new Counters(),
    Tracing.OFF,
    config as never,
  );
  const dispatcher = new WebhookDispatcher(
    dispatches as never,
    attempts,
    { hint: (_kind: string, ids: string) => hints.push(...ids.split(' ')) } as never,
    {} as never,
    new Counters(),
    config as never,
  );
  const emit = (endpoint: string, count: number, wakes = true) => {
    waiting.set(endpoint, (waiting.get(endpoint) ?? 0) + count);
    if (wakes) dispatcher.wake(endpoint);
  };
  const answer = (endpoint: string, result: DeliveryResult, most = Infinity) => {
    for (const delivery of open.filter((one) => one.endpoint === endpoint).slice(0, most)) {
      open.splice(open.indexOf(delivery), 1);
      delivery.answer(result);
    }
  };
  const openOf = (endpoint: string) => open.filter((one) => one.endpoint === endpoint).length;
  return {
    dispatcher,
    claims,
    outcomes,
    emit,
    answer,
    openOf,
    hints,
    fail: (error: Error | null) => (failure = error),
  };
}

describe('WebhookDispatcher', () => {
  it('claims for many endpoints at once', async () => {
    const { emit, claims, outcomes } = stage({ answers: true });
    const endpoints = Array.from({ length: 50 }, () => newId());
    for (const endpoint of endpoints) emit(endpoint, 1);
    await waitFor(() => outcomes.length === 50);
    // The first at once, the others together.
    expect(claims.slice(0, 2).map(({ size }) => size)).toEqual([1, 49]);
  });

  it('goes on with an endpoint as its places come free, to the end of its backlog', async () => {
    const { emit, outcomes, claims } = stage({ answers: true, maxInFlight: 10 });
    emit('a', 300);
    emit('b', 300);
    await waitFor(() => outcomes.length === 600);
    for (const claim of claims) {
      expect([...claim.values()].reduce((sum, capacity) => sum + capacity, 0)).toBeLessThanOrEqual(10);
    }
  });

  it('leaves an endpoint that hangs its own places only, and gives free places to endpoints without any', async () => {
    const { emit, openOf, answer } = stage({ maxInFlight: 6 });
    for (const hanging of ['h1', 'h2']) emit(hanging, 100);
    await waitFor(() => openOf('h1') === 2 && openOf('h2') === 2);
    emit('well', 100);
    await waitFor(() => openOf('well') === 2);
    emit('late', 100);
    // The first place that comes free goes to the one that has none: after both answers at once neither has any.
    answer('well', OK, 1);
    await waitFor(() => openOf('late') >= 1);
    expect(openOf('h1') + openOf('h2')).toBe(4);
    answer('h1', HUNG);
    await waitFor(() => openOf('h1') === 1);
  });

  it('looks page by page for events that no signal named', async () => {
    const { dispatcher, emit, outcomes } = stage({ answers: true });
    for (let n = 0; n < 2_500; n++) emit(`endpoint ${n}`, 1, false);
    expect(await dispatcher.look()).toBe(2_500);
    await waitFor(() => outcomes.length === 2_500);
  });

  it('gives a hint where it is no worker, and where it has no place left', async () => {
    const api = stage({ roles: ['api'] });
    api.emit('a', 1);
    expect([api.hints, api.claims.length]).toEqual([['a'], 0]);
    const worker = stage({ maxInFlight: 2 });
    worker.emit('a', 2);
    await waitFor(() => worker.openOf('a') === 2);
    worker.emit('b', 1);
    await waitFor(() => worker.hints.length > 0);
  });

  it('tries a claim again that failed', async () => {
    const { emit, fail, claims, outcomes } = stage({ answers: true });
    fail(new Error('the database is away'));
    emit('a', 1);
    await waitFor(() => claims.length === 1);
    fail(null);
    await waitFor(() => outcomes.length === 1);
    expect(claims.map((wanted) => [...wanted.keys()])).toEqual([['a'], ['a']]);
  });

  it('reports from the third slow failure in a row that the endpoint should rest', async () => {
    const { emit, openOf, answer, outcomes } = stage();
    emit('a', 4);
    // Two at first, then one at a time.
    for (const answered of [2, 3, 4]) {
      await waitFor(() => openOf('a') === (answered === 2 ? 2 : 1));
      answer('a', HUNG);
      await waitFor(() => outcomes.length === answered);
    }
    expect(outcomes.map(({ restMs }) => restMs)).toEqual([null, null, 0, 0]);
  });

  it('lets deliveries end at its stop, and claims no more', async () => {
    const { dispatcher, emit, openOf, answer, outcomes, claims } = stage();
    emit('a', 5);
    await waitFor(() => openOf('a') === 2);
    const stopped = dispatcher.beforeApplicationShutdown();
    answer('a', OK);
    await stopped;
    emit('a', 1);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['succeeded', 'succeeded']);
    expect(claims).toHaveLength(1);
  });
});
