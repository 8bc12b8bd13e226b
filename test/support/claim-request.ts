import type { HoldRequest, Claim } from '../../src/infrastructure/queue/lane-hold.js';
import type { ClaimedMessage, ClaimLimits, ClaimRepository } from '../../src/modules/sending/claim/claim.repository.js';

/** A claim of a process that has all the pace which it may have in hand. The lane's row must exist. */
export function claimRequest(laneKey: string, owner: string, limit: number): HoldRequest {
  return { laneKey, owner, limit, pace: { ratePerSecond: 100_000, burstSeconds: 1 }, unusedRows: 100_000 };
}

/** The claim of one lane alone. */
export async function claimLane(
  sends: ClaimRepository,
  request: HoldRequest,
  limits: ClaimLimits,
): Promise<Claim<ClaimedMessage>> {
  const [claim] = await sends.claim([request], limits);
  if (claim === undefined) throw new Error('a request without an answer');
  return claim;
}
