import type { Claim, HoldRequest } from './lane-hold.js';
import { LaneClaims } from './lane-claims.js';
import { claimRequest } from '../../../test/support/claim-request.js';

const OUT_OF_TIME = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
const QUICK_MS = 10;
const TIMEOUT_MS = 10_000;

/** Claims whose time passes at once: one with a slow lane takes all the time that it has, and is then canceled. */
function claimsWith(slow: ReadonlySet<string>, { mayHalve = true, lost = new Set<string>() } = {}) {
  let nowMs = 0;
  const made: string[][] = [];
  const claims = new LaneClaims<string>({
    kind: {
      claim: (requests: readonly HoldRequest[], withinMs = TIMEOUT_MS) => {
        made.push(requests.map(({ laneKey }) => laneKey));
        const isSlow = requests.some(({ laneKey }) => slow.has(laneKey));
        nowMs += isSlow ? withinMs : QUICK_MS;
        if (isSlow) return Promise.reject(OUT_OF_TIME);
        if (requests.some(({ laneKey }) => lost.has(laneKey))) return Promise.reject(new Error('the connection broke'));
        return Promise.resolve(requests.map(({ laneKey }): Claim<string> => ({ hold: null, items: [laneKey] })));
      },
    },
    clock: { monotonic: () => nowMs },
    mayHalve: () => mayHalve,
  });
  const claim = async (...laneKeys: string[]) => {
    const answers = new Map<string, string>();
    const asked = laneKeys.map((laneKey) => ({ request: claimRequest(laneKey, 'this', 1) }));
    await claims.claim(asked, ({ request }, answer) => {
      expect(answers.has(request.laneKey)).toBe(false);
      answers.set(request.laneKey, answer instanceof Error ? answer.message : answer.items.join());
    });
    return answers;
  };
  return { claims, claim, made, now: () => nowMs };
}

const LANES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe('a claim of many lanes', () => {
  it('is one statement', async () => {
    const { claim, made } = claimsWith(new Set());
    expect([...(await claim(...LANES)).values()]).toEqual(LANES);
    expect(made).toEqual([LANES]);
  });

  it('that is out of time is made again in halves: one lane is slow, and the others get their rows', async () => {
    const { claims, claim, made } = claimsWith(new Set(['c']));
    const answers = await claim(...LANES);
    for (const lane of LANES) expect(answers.get(lane)).toBe(lane === 'c' ? OUT_OF_TIME.message : lane);
    expect(made).toEqual([LANES, ['a', 'b', 'c', 'd'], ['a', 'b'], ['c', 'd'], ['c'], ['d'], ['e', 'f', 'g', 'h']]);
    expect(LANES.filter((lane) => claims.isSlow(lane))).toEqual(['c']);
  });

  it('ends soon where the database is slow as a whole, and then no lane that was claimed with others is to blame', async () => {
    const all = Array.from({ length: 100 }, (_, n) => `lane ${n}`);
    const { claims, claim, made, now } = claimsWith(new Set(all));
    const answers = await claim(...all);
    expect([...new Set(answers.values())]).toEqual([OUT_OF_TIME.message]);
    expect(answers.size).toBe(all.length);
    // No half is halved after 2.5 s; those that are left by then are tried once.
    expect(now() - TIMEOUT_MS).toBeLessThanOrEqual(2_500 + 9 * 250);
    const alone = made.filter((lanes) => lanes.length === 1).flat();
    expect(all.filter((lane) => claims.isSlow(lane))).toEqual(alone);
  });

  it('that is out of time is not made again while the process stops', async () => {
    const { claims, claim, made } = claimsWith(new Set(['c']), { mayHalve: false });
    expect([...new Set((await claim(...LANES)).values())]).toEqual([OUT_OF_TIME.message]);
    expect(made).toEqual([LANES]);
    expect(claims.isSlow('c')).toBe(false);
  });

  it('that fails otherwise fails for all of them, and is not made again', async () => {
    const { claims, claim, made } = claimsWith(new Set(), { lost: new Set(['c']) });
    expect([...new Set((await claim(...LANES)).values())]).toEqual(['the connection broke']);
    expect(made).toEqual([LANES]);
    expect(LANES.some((lane) => claims.isSlow(lane))).toBe(false);
  });
});

it('a slow lane is one no more after a quick claim', async () => {
  const slow = new Set(['c']);
  const { claims, claim } = claimsWith(slow);
  await claim('c');
  expect(claims.isSlow('c')).toBe(true);
  slow.clear();
  await claim('c');
  expect(claims.isSlow('c')).toBe(false);
});
