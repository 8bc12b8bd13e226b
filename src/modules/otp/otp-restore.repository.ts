import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';

const DOUBTFUL = `status in ('queued', 'sending') and created_at < $1`;

/** Codes of a restored backup that may have been sent in the time which it does not know of. */
@Injectable()
export class OtpRestoreRepository {
  constructor(private readonly database: Database) {}

  /** Codes wait for half a minute at the most, so there are few. */
  async count(before: Date): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from otp_challenge where ${DOUBTFUL}`,
      [before],
    );
    return rows[0]?.count ?? 0;
  }

  /** They stay reserved and are never sent again; a code that did arrive can still be verified. Returns how many. */
  mark(before: Date): Promise<number> {
    return this.database.execute(
      `update otp_challenge set status = 'outcome_unknown', code_ciphertext = null, lease_until = null where ${DOUBTFUL}`,
      [before],
    );
  }
}
