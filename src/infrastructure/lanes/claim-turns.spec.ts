import { jest } from '@jest/globals';
import { ClaimTurns } from './lane-runner.js';

let turns: ClaimTurns;
let begun: string[];

beforeEach(() => {
  jest.useFakeTimers();
  turns = new ClaimTurns({ monotonic: () => performance.now() });
  begun = [];
});

afterEach(() => jest.useRealTimers());

const ask = (name: string, everyMs = 30) => void turns.next(everyMs).then(() => begun.push(name));
const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

it('a claim after a silence runs at once, and all claims within a turn run together at its end', async () => {
  ask('first');
  await advance(0);
  expect(begun).toEqual(['first']);
  await advance(10);
  ask('second');
  await advance(10);
  ask('third');
  await advance(9);
  expect(begun).toEqual(['first']);
  await advance(1);
  expect(begun).toEqual(['first', 'second', 'third']);
  await advance(30);
  ask('late');
  await advance(0);
  expect(begun).toEqual(['first', 'second', 'third', 'late']);
});

it('who wants a turn sooner takes all others along', async () => {
  ask('first');
  ask('second');
  ask('soon', 8);
  await advance(8);
  expect(begun).toEqual(['first', 'second', 'soon']);
});

it('a turn that begins before its time, as at a stop, leaves none waiting', async () => {
  ask('first');
  ask('second');
  turns.begin();
  await advance(0);
  expect(begun).toEqual(['first', 'second']);
});
