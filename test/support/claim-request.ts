import type { ClaimRequest } from '../../src/infrastructure/lanes/lane-handler.js';

/** A claim of a process that has all the pace which it may have in hand. The lane's row must exist. */
export function claimRequest(laneKey: string, owner: string, limit: number): ClaimRequest {
  return { laneKey, owner, limit, pace: { ratePerSecond: 100_000, burstSeconds: 1 }, inHandSeconds: 1 };
}
