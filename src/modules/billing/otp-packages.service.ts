import { Injectable } from '@nestjs/common';
import { Audit } from '../audit/audit.service.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { billingErrors } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { OtpAllowance, OtpPackage, OtpPackageMove } from './otp-packages.types.js';

/** Monthly packages of one-time codes, by project and country. Every count is one guarded statement. */
@Injectable()
export class OtpPackagesService {
  constructor(
    private readonly packages: BillingRepository,
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly config: Config,
  ) {}

  /** Sets how many codes a project may send to a country in each calendar month (UTC); 0 ends it. */
  grant(organizationId: string, projectId: string, country: string, monthlyLimit: number): Promise<void> {
    return this.database.transaction(async () => {
      await this.packages.grant(organizationId, projectId, country, monthlyLimit);
      const details = { country, monthly_limit: monthlyLimit };
      await this.audit.record({ action: 'otp_package.set', organizationId, target: projectId, details });
    });
  }

  allowances(organizationId: string, projectId: string): Promise<OtpAllowance[]> {
    return this.packages.allowances(organizationId, projectId);
  }

  /** The sent codes, newest month first. */
  list(organizationId: string, projectId: string): Promise<OtpPackage[]> {
    return this.packages.packages(organizationId, projectId);
  }

  /**
   * Reserves one send, in the ambient transaction; returns the package to which it can be given back, in any month.
   * Null with `BILLING=off`, which needs none.
   *
   * @throws OTP_PACKAGE_REQUIRED, OTP_PACKAGE_EXHAUSTED (402).
   */
  async reserve(organizationId: string, projectId: string, country: string): Promise<string | null> {
    if (this.config.limits.billing === 'off') return null;
    const reserved = await this.packages.reserve(organizationId, projectId, country);
    if (reserved !== null) return reserved;
    await this.packages.open(organizationId, projectId, country);
    // Also if another transaction created it, because the first attempt did not see that row.
    const again = await this.packages.reserve(organizationId, projectId, country);
    if (again !== null) return again;
    const allowances = await this.packages.allowances(organizationId, projectId);
    if (allowances.some((allowance) => allowance.country === country))
      throw billingErrors.OTP_PACKAGE_EXHAUSTED({ country });
    throw billingErrors.OTP_PACKAGE_REQUIRED({ country });
  }

  /** Counts the outcomes of reserved sends, in the ambient transaction. */
  async apply(moves: readonly OtpPackageMove[]): Promise<void> {
    // In the order of the rows, so that two transactions never deadlock. A send that is given back may have been used
    // by an earlier move.
    const keyed = moves.map((each) => ({
      ...each,
      key: `${each.packageId} ${each.move === 'use' ? 0 : 1} ${each.wasUsed}`,
    }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (let at = 0, count = 1; at < keyed.length; at += count, count = 1) {
      const { key, packageId, move, wasUsed } = keyed[at] as (typeof keyed)[number];
      while (keyed[at + count]?.key === key) count++;
      if (move === 'use') await this.packages.use(packageId, count);
      else await this.packages.giveBack(packageId, wasUsed, count);
    }
  }
}
