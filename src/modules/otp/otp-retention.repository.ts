import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';

/** Removes what is old, of every project. */
@Injectable()
export class OtpRetentionRepository {
  constructor(private readonly database: Database) {}

  /** Challenges whose ids are below this one; a code lives for ten minutes, so none of them is open. */
  removeChallenges(below: string, limit: number): Promise<number> {
    return this.database.execute(
      `delete from otp_challenge
       where id in (select id from otp_challenge where id < $1 and expires_at < clock_timestamp() order by id limit $2)`,
      [below, limit],
    );
  }

  removeRecipients(before: Date, limit: number): Promise<number> {
    return this.database.execute(
      `delete from otp_recipient r using (
         select project_id, recipient from otp_recipient
         where last_sent_at < $1 and (failures_since is null or failures_since < $1)
         order by last_sent_at limit $2 for update skip locked
       ) as old
       where r.project_id = old.project_id and r.recipient = old.recipient`,
      [before, limit],
    );
  }
}
