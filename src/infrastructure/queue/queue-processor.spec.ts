import type { Queue } from 'bullmq';
import { Counters } from '../operations/counters.js';
import { DrainJobs, type DrainJob } from './queue-processor.js';
import { gate } from '../../../test/support/gate.js';

interface Added {
  laneKey: string;
  options: { deduplication: { id: string; keepLastIfActive?: boolean }; removeOnComplete: boolean; delay?: number };
}

/** Takes jobs as a queue does, at the pace that the test sets. */
class ListQueue {
  readonly name = 'send';
  readonly added: Added[] = [];
  answer: () => Promise<unknown> = () => Promise.resolve();

  statements = 0;

  addBulk(jobs: { data: DrainJob; opts: Added['options'] }[]): Promise<unknown> {
    this.statements++;
    for (const { data, opts } of jobs) this.added.push({ laneKey: data.laneKey, options: opts });
    return this.answer();
  }

  get lanes(): string[] {
    return this.added.map(({ laneKey }) => laneKey);
  }
}

function jobsOn(queue: ListQueue, connection = { isAway: false }) {
  const counters = new Counters();
  return { jobs: new DrainJobs(queue as unknown as Queue<DrainJob>, connection, counters), counters };
}

const { jest } = import.meta;
const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('jobs about due rows', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_800_000_000_000 });
    jest.advanceTimersByTime(1); // the cache takes a time of 0 for none
  });
  afterEach(() => void jest.useRealTimers());

  it('are one job for all rows of a lane that follow one another', async () => {
    const queue = new ListQueue();
    const { jobs } = jobsOn(queue);
    for (let n = 0; n < 1_000; n++) jobs.announce('a');
    await advance(1_900);
    jobs.announce('a');
    await advance(1_900);
    jobs.announce('a');
    expect(queue.lanes).toEqual(['a']);
  });

  it('are a job again after two seconds without rows: no worker looks at the lane any more', async () => {
    const queue = new ListQueue();
    const { jobs } = jobsOn(queue);
    jobs.announce('a');
    await advance(2_100);
    expect(queue.lanes).toEqual(['a']);
    jobs.announce('a');
    expect(queue.lanes).toEqual(['a', 'a']);
  });

  it('are one job in ten seconds as long as rows keep coming: the worker may have ended', async () => {
    const queue = new ListQueue();
    const { jobs } = jobsOn(queue);
    for (let n = 0; n < 250; n++) {
      jobs.announce('a');
      await advance(100);
    }
    expect(queue.lanes).toEqual(['a', 'a', 'a']);
  });

  it('are a job at the next row where the queue did not take it', async () => {
    const queue = new ListQueue();
    const { jobs } = jobsOn(queue);
    queue.answer = () => Promise.reject(new Error('away'));
    jobs.announce('a');
    await advance(1_000);
    queue.answer = () => Promise.resolve();
    jobs.announce('a');
    expect(queue.lanes).toEqual(['a', 'a']);
  });

  it('are never a delayed job, and the queue keeps one job a lane', () => {
    const queue = new ListQueue();
    const { jobs } = jobsOn(queue);
    jobs.add('a');
    jobs.add('b');
    expect(queue.added.map(({ options }) => options.delay)).toEqual([undefined, undefined]);
    expect(queue.added.every(({ options }) => options.removeOnComplete && options.deduplication.keepLastIfActive)).toBe(
      true,
    );
    expect(new Set(queue.added.map(({ options }) => options.deduplication.id)).size).toBe(2);
  });

  it('are few statements on their way at once, which take all that gathered, and each lane is in line once', async () => {
    const queue = new ListQueue();
    const { opened, open } = gate();
    queue.answer = () => opened;
    const { jobs } = jobsOn(queue);
    for (let round = 0; round < 3; round++) {
      for (let lane = 0; lane < 50; lane++) jobs.announce(`lane-${lane}`);
    }
    expect(queue.added).toHaveLength(2);
    open();
    await advance(150);
    expect(new Set(queue.lanes).size).toBe(50);
    expect([queue.lanes.length, queue.statements]).toEqual([50, 3]);
  });

  it('end with the process', async () => {
    const queue = new ListQueue();
    const { opened, open } = gate();
    queue.answer = () => opened;
    const { jobs } = jobsOn(queue);
    for (let lane = 0; lane < 50; lane++) jobs.announce(`lane-${lane}`);
    jobs.stop();
    jobs.announce('late');
    open();
    await advance(3_000);
    expect(queue.added).toHaveLength(2);
  });

  it.each([
    ['refuses', () => Promise.reject(new Error('away'))],
    ['hangs', () => new Promise(() => undefined)],
  ])('that the queue %s are counted, and it is tried again once a second', async (_how, answer) => {
    const queue = new ListQueue();
    const { jobs, counters } = jobsOn(queue);
    queue.answer = answer;
    jobs.add('a');
    await advance(1_000);
    expect([jobs.jobsUnavailable, counters.snapshot().lane_wakes_failed]).toEqual([true, 1]);
    const failedAt = queue.added.length;
    await advance(1_000);
    expect([jobs.add('b'), jobs.add('c')]).toEqual([true, false]);
    expect(queue.added).toHaveLength(failedAt + 1);
    queue.answer = () => Promise.resolve();
    await advance(3_000);
    expect(jobs.add('d')).toBe(true);
    await advance(10);
    expect([jobs.jobsUnavailable, counters.snapshot().lane_wakes]).toEqual([false, 1]);
  });

  it('do not use a queue that is not connected', () => {
    const queue = new ListQueue();
    const connection = { isAway: true };
    const { jobs, counters } = jobsOn(queue, connection);
    jobs.announce('a');
    expect([queue.added, jobs.add('b'), jobs.jobsUnavailable]).toEqual([[], false, true]);
    expect(counters.snapshot().lane_wakes_failed).toBe(2);
    connection.isAway = false;
    expect([jobs.add('b'), jobs.jobsUnavailable]).toEqual([true, false]);
  });
});
