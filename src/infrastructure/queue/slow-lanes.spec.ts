import { gate } from '../../../test/support/gate.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { BusyLane } from './busy-lane.js';
import { LaneClaims } from './lane-claims.js';
import type { ClaimRequest } from './lane-grant.js';
import { SlowLanes } from './slow-lanes.js';

const OUT_OF_TIME = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
const AWAY = new Error('the database is away');
const QUICK_MS = 249;
const LONG_MS = 1_000;
const ROWS = { items: [] };

/** The first lane is the one in question. */
const waitingOf = (count: number) => Array.from({ length: count }, (_, n) => ({ lane: { key: `lane-${n}` } }));

/** How it is claimed next. */
function stateOf(lanes: SlowLanes<{ lane: { key: string } }>): string {
  const [first = { lane: { key: '' } }] = waitingOf(1);
  if (!lanes.add(first)) return 'shared';
  const alone = lanes.next();
  alone?.ended();
  return alone?.withinMs === undefined ? 'slow' : 'suspect';
}

describe('a lane', () => {
  const suspect = (lanes: SlowLanes<{ lane: { key: string } }>): void => {
    lanes.suspect(waitingOf(1));
    lanes.next()?.ended();
  };
  const slow = (lanes: SlowLanes<{ lane: { key: string } }>): void => {
    suspect(lanes);
    lanes.note(waitingOf(1), [OUT_OF_TIME], 250, 0);
  };
  const shared = (): void => undefined;

  it.each([
    ['shared', shared, 3, [ROWS, ROWS, ROWS], LONG_MS - 1, 'shared'],
    ['shared', shared, 3, [ROWS, ROWS, ROWS], LONG_MS, 'suspect'],
    ['shared', shared, 1, [ROWS], LONG_MS - 1, 'shared'],
    ['shared', shared, 1, [ROWS], LONG_MS, 'slow'],
    ['shared', shared, 1, [OUT_OF_TIME], LONG_MS, 'slow'],
    ['shared, the one to blame of several', shared, 3, [OUT_OF_TIME, ROWS, ROWS], LONG_MS, 'slow'],
    ['shared, another one is to blame', shared, 3, [ROWS, OUT_OF_TIME, ROWS], LONG_MS, 'shared'],
    ['shared', shared, 3, [AWAY, AWAY, AWAY], LONG_MS, 'shared'],
    ['suspect', suspect, 1, [ROWS], QUICK_MS, 'shared'],
    ['suspect', suspect, 1, [ROWS], QUICK_MS + 1, 'slow'],
    ['suspect', suspect, 1, [OUT_OF_TIME], QUICK_MS + 1, 'slow'],
    ['suspect', suspect, 1, [AWAY], QUICK_MS, 'suspect'],
    ['slow', slow, 1, [ROWS], QUICK_MS, 'shared'],
    ['slow', slow, 1, [ROWS], QUICK_MS + 1, 'slow'],
    ['slow', slow, 1, [OUT_OF_TIME], LONG_MS, 'slow'],
  ] as const)('that is %s', (_name, before, count, answers, tookMs, then) => {
    const lanes = new SlowLanes<{ lane: { key: string } }>();
    before(lanes);
    lanes.note(waitingOf(count), answers, tookMs, 0);
    expect(stateOf(lanes)).toBe(then);
  });
});

it('the lanes of claims that take long are suspects once in ten seconds: the database may be slow', () => {
  const lanes = new SlowLanes<{ lane: { key: string } }>();
  const states = [0, 9_999, 10_000].map((now) => {
    lanes.note(waitingOf(2), [ROWS, ROWS], LONG_MS, now);
    const state = stateOf(lanes);
    lanes.note(waitingOf(1), [ROWS], QUICK_MS, now);
    return state;
  });
  expect(states).toEqual(['suspect', 'shared', 'suspect']);
});

it('all are shared again after eight claims out of time', () => {
  const lanes = new SlowLanes<{ lane: { key: string } }>();
  const all = waitingOf(20);
  lanes.suspect(all);
  const freed = Array.from({ length: 8 }, () => {
    const alone = lanes.next();
    alone?.ended();
    return lanes.note(alone === undefined ? [] : [alone.waiting], [OUT_OF_TIME], 250, 0).length;
  });
  expect(freed).toEqual([0, 0, 0, 0, 0, 0, 0, 12]);
  expect(stateOf(lanes)).toBe('shared');
});

describe('the claims of a process', () => {
  const PACE = { ratePerSecond: 1_000, burstSeconds: 1 };
  const grant = { slots: 0, paused: false, pausedMs: null, unusedRows: null };

  function claimsOf(claim: (requests: readonly ClaimRequest[]) => Promise<void>, maxInFlight = 256) {
    let now = 0;
    const asked: string[][] = [];
    const claims = new LaneClaims<null>({
      kind: {
        name: 'test',
        maxPerLane: 1_000,
        pace: () => Promise.resolve(PACE),
        claim: async (requests) => {
          asked.push(requests.map(({ laneKey }) => laneKey));
          await claim(requests);
          return requests.map(() => ({ grant, items: [] }));
        },
        work: () => Promise.resolve(null),
        stop: () => undefined,
      },
      owner: 'owner',
      hasOthers: () => false,
      maxInFlight,
      claimEveryMs: 1,
      fullEveryMs: 1,
      giveBackAfterMs: () => 2_000,
      clock: { monotonic: () => now },
      onReleased: () => undefined,
      onError: () => undefined,
    });
    const next = (...keys: string[]) => Promise.all(keys.map((key) => claims.next(new BusyLane(key), PACE)));
    return { claims, asked, next, pass: (ms: number) => (now += ms) };
  }

  it('of a lane that takes long, and brings its rows, are waited for by no other lane', async () => {
    const held = gate();
    let isHeld = false;
    const { claims, asked, next, pass } = claimsOf(async (requests) => {
      if (!requests.some(({ laneKey }) => laneKey === 'long')) return;
      pass(8_000);
      if (isHeld) await held.opened;
    });
    await next('long', 'other');
    await next('long', 'other');
    isHeld = true;
    const long = next('long');
    await next('other');
    await next('other');
    held.open();
    await long;
    expect(asked).toEqual([['long', 'other'], ['long'], ['other'], ['long'], ['other'], ['other']]);
    claims.stop();
  });

  it('of a lane alone leave slots to the others, however few there are', async () => {
    const held = gate();
    const limits: number[] = [];
    let isHeld = false;
    const { claims, next, pass } = claimsOf(async ([request]) => {
      if (request?.laneKey !== 'long') return;
      pass(2_000);
      limits.push(request.limit);
      if (isHeld) await held.opened;
    }, 32);
    await next('long');
    isHeld = true;
    const long = next('long');
    await waitFor(() => limits.length === 2);
    await next('other');
    expect([limits, claims.isFull]).toEqual([[32, 8], false]);
    held.open();
    await long;
    claims.stop();
  });
});
