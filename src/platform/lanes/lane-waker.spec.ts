import type { Queue } from 'bullmq';
import { Counters } from '../operations/counters.js';
import { LaneWaker, type DrainJob, type WithoutQueue } from './lane-waker.js';

interface Added {
  laneKey: string;
  options: { deduplication: { id: string; keepLastIfActive?: boolean }; removeOnComplete: boolean; delay?: number };
}

/** Takes jobs as a queue does, at the pace that the test sets. */
class ListQueue {
  readonly added: Added[] = [];
  statements = 0;
  answer: () => Promise<unknown> = () => Promise.resolve();

  add(_name: string, data: DrainJob, options: Added['options']): Promise<unknown> {
    this.statements += 1;
    this.added.push({ laneKey: data.laneKey, options });
    return this.answer();
  }

  addBulk(jobs: { data: DrainJob; opts: Added['options'] }[]): Promise<unknown> {
    this.statements += 1;
    for (const { data, opts } of jobs) this.added.push({ laneKey: data.laneKey, options: opts });
    return this.answer();
  }
}

function wakerOn(queue: ListQueue, change: Partial<WithoutQueue> = {}) {
  const counters = new Counters();
  const here = { touch: () => false, drainHere: () => false, isDisconnected: () => false, ...change };
  return { waker: new LaneWaker(queue as unknown as Queue<DrainJob>, counters, here), counters };
}

/** Of a worker: the lanes that it is to drain itself. */
function workerOn(queue: ListQueue, change: Partial<WithoutQueue> = {}) {
  const drained: string[] = [];
  return { drained, ...wakerOn(queue, { drainHere: (laneKey) => drained.push(laneKey) > 0, ...change }) };
}

const { jest } = import.meta;
const pause = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('LaneWaker', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void jest.useRealTimers());

  it('wakes at once, and shares one more wake among all that come soon after', async () => {
    const queue = new ListQueue();
    const { waker } = wakerOn(queue);
    waker.wake('a');
    expect(queue.added).toHaveLength(1);
    for (let index = 0; index < 1_000; index++) waker.wake('a');
    expect(queue.added).toHaveLength(1);
    await pause(120);
    expect(queue.added).toHaveLength(2);
    await pause(60);
    expect(queue.added).toHaveLength(2);
    waker.wake('a');
    expect(queue.added).toHaveLength(3);
  });

  it('never adds a delayed job, and lets the queue keep one job a lane', () => {
    const queue = new ListQueue();
    const { waker } = wakerOn(queue);
    waker.wake('a');
    waker.wake('b');
    expect(queue.added.map(({ options }) => options.delay)).toEqual([undefined, undefined]);
    expect(queue.added.every(({ options }) => options.removeOnComplete && options.deduplication.keepLastIfActive)).toBe(
      true,
    );
    expect(new Set(queue.added.map(({ options }) => options.deduplication.id)).size).toBe(2);
  });

  it('asks a drain of this process first', () => {
    const queue = new ListQueue();
    const { waker } = wakerOn(queue, { touch: (laneKey) => laneKey === 'here' });
    waker.wake('here');
    waker.wake('elsewhere');
    expect(queue.added.map(({ laneKey }) => laneKey)).toEqual(['elsewhere']);
    waker.enqueue('here');
    expect(queue.added.map(({ laneKey }) => laneKey)).toEqual(['elsewhere', 'here']);
  });

  it('has few statements on their way at once, which take all that gathered, and each lane in line once', async () => {
    const queue = new ListQueue();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    queue.answer = () => opened;
    const { waker } = wakerOn(queue);
    for (let round = 0; round < 3; round++) {
      for (let lane = 0; lane < 50; lane++) waker.wake(`lane-${lane}`);
    }
    expect(queue.added).toHaveLength(2);
    open();
    await pause(20);
    expect([queue.added.length, queue.statements]).toEqual([50, 3]);
    await pause(130);
    const lanes = queue.added.map(({ laneKey }) => laneKey);
    expect(new Set(lanes).size).toBe(50);
    expect(lanes.length).toBeLessThanOrEqual(52);
  });

  it('forgets at its stop what stands in line, and wakes nobody after it', async () => {
    const queue = new ListQueue();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    queue.answer = () => opened;
    const { waker } = wakerOn(queue);
    for (let lane = 0; lane < 50; lane++) waker.wake(`lane-${lane}`);
    for (let lane = 0; lane < 50; lane++) waker.wake(`lane-${lane}`);
    waker.stop();
    waker.wake('late');
    waker.rescue('late');
    open();
    await pause(150);
    expect(queue.added).toHaveLength(2);
  });

  it('counts a wake that fails or hangs, and goes on', async () => {
    const queue = new ListQueue();
    const { waker, counters } = wakerOn(queue);
    queue.answer = () => Promise.reject(new Error('away'));
    waker.wake('a');
    queue.answer = () => new Promise(() => undefined);
    waker.wake('b');
    await pause(1_200);
    expect(counters.snapshot().lane_wakes_failed).toBe(2);
    queue.answer = () => Promise.resolve();
    waker.wake('c');
    await pause(10);
    expect(counters.snapshot().lane_wakes).toBe(1);
  });

  it('has a worker drain lanes that are due although they were woken, whatever the queue says of them', () => {
    const queue = new ListQueue();
    const { waker, drained } = workerOn(queue);
    waker.rescue('a');
    expect([drained, queue.added]).toEqual([['a'], []]);
  });
});

describe('without its queue', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['refuses', () => Promise.reject(new Error('away'))],
    ['hangs', () => new Promise(() => undefined)],
  ])('that %s, a worker drains the lanes, tries again once a second, and goes back', async (_how, answer) => {
    const queue = new ListQueue();
    const { waker, drained } = workerOn(queue);
    queue.answer = answer;
    waker.wake('first');
    await pause(1_000);
    expect([drained, waker.isAway]).toEqual([['first'], true]);

    const lanes = Array.from({ length: 500 }, (_unused, index) => `lane-${index}`);
    for (const lane of lanes) waker.wake(lane);
    expect(drained).toEqual(['first', ...lanes]);
    await pause(3_000);
    expect(drained).toHaveLength(501);
    expect(queue.added).toHaveLength(2);

    queue.answer = () => Promise.resolve();
    waker.wake('last');
    await pause(10);
    expect([drained.at(-1), waker.isAway]).toEqual(['last', false]);
    waker.wake('back');
    expect([drained.at(-1), queue.added.at(-1)?.laneKey]).toEqual(['last', 'back']);
  });

  it('that is not connected, it is not asked at all', async () => {
    const queue = new ListQueue();
    let connected = false;
    const { waker, drained } = workerOn(queue, { isDisconnected: () => !connected });
    waker.wake('a');
    await pause(5_000);
    waker.wake('b');
    expect([drained, queue.added]).toEqual([['a', 'b'], []]);
    connected = true;
    await pause(30);
    waker.wake('b');
    expect(queue.added.map(({ laneKey }) => laneKey)).toEqual(['b']);
  });

  it('wakes that it does not take are counted', async () => {
    const queue = new ListQueue();
    const { waker, counters } = wakerOn(queue, { isDisconnected: () => true });
    for (let lane = 0; lane < 20; lane++) waker.wake(`lane-${lane}`);
    await pause(0);
    expect(counters.snapshot().lane_wakes_failed).toBe(20);
  });
});
