import type { TakenMessage } from '../messages/message-log.js';
import { StatusSchedule } from './status-schedule.js';

const { jest } = import.meta;
const GAP_MS = 1_000;

let due: string[];
let schedule: StatusSchedule;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  due = [];
  schedule = new StatusSchedule(
    GAP_MS,
    ({ id }, step) => due.push(`${id} ${step}`),
    () => undefined,
  );
});
afterEach(() => void jest.useRealTimers());

const messageOf = (id: string, takenAt = Date.now()) =>
  ({ id, takenAt, plan: 'all', doneSteps: 0, postedSteps: 0 }) as TakenMessage;

it('each status of a message is due a gap after the one before', () => {
  schedule.add(messageOf('a'));
  for (const expected of [['a 0'], ['a 0', 'a 1'], ['a 0', 'a 1', 'a 2']]) {
    const before = due.length;
    jest.advanceTimersByTime(GAP_MS - 1);
    expect(due).toHaveLength(before);
    jest.advanceTimersByTime(1);
    expect(due).toEqual(expected);
  }
});

it('what was due before the start is due at once, and what was not waits', () => {
  schedule.add(messageOf('a', Date.now() - 2 * GAP_MS));
  jest.advanceTimersByTime(100);
  expect(due).toEqual(['a 0', 'a 1']);
});
