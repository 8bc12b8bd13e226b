import type { Hold } from './lane-hold.js';
import { Lane, NOT_BEFORE_A_WAKE } from './lane-state.js';

const NOW = 1_000_000;
const WARM_MS = 3_000;
const PACE = { ratePerSecond: 10, burstSeconds: 1 };

const granted = (change: Partial<Hold> = {}): Hold => ({
  slots: 4,
  paused: false,
  newUnusedRows: 10,
  pausedMs: null,
  ...change,
});

/** A lane that was woken, and whose claim is under way. */
function claiming(wokenAt = NOW): Lane {
  const lane = new Lane(wokenAt);
  lane.wake(wokenAt, WARM_MS);
  lane.setPace(wokenAt, PACE);
  lane.beginClaim();
  return lane;
}

function grant(lane: Lane, rows: number, hold = granted(), now = NOW): boolean {
  return lane.claimGranted(now, { hold, pace: PACE, rows, warmMs: WARM_MS, handOverAt: now + 2_000 });
}

/** One that this process holds. */
function held(wokenAt = NOW): Lane {
  const lane = claiming(wokenAt);
  grant(lane, 1);
  return lane;
}

/** From which on it is not warm. */
const LONG_AGO = NOW - WARM_MS;

describe('a lane', () => {
  it('that is woken is looked at now', () => {
    const lane = new Lane(NOW);
    lane.wake(NOW + 5, WARM_MS);
    expect(lane).toMatchObject({ lookAt: NOW, warmUntil: NOW + 5 + WARM_MS, bucket: null });
  });

  it('that is woken while its claim is under way is looked at after it, whatever the claim finds', () => {
    const lane = claiming();
    expect(lane).toMatchObject({ lookAt: NOT_BEFORE_A_WAKE, claiming: true });
    expect(lane.isHeldHere()).toBe(false);
    lane.wake(NOW + 5, WARM_MS);
    grant(lane, 0, granted(), NOW + 10);
    expect(lane).toMatchObject({ lookAt: NOW + 5, claiming: false });
  });

  it('of which all that was asked for came is looked at now', () => {
    const lane = claiming();
    expect(grant(lane, 4)).toBe(true);
    expect(lane).toMatchObject({ lookAt: NOW, warmUntil: NOW + WARM_MS, handOverAt: NOW + 2_000 });
    expect(lane.isHeldHere()).toBe(true);
    expect(lane.bucket?.level(NOW)).toBe(6);
  });

  it('of which some rows came is looked at in 50 ms', () => {
    const lane = claiming();
    expect(grant(lane, 3)).toBe(false);
    expect(lane).toMatchObject({ lookAt: NOW + 50, releaseWhenIdle: false });
  });

  it('of which none came is looked at after 100, 200 and 250 ms, and after a wake from the beginning', () => {
    const lane = held();
    const delays = [1, 2, 3, 4].map(() => {
      lane.beginClaim();
      grant(lane, 0);
      return lane.lookAt - NOW;
    });
    expect(delays).toEqual([100, 200, 250, 250]);
    lane.wake(NOW, WARM_MS);
    lane.beginClaim();
    grant(lane, 0);
    expect(lane.lookAt).toBe(NOW + 100);
  });

  it('that is held goes on with its own pace, and its time to be handed over', () => {
    const lane = held();
    lane.beginClaim();
    grant(lane, 2, granted({ newUnusedRows: null }), NOW + 100);
    expect(lane.handOverAt).toBe(NOW + 2_000);
    expect(lane.bucket?.level(NOW + 100)).toBe(8);
  });

  it('without a slot is looked at when its pace gives a row, after 25 ms at least', () => {
    const lane = claiming(LONG_AGO);
    expect(grant(lane, 0, granted({ slots: 0, newUnusedRows: 0 }))).toBe(false);
    expect(lane).toMatchObject({ lookAt: NOW, releaseWhenIdle: false });
    lane.rest(NOW, 100);
    expect(lane.lookAt).toBe(NOW + 100);
    lane.rest(NOW, 1);
    expect(lane.lookAt).toBe(NOW + 25);
  });

  it.each([
    ['another process holds it', 250, (lane: Lane) => lane.claimDenied(NOW)],
    ['its claim failed', 1_000, (lane: Lane) => lane.claimFailed(NOW, { mayBeCommitted: true })],
  ])('is asked for again, whatever wakes it, and its pace is not known: %s', (_why, delayMs, ended) => {
    const lane = held();
    lane.beginClaim();
    ended(lane);
    expect(lane).toMatchObject({ lookAt: NOW + delayMs, claiming: false, bucket: null, releaseWhenIdle: false });
    lane.wake(NOW + 5, WARM_MS);
    expect(lane.lookAt).toBe(NOW + delayMs);
  });

  it('whose claim was not committed goes on with its own pace', () => {
    const lane = held();
    lane.beginClaim();
    lane.claimFailed(NOW, { mayBeCommitted: false });
    expect(lane.bucket?.level(NOW)).toBe(9);
  });

  it('that is paused is released now, and woken in 250 ms', () => {
    const lane = held();
    lane.beginClaim();
    lane.claimPaused(NOW);
    expect(lane).toMatchObject({ lookAt: NOW, releaseWhenIdle: true });
    lane.wake(NOW + 5, WARM_MS);
    expect(lane).toMatchObject({ lookAt: NOW + 250, releaseWhenIdle: false });
  });

  it.each([
    ['no row came', (lane: Lane) => grant(lane, 0)],
    ['another process holds it', (lane: Lane) => lane.claimDenied(NOW)],
    ['its claim failed', (lane: Lane) => lane.claimFailed(NOW, { mayBeCommitted: true })],
  ])('that is not warm any more is released: %s', (_why, ended) => {
    const lane = claiming(LONG_AGO);
    ended(lane);
    expect(lane).toMatchObject({ lookAt: NOW, releaseWhenIdle: true });
  });

  it('with rows under way is released when the last one has ended, unless that wakes it', () => {
    const lane = held();
    lane.inFlight = 1;
    lane.planRelease(NOW);
    expect(lane).toMatchObject({ lookAt: NOT_BEFORE_A_WAKE, releaseWhenIdle: true });
    expect(lane.released(NOW)).toBe(false);
    expect(lane).toMatchObject({ lookAt: NOT_BEFORE_A_WAKE, bucket: null });
    lane.wake(NOW, WARM_MS);
    expect(lane).toMatchObject({ lookAt: NOW, releaseWhenIdle: false });
  });

  it('that is released may be forgotten', () => {
    const lane = held();
    expect(lane.released(NOW)).toBe(true);
    expect(lane.bucket).toBeNull();
  });

  it('that is handed over is kept for 100 ms, in which no wake takes it back', () => {
    const lane = held();
    lane.handOver(NOW);
    expect(lane.released(NOW)).toBe(false);
    lane.wake(NOW + 5, WARM_MS);
    expect(lane).toMatchObject({ lookAt: NOW + 100, bucket: null });
    expect(lane.released(NOW + 100)).toBe(true);
  });
});
