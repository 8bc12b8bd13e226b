import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import type { ClaimRequest, Claim } from '../../../infrastructure/queue/lane-grant.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LaneRunner } from '../../../infrastructure/queue/lane-runner.js';
import type { DeliveryResult } from '../delivery-client.js';
import { DeliveryAttempts, MAX_RETRY_AFTER_MS, RETRY_DELAYS_MS, retryDelayMs } from './webhook.processor.js';
import { endpointOfLane, webhookLaneOf, type ClaimedEvent, type DeliveryOutcome } from './dispatch.repository.js';

const PLANNED_SECONDS = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];

describe('retryDelayMs', () => {
  it('follows the schedule of the contract, ±20 %, and ends after the tenth attempt', () => {
    PLANNED_SECONDS.forEach((seconds, index) => {
      const tries = index + 1;
      expect(retryDelayMs(tries, 0, null)).toBe(seconds * 800);
      expect(retryDelayMs(tries, 0.5, null)).toBe(seconds * 1_000);
      expect(retryDelayMs(tries, 0.999_999, null)).toBeLessThanOrEqual(seconds * 1_200);
    });
    expect(retryDelayMs(10, 0.5, null)).toBeNull();
    expect(retryDelayMs(10, 0.5, 60_000)).toBeNull();
    expect(RETRY_DELAYS_MS).toHaveLength(9);
  });

  it('spreads evenly: what failed together does not come back together', () => {
    const delays = Array.from({ length: 10_000 }, () => retryDelayMs(3, Math.random(), null) ?? 0);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(Math.min(...delays)).toBeLessThan(98_000);
    expect(Math.max(...delays)).toBeGreaterThan(142_000);
    expect(Math.abs(mean - 120_000)).toBeLessThan(2_000);
  });

  it('waits longer where the receiver asks for it, never shorter, an hour more at the most', () => {
    expect(retryDelayMs(1, 0.5, 7_000)).toBe(7_000);
    expect(retryDelayMs(1, 0.5, 1_000)).toBe(5_000);
    expect(retryDelayMs(1, 0.5, 0)).toBe(5_000);
    expect(retryDelayMs(1, 0.5, 7 * 86_400_000)).toBe(MAX_RETRY_AFTER_MS);
    expect(retryDelayMs(7, 0.5, 7 * 86_400_000)).toBe(18_000_000);
  });
});

const OK: DeliveryResult = { kind: 'answered', status: 204, retryAfterMs: null, durationMs: 20 };
const HUNG: DeliveryResult = { kind: 'answered', status: 500, retryAfterMs: null, durationMs: 10_000 };

interface Delivery {
  endpoint: string;
  answer: (result: DeliveryResult) => void;
}

/** Attempts whose events are numbers in memory, and whose receivers a test answers for. */
function stage({ maxInFlight = 100, answers = false } = {}) {
  const waiting = new Map<string, number>();
  const claims: number[] = [];
  const open: Delivery[] = [];
  const outcomes: DeliveryOutcome[] = [];
  const rests: [lane: string, atLeastMs: number][] = [];
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
  const claim = (requests: readonly ClaimRequest[]): Promise<Claim<ClaimedEvent>[]> => {
    claims.push(requests.reduce((sum, { limit }) => sum + limit, 0));
    const answered = requests.map(({ laneKey, limit }) => {
      const endpoint = endpointOfLane(laneKey);
      const count = Math.min(limit, waiting.get(endpoint) ?? 0);
      waiting.set(endpoint, (waiting.get(endpoint) ?? 0) - count);
      const grant = { slots: limit, paused: false, unusedRows: 1_000, pausedMs: null };
      return { grant, items: Array.from({ length: count }, () => eventOf(endpoint)) };
    });
    return Promise.resolve(answered);
  };
  const record = (outcome: DeliveryOutcome) => {
    outcomes.push(outcome);
    return Promise.resolve({ disabled: null, isCurrent: true });
  };
  const lanes = {
    ensure: () => Promise.resolve(),
    missed: () => undefined,
    release: () => Promise.resolve([]),
    succeeded: () => null,
    pause: (lane: string, _reason: string, leastMs: number) => Promise.resolve(void rests.push([lane, leastMs])),
  };
  const client = {
    deliver: ({ endpoint }: { endpoint: string }) =>
      answers ? Promise.resolve(OK) : new Promise<DeliveryResult>((answer) => open.push({ endpoint, answer })),
  };
  const attempts = new DeliveryAttempts(
    { claim, record } as never,
    lanes as never,
    { open: () => `whsec_${Buffer.alloc(32, 1).toString('base64')}`, openHeaders: () => ({}) } as never,
    client as never,
    { clientFor: () => null } as never,
    new Counters(),
    Tracing.OFF,
    { process: { shutdownTimeoutMs: 1_000 }, webhook: { maxInFlight, maxInFlightPerEndpoint: 10 } } as never,
  );
  const loop = new LaneRunner({
    kind: attempts,
    lanes,
    owner: newId(),
    maxInFlight,
    claimEveryMs: 5,
    hasOthers: () => false,
    announce: () => undefined,
    onError: () => undefined,
  });
  const emit = (endpoint: string, count: number) => {
    waiting.set(endpoint, (waiting.get(endpoint) ?? 0) + count);
    loop.wake(webhookLaneOf(endpoint));
  };
  const answer = (endpoint: string, result: DeliveryResult, most = Infinity) => {
    for (const delivery of open.filter((one) => one.endpoint === endpoint).slice(0, most)) {
      open.splice(open.indexOf(delivery), 1);
      delivery.answer(result);
    }
  };
  const openOf = (endpoint: string) => open.filter((one) => one.endpoint === endpoint).length;
  return { loop, claims, outcomes, rests, emit, answer, openOf };
}

describe('deliveries', () => {
  it('go on as the places of their endpoint come free, to the end of its backlog', async () => {
    const { loop, emit, outcomes, claims } = stage({ answers: true, maxInFlight: 10 });
    emit('a', 300);
    emit('b', 300);
    await waitFor(() => outcomes.length === 600);
    expect(Math.max(...claims)).toBeLessThanOrEqual(10);
    await loop.stop(1_000);
  });

  it('to an endpoint that hangs have its own places only; free places go to endpoints without any', async () => {
    const { loop, emit, openOf, answer } = stage({ maxInFlight: 6 });
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
    for (const endpoint of ['h1', 'h2', 'well', 'late']) answer(endpoint, OK);
    await loop.stop(1_000);
  });

  it('that fail slowly three times in a row make their endpoint rest', async () => {
    const { loop, emit, openOf, answer, outcomes, rests } = stage();
    emit('a', 4);
    // Two at first, then one at a time.
    for (const answered of [2, 3, 4]) {
      await waitFor(() => openOf('a') === (answered === 2 ? 2 : 1));
      answer('a', HUNG);
      await waitFor(() => outcomes.length === answered);
    }
    const lane = webhookLaneOf('a');
    await waitFor(() => rests.length === 2);
    expect(rests).toEqual([
      [lane, { claimedAt: expect.any(Number), leastMs: 0 }],
      [lane, { claimedAt: expect.any(Number), leastMs: 0 }],
    ]);
    await loop.stop(1_000);
  });

  it('that are under way at the stop end, and no more are claimed', async () => {
    const { loop, emit, openOf, answer, outcomes, claims } = stage();
    emit('a', 5);
    await waitFor(() => openOf('a') === 2);
    const stopped = loop.stop(5_000);
    answer('a', OK);
    await stopped;
    emit('a', 1);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['succeeded', 'succeeded']);
    expect(claims).toHaveLength(1);
  });
});
