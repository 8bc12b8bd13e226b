import type { Queue } from 'bullmq';
import type { Forget } from '../access/cache-invalidation.js';
import { Counters } from '../operations/counters.js';
import { LaneHints, type DrainJob } from './lane-hints.js';

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

function hintsOn(queue: ListQueue, connection = { isAway: false }) {
  const counters = new Counters();
  const signals: string[] = [];
  const handlers: Forget[] = [];
  const notices = {
    connected: true,
    on: (_kind: string, forget: Forget) => void handlers.push(forget),
    hint: (kind: string, text: string) => void signals.push(`${kind} ${text}`),
  };
  const hints = new LaneHints(queue as unknown as Queue<DrainJob>, notices, connection, counters);
  return {
    hints,
    counters,
    signals,
    notices,
    receive: (text: string | null) => handlers.forEach((each) => each(text)),
  };
}

const { jest } = import.meta;
const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('hints at due rows', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void jest.useRealTimers());

  it('are one job a lane at once, and one more for all that comes in two seconds', async () => {
    const queue = new ListQueue();
    const { hints } = hintsOn(queue);
    for (let n = 0; n < 1_000; n++) hints.announce('a');
    expect(queue.lanes).toEqual(['a']);
    await advance(2_100);
    expect(queue.lanes).toEqual(['a', 'a']);
    await advance(2_100);
    expect(queue.lanes).toEqual(['a', 'a']);
    hints.announce('a');
    expect(queue.lanes).toEqual(['a', 'a', 'a']);
  });

  it('are no more jobs as long as rows keep coming, which the signals announce', async () => {
    const queue = new ListQueue();
    const { hints, signals } = hintsOn(queue);
    for (let n = 0; n < 100; n++) {
      hints.announce('a');
      await advance(100);
    }
    expect(queue.lanes).toEqual(['a']);
    expect(signals).toHaveLength(100);
    await advance(2_000);
    expect(queue.lanes).toEqual(['a', 'a']);
  });

  it('are one signal at once, and then one in 50 ms for all lanes', async () => {
    const { hints, signals } = hintsOn(new ListQueue());
    for (let n = 0; n < 100; n++) {
      hints.announce('a');
      hints.signal('b');
    }
    await advance(0);
    expect(signals).toEqual(['lanes:send a b']);
    hints.announce('a');
    await advance(20);
    hints.signal('c');
    await advance(29);
    expect(signals).toEqual(['lanes:send a b']);
    await advance(1);
    expect(signals).toEqual(['lanes:send a b', 'lanes:send a c']);
  });

  it('fit into what PostgreSQL takes, and are heard lane by lane', async () => {
    const { hints, signals, receive } = hintsOn(new ListQueue());
    const lanes = Array.from({ length: 1_000 }, (_unused, n) => `media:00000000-0000-0000-0000-00000000${1_000 + n}`);
    for (const lane of lanes) hints.signal(lane);
    await advance(20);
    expect(Math.max(...signals.map((signal) => signal.length))).toBeLessThan(7_900);
    const heard: string[] = [];
    hints.listen((lane) => heard.push(lane));
    for (const signal of signals) receive(signal.slice('lanes:send '.length));
    receive(null);
    expect(heard).toEqual(lanes);
  });

  it('are never a delayed job, and the queue keeps one job a lane', () => {
    const queue = new ListQueue();
    const { hints } = hintsOn(queue);
    hints.enqueue('a');
    hints.enqueue('b');
    expect(queue.added.map(({ options }) => options.delay)).toEqual([undefined, undefined]);
    expect(queue.added.every(({ options }) => options.removeOnComplete && options.deduplication.keepLastIfActive)).toBe(
      true,
    );
    expect(new Set(queue.added.map(({ options }) => options.deduplication.id)).size).toBe(2);
  });

  it('are few statements on their way at once, which take all that gathered, and each lane is in line once', async () => {
    const queue = new ListQueue();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    queue.answer = () => opened;
    const { hints } = hintsOn(queue);
    for (let round = 0; round < 3; round++) {
      for (let lane = 0; lane < 50; lane++) hints.announce(`lane-${lane}`);
    }
    expect(queue.added).toHaveLength(2);
    open();
    await advance(150);
    expect(new Set(queue.lanes).size).toBe(50);
    expect([queue.lanes.length, queue.statements]).toEqual([50, 3]);
  });

  it('end with the process', async () => {
    const queue = new ListQueue();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    queue.answer = () => opened;
    const { hints, signals } = hintsOn(queue);
    for (let lane = 0; lane < 50; lane++) hints.announce(`lane-${lane}`);
    hints.stop();
    hints.announce('late');
    open();
    await advance(3_000);
    expect([queue.added.length, signals]).toEqual([2, []]);
  });

  it.each([
    ['refuses', () => Promise.reject(new Error('away'))],
    ['hangs', () => new Promise(() => undefined)],
  ])('that the queue %s are counted, and it is tried again once a second', async (_how, answer) => {
    const queue = new ListQueue();
    const { hints, counters } = hintsOn(queue);
    queue.answer = answer;
    hints.enqueue('a');
    await advance(1_000);
    expect([hints.isAway, counters.snapshot().lane_wakes_failed]).toEqual([true, 1]);
    const failedAt = queue.added.length;
    await advance(1_000);
    expect(hints.takesJobs).toBe(true);
    hints.enqueue('b');
    expect(hints.takesJobs).toBe(false);
    hints.enqueue('c');
    expect(queue.added).toHaveLength(failedAt + 1);
    queue.answer = () => Promise.resolve();
    await advance(3_000);
    hints.enqueue('d');
    await advance(10);
    expect([hints.isAway, hints.takesJobs, counters.snapshot().lane_wakes]).toEqual([false, true, 1]);
  });

  it('do not use a queue that is not connected, and say where no signal arrives', async () => {
    const queue = new ListQueue();
    const connection = { isAway: true };
    const { hints, notices, counters } = hintsOn(queue, connection);
    hints.announce('a');
    await advance(30);
    expect([queue.added, hints.takesJobs, hints.isAway]).toEqual([[], false, true]);
    expect(counters.snapshot().lane_wakes_failed).toBe(1);
    connection.isAway = false;
    expect(hints.isAway).toBe(false);
    notices.connected = false;
    expect([hints.takesJobs, hints.isAway]).toEqual([true, true]);
  });
});
