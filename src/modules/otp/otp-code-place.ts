import type { SecretPlace } from '../../infrastructure/secrets/secret-box.js';

/** Where a plain code lies encrypted until it is sent. */
export function codePlace(organizationId: string, challengeId: string): SecretPlace {
  return { table: 'otp_challenge', column: 'code', organizationId, rowId: challengeId };
}
