import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { ErasureBatch, Subject } from '../../infrastructure/erasure/erasure.js';

const PAGE = 2_000;

/** Codes that were sent to one number, and what is noted of the number. */
@Injectable()
export class OtpErasureRepository {
  constructor(private readonly database: Database) {}

  /** One page of all codes, oldest first; the first one counts what is noted of the number as well. */
  async batch(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const { organizationId, numbers } = subject;
    const rows = await this.database.query<{ ids: string[] | null; passed: number; last: string | null }>(FIND, [
      organizationId,
      cursor ?? '00000000-0000-0000-0000-000000000000',
      PAGE,
      numbers,
    ]);
    const { ids = null, passed = 0, last = null } = rows[0] ?? {};
    if (erase && ids !== null) {
      await this.database.execute(
        `delete from otp_challenge
         where organization_id = $1 and id = any($2::uuid[]) and status not in ('queued', 'sending')`,
        [organizationId, ids],
      );
    }
    const limits = cursor === null ? await this.limits(subject, erase) : 0;
    return {
      found: { one_time_codes: ids?.length ?? 0, one_time_code_limits: limits },
      cursor: passed < PAGE ? null : last,
    };
  }

  /** Codes on their way to the number; each is sent or has failed within half a minute. */
  async countUnderWay({ organizationId, numbers }: Subject): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from otp_project p join otp_challenge c on c.project_id = p.id
       where p.organization_id = $1 and c.organization_id = $1 and c.recipient = any($2)
         and c.status in ('queued', 'sending')`,
      [organizationId, numbers],
    );
    return rows[0]?.count ?? 0;
  }

  /** Ends codes of the workspace that wait to be sent. */
  async withdraw(organizationId: string): Promise<void> {
    await this.database.execute(
      `update otp_challenge c set status = 'expired', code_ciphertext = null, lease_until = null,
         released_at = clock_timestamp()
       from otp_project p where p.organization_id = $1 and c.organization_id = $1 and c.project_id = p.id
         and c.status = 'queued'`,
      [organizationId],
    );
  }

  /** Codes of the workspace that are on the wire, or were put back from it. */
  async countSending(organizationId: string): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from otp_project p join otp_challenge c on c.project_id = p.id
       where p.organization_id = $1 and c.organization_id = $1 and c.status in ('queued', 'sending')`,
      [organizationId],
    );
    return rows[0]?.count ?? 0;
  }

  private async limits({ organizationId, numbers }: Subject, erase: boolean): Promise<number> {
    const ofProjects = `project_id in (select id from otp_project where organization_id = $1)
      and organization_id = $1 and recipient = any($2)`;
    if (erase) {
      return this.database.execute(`delete from otp_recipient where ${ofProjects}`, [organizationId, numbers]);
    }
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from otp_recipient where ${ofProjects}`,
      [organizationId, numbers],
    );
    return rows[0]?.count ?? 0;
  }
}

const FIND = `
with page as materialized (
  select id, organization_id, recipient, status from otp_challenge where id > $2 order by id limit $3
), hit as (
  select id from page
  where organization_id = $1 and recipient = any($4) and status not in ('queued', 'sending')
)
select (select array_agg(id) from hit) as ids, (select count(*)::integer from page) as passed,
  (select id from page order by id desc limit 1) as last`;
