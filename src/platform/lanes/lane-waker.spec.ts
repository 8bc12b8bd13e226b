import type { Queue } from 'bullmq';
import { Counters } from '../operations/counters.js';
import { LaneWaker, type DrainJob } from './lane-waker.js';

interface Added {
  laneKey: string;
  options: { deduplication: { id: string; keepLastIfActive?: boolean }; removeOnComplete: boolean; delay?: number };
}

/** Takes jobs as a queue does, at the pace that the test sets. */
class ListQueue {
  readonly added: Added[] = [];
  answer: () => Promise<unknown> = () => Promise.resolve();

  add(_name: string, data: DrainJob, options: Added['options']): Promise<unknown> {
    this.added.push({ laneKey: data.laneKey, options });
    return this.answer();
  }
}

function wakerOn(queue: ListQueue, touch?: (laneKey: string) => boolean) {
  const counters = new Counters();
  return { waker: new LaneWaker(queue as unknown as Queue<DrainJob>, counters, touch), counters };
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
    const { waker } = wakerOn(queue, (laneKey) => laneKey === 'here');
    waker.wake('here');
    waker.wake('elsewhere');
    expect(queue.added.map(({ laneKey }) => laneKey)).toEqual(['elsewhere']);
    waker.enqueue('here');
    expect(queue.added.map(({ laneKey }) => laneKey)).toEqual(['elsewhere', 'here']);
  });

  it('has few jobs on their way at once, and each lane in line once', async () => {
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
    expect(queue.added).toHaveLength(8);
    open();
    await pause(150);
    const lanes = queue.added.map(({ laneKey }) => laneKey);
    expect(new Set(lanes).size).toBe(50);
    expect(lanes.length).toBeLessThanOrEqual(58);
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
    await waker.force('late');
    open();
    await pause(150);
    expect(queue.added).toHaveLength(8);
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

  it('forces a lane past what a crash left behind, at most once in ten seconds', async () => {
    const queue = new ListQueue();
    const { waker } = wakerOn(queue);
    waker.wake('a');
    await waker.force('a');
    await pause(9_999);
    await waker.force('a');
    await pause(1);
    await waker.force('a');
    const [first, ...forced] = queue.added.map(({ options }) => options.deduplication.id);
    // Within one round of ten seconds both name the same job.
    expect(forced[1]).toBe(forced[0]);
    expect(new Set([first, ...forced]).size).toBe(3);
  });
});
