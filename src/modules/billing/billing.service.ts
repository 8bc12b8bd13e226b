import { Injectable } from '@nestjs/common';
import { BillingRepository } from './billing.repository.js';

/** Says what a workspace may do for its money. */
@Injectable()
export class BillingService {
  constructor(private readonly billing: BillingRepository) {}

  /**
   * Whether the workspace has paid for the API now.
   *
   * @param knownUntil what the caller's key said at most two seconds ago; a refusal is confirmed in the database.
   */
  async hasApiTime(organizationId: string, knownUntil: Date | null): Promise<boolean> {
    if (knownUntil !== null && knownUntil.getTime() > Date.now()) return true;
    return this.billing.hasApiTime(organizationId);
  }
}
