import type { HoldRequest } from '../../src/infrastructure/lanes/lane-hold.js';

/** A claim of a process that has all the pace which it may have in hand. The lane's row must exist. */
export function claimRequest(laneKey: string, owner: string, limit: number): HoldRequest {
  return { laneKey, owner, limit, pace: { ratePerSecond: 100_000, burstSeconds: 1 }, inHandSeconds: 1 };
}
