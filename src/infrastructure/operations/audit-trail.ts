/**
 * Records what an operator did, in the transaction of the change itself. `modules/audit` implements it; a process
 * without it does not start.
 */
export abstract class AuditTrail {
  abstract record(entry: {
    action: 'database.restored' | 'database.confirmed' | 'database.continued' | 'secrets.rotation_started';
    /** Null: the action concerns the whole service. */
    organizationId: null;
    details?: Record<string, unknown>;
  }): Promise<void>;
}
