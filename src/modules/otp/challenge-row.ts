import type { OtpChallenge, OtpStatus } from './otp.types.js';
import { MAX_ATTEMPTS } from './otp.types.js';

/** States in which a challenge can still be verified, as SQL. */
export const OPEN_SQL = `('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read')`;

/** A code that waited this long is given up: its user has asked for another one, or left. */
export const QUEUE_SECONDS = 30;

/** SQL: some code is overdue. */
export const HAS_OVERDUE = `exists (select 1 from otp_challenge where status in ${OPEN_SQL} and expires_at <= now())
  or exists (select 1 from otp_challenge
    where status = 'queued' and created_at <= now() - interval '${QUEUE_SECONDS} seconds')`;

/** Columns of a challenge as its project may see it; `c` names the row. */
export const CHALLENGE_COLUMNS = `c.id, c.organization_id, c.project_id, c.mode, coalesce(c.number, c.recipient) as recipient,
  case when c.status in ${OPEN_SQL} and c.expires_at <= clock_timestamp() then 'expired' else c.status end as status,
  c.attempts, c.error, c.created_at, c.expires_at, c.sent_at, c.delivered_at, c.read_at, c.verified_at`;

export interface ChallengeRow {
  id: string;
  organization_id: string;
  project_id: string;
  mode: OtpChallenge['mode'];
  recipient: string;
  status: OtpStatus;
  attempts: number;
  error: string | null;
  created_at: Date;
  expires_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  verified_at: Date | null;
}

export function challengeOf(row: ChallengeRow): OtpChallenge {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    mode: row.mode,
    recipient: row.recipient,
    status: row.status,
    attemptsRemaining: MAX_ATTEMPTS - row.attempts,
    error: row.error,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    readAt: row.read_at,
    verifiedAt: row.verified_at,
  };
}
