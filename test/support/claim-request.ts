import type { Claim, ClaimRequest } from '../../src/infrastructure/queue/lane-grant.js';
import type { ClaimedMessage, ClaimLimits, ClaimRepository } from '../../src/modules/sending/claim/claim.repository.js';

/** A claim of a process that has all the pace which it may have in hand. The lane's row must exist. */
export function claimRequest(laneKey: string, owner: string, limit: number): ClaimRequest {
  return { laneKey, owner, limit, pace: { ratePerSecond: 100_000, burstSeconds: 1 }, knowsPace: true };
}

/** The claim of one lane alone. */
export async function claimLane(
  sends: ClaimRepository,
  request: ClaimRequest,
  limits: ClaimLimits,
): Promise<Claim<ClaimedMessage>> {
  const [claim] = await sends.claim([request], limits);
  if (claim === undefined) throw new Error('a request without an answer');
  return claim;
}
