import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { Config } from '../../infrastructure/config/config.js';
import { billingErrors } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';

/** Checks what a workspace has paid for. */
@Injectable()
export class BillingService {
  /** `BILLING=off`: everything is granted. */
  private readonly isOff: boolean;

  constructor(
    private readonly billing: BillingRepository,
    config: Config,
  ) {
    this.isOff = config.limits.billing === 'off';
  }

  /**
   * Passes if the workspace has paid access now.
   *
   * @param knownUntil the time cached with the caller's key, at most two seconds old; a refusal is confirmed in the
   * database.
   * @throws SUBSCRIPTION_REQUIRED (402).
   */
  async requireApiTime(organizationId: string, knownUntil: Date | null): Promise<void> {
    if (this.isOff || (knownUntil !== null && knownUntil.getTime() > databaseClock.now())) return;
    if (!(await this.billing.hasApiTime(organizationId))) throw billingErrors.SUBSCRIPTION_REQUIRED();
  }
}
