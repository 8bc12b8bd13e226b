/**
 * Where infrastructure writes down what an operator did, in the transaction of the change itself. `modules/audit` keeps
 * the trail; a process without it does not start.
 */
export abstract class AuditTrail {
  abstract record(entry: {
    action: 'database.restored' | 'database.confirmed' | 'database.continued' | 'secrets.rotation_started';
    /** None: it concerns the whole service. */
    organizationId: null;
    details?: Record<string, unknown>;
  }): Promise<void>;
}
