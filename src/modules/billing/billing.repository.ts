import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import type { OtpAllowance, OtpPackage } from './otp-packages.types.js';

// Calendar months in UTC, by the database's clock.
const MONTH = `date_trunc('month', clock_timestamp() at time zone 'UTC')::date`;

/** Paid access and packages of a workspace. The only place with SQL on the tables `otp_allowance` and `otp_package`. */
@Injectable()
export class BillingRepository {
  constructor(private readonly database: Database) {}

  /** Whether the workspace's paid API time includes this moment, by the database's clock. */
  async hasApiTime(organizationId: string): Promise<boolean> {
    const sql = 'select 1 from organization where id = $1 and api_paid_until > clock_timestamp()';
    return (await this.database.query(sql, [organizationId])).length > 0;
  }

  /** Sets the monthly limit of sends. It holds for the current month too. Call this in a transaction. */
  async grant(organizationId: string, projectId: string, country: string, monthlyLimit: number): Promise<void> {
    const values = [projectId, organizationId, country, monthlyLimit];
    await this.database.execute(
      `insert into otp_allowance (project_id, organization_id, country, monthly_limit) values ($1, $2, $3, $4)
       on conflict (project_id, country)
       do update set monthly_limit = excluded.monthly_limit, updated_at = clock_timestamp()`,
      values,
    );
    await this.database.execute(
      `update otp_package set monthly_limit = $4
       where organization_id = $2 and project_id = $1 and country = $3 and month = ${MONTH}`,
      values,
    );
  }

  /** Reserves one of the sends that are left in this month. Returns the package's id; null where none is left. */
  async reserve(organizationId: string, projectId: string, country: string): Promise<string | null> {
    const rows = await this.database.query<{ id: string }>(
      `update otp_package set reserved = reserved + 1
       where organization_id = $1 and project_id = $2 and country = $3 and month = ${MONTH}
         and reserved + used < monthly_limit
       returning id`,
      [organizationId, projectId, country],
    );
    return rows[0]?.id ?? null;
  }

  /**
   * Creates this month's package from the allowance, unless it exists or nothing was granted. Locks the allowance, so a
   * concurrent `grant` either has ended before, or waits and then changes the new package.
   */
  async open(organizationId: string, projectId: string, country: string): Promise<void> {
    await this.database.execute(
      `insert into otp_package (id, project_id, organization_id, country, month, monthly_limit)
       select $4, project_id, organization_id, country, ${MONTH}, monthly_limit from otp_allowance
       where organization_id = $1 and project_id = $2 and country = $3
       for share
       on conflict (project_id, country, month) do nothing`,
      [organizationId, projectId, country, newId()],
    );
  }

  /** Counts reserved sends that were sent. */
  async use(packageId: string, count: number): Promise<void> {
    await this.database.execute(
      `update otp_package set reserved = reserved - least($2, reserved), used = used + least($2, reserved)
       where id = $1 and reserved > 0`,
      [packageId, count],
    );
  }

  /**
   * Gives failed sends back to the package. `wasUsed`: they were counted as used; otherwise they were still reserved.
   */
  async giveBack(packageId: string, wasUsed: boolean, count: number): Promise<void> {
    const column = wasUsed ? 'used' : 'reserved';
    await this.database.execute(
      `update otp_package set ${column} = greatest(${column} - $2, 0) where id = $1 and ${column} > 0`,
      [packageId, count],
    );
  }

  allowances(organizationId: string, projectId: string): Promise<OtpAllowance[]> {
    return this.database.query<OtpAllowance>(
      `select country, monthly_limit as "monthlyLimit" from otp_allowance
       where organization_id = $1 and project_id = $2 order by country`,
      [organizationId, projectId],
    );
  }

  /** The months in which the project sent, newest first; one row per country. */
  packages(organizationId: string, projectId: string): Promise<OtpPackage[]> {
    return this.database.query<OtpPackage>(
      `select id, country, to_char(month, 'YYYY-MM') as month, monthly_limit as "monthlyLimit", reserved, used
       from otp_package where organization_id = $1 and project_id = $2
       order by otp_package.month desc, country`,
      [organizationId, projectId],
    );
  }
}
