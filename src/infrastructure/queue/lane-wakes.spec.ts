import type { PgNotifier } from '../database/pg-notifier.js';
import { Counters } from '../operations/counters.js';
import { gate } from '../../../test/support/gate.js';
import { LaneWakes } from './lane-wakes.js';
import type { QueueConnection } from './queue-connection.js';

const { jest } = import.meta;
const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** Redis and PostgreSQL as the test sets them. */
function wakesOn({ redis = true } = {}) {
  const state = { redis, notifies: true };
  const [jobs, notices]: [string[][], string[]] = [[], []];
  const answer = { jobs: (): Promise<unknown> => Promise.resolve(), notices: (): Promise<void> => Promise.resolve() };
  let receive: (notice: string | null) => void = () => undefined;
  const queue = {
    addBulk(added: { data: { laneKey: string } }[]) {
      jobs.push(added.map(({ data }) => data.laneKey));
      return answer.jobs();
    },
  };
  const connection = {
    get isConnected() {
      return state.redis;
    },
    queueOf: () => queue,
  };
  const notifier = {
    get connected() {
      return state.notifies;
    },
    on: (_kind: string, handler: typeof receive) => (receive = handler),
    publish(_kind: string, notice: string) {
      notices.push(notice);
      return answer.notices();
    },
  };
  const counters = new Counters();
  const wakes = new LaneWakes(connection as unknown as QueueConnection, notifier as unknown as PgNotifier, counters);
  return { wakes, jobs, notices, state, answer, counters, receive: (notice: string | null) => receive(notice) };
}

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  jest.advanceTimersByTime(1); // the cache takes a time of 0 for none
});
afterEach(() => void jest.useRealTimers());

it('a lane is announced once in a quarter of a second, however many rows it gets', async () => {
  const { wakes, jobs } = wakesOn();
  for (let n = 0; n < 100; n++) {
    wakes.announce('send', 'a', 'one');
    await advance(10);
  }
  expect(jobs).toEqual([['a'], ['a'], ['a'], ['a']]);
});

it.each([
  ['without Redis, or while it is away', { redis: false }, () => Promise.resolve()],
  ['where Redis does not take the job', { redis: true }, () => Promise.reject(new Error('away'))],
  ['where Redis hangs', { redis: true }, () => new Promise(() => undefined)],
])('PostgreSQL notifies %s', async (_how, options, answer) => {
  const { wakes, notices, answer: answers, counters } = wakesOn(options);
  answers.jobs = answer;
  wakes.announce('send', 'a', 'one');
  await advance(1_100);
  expect([notices, counters.snapshot().lane_wakes]).toEqual([['send a'], 1]);
});

it('a notification wakes each of its lanes in its kind', () => {
  const { wakes, receive } = wakesOn();
  const woken: string[] = [];
  wakes.on('send', (laneKey) => void woken.push(laneKey));
  receive('send a b');
  receive('webhook c');
  receive(null);
  expect(woken).toEqual(['a', 'b']);
});

it('few statements are under way at once, which take all that gathered', async () => {
  const { wakes, jobs, answer } = wakesOn();
  const { opened, open } = gate();
  answer.jobs = () => opened;
  for (let lane = 0; lane < 150; lane++) wakes.announce('send', `lane-${lane}`, 'one');
  expect(jobs.map((lanes) => lanes.length)).toEqual([1, 1]);
  open();
  await advance(10);
  expect(jobs.map((lanes) => lanes.length)).toEqual([1, 1, 100, 48]);
  expect(new Set(jobs.flat()).size).toBe(150);
});

it('what this process cannot serve itself is told to all, not to one that may be itself', async () => {
  const { wakes, jobs, notices } = wakesOn();
  wakes.announce('send', 'a', 'one');
  wakes.announce('send', 'a', 'all');
  await advance(1);
  expect([jobs, notices]).toEqual([[['a']], ['send a']]);
});

it('a wake that could not be sent is counted, and announced with the next row', async () => {
  const { wakes, notices, answer, counters } = wakesOn({ redis: false });
  answer.notices = () => Promise.reject(new Error('away'));
  wakes.announce('send', 'a', 'one');
  await advance(1);
  answer.notices = () => Promise.resolve();
  wakes.announce('send', 'a', 'one');
  await advance(1);
  expect([notices, counters.snapshot()]).toMatchObject([['send a', 'send a'], { lane_wakes_failed: 1, lane_wakes: 1 }]);
});

it('says where it hears no wake; others may hear its own, as while it stops', async () => {
  const { wakes, notices, state } = wakesOn({ redis: false });
  expect(wakes.unavailable).toBe(false);
  state.notifies = false;
  expect(wakes.unavailable).toBe(true);
  wakes.announce('send', 'a', 'one');
  await advance(1);
  expect(notices).toEqual(['send a']);
});

it('announces nothing after the stop', async () => {
  const { wakes, jobs, answer } = wakesOn();
  const { opened, open } = gate();
  answer.jobs = () => opened;
  for (let lane = 0; lane < 50; lane++) wakes.announce('send', `lane-${lane}`, 'one');
  wakes.stop();
  wakes.announce('send', 'late', 'one');
  open();
  await advance(3_000);
  expect(jobs).toHaveLength(2);
});
