import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Erasure, type Subject } from '../workspaces/erasure/erasure.service.js';
import { ARE_MARKED, LimitBook } from './limits.service.js';

/** Longer than a month, in every time zone. */
const KEPT_DAYS = 40;
const SETTLE_EVERY_MS = 5_000;

/** The end of what counted against limits: after its period, and for an erased contact. */
@Injectable()
export class LimitsMaintenance implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly retention: Retention,
    private readonly erasure: Erasure,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'limits',
      batch: async (subject, _cursor, erase) => ({ found: { limits: await this.erase(subject, erase) }, cursor: null }),
    });
    this.sweeps.add({
      name: 'limits',
      everyMs: SETTLE_EVERY_MS,
      hasWork: ARE_MARKED,
      run: (signal) => inBatches(signal, 1, () => this.database.transaction(() => LimitBook.settleSome(this.database))),
    });
    this.retention.add({
      name: 'limits',
      days: KEPT_DAYS,
      clear: async (before, limit) => {
        const used = await this.database.execute(REMOVE_USE, [before, limit]);
        return used + (await this.database.execute(REMOVE_RESERVATIONS, [before, limit]));
      },
    });
  }

  private async erase({ organizationId, numbers, userIds }: Subject, erase: boolean): Promise<number> {
    const values = [organizationId, [...numbers, ...userIds]];
    if (erase) await this.database.execute(FORGET_RECIPIENT, values);
    const ofPerson = 'limit_use where organization_id = $1 and recipient = any($2)';
    return erase
      ? this.database.execute(`delete from ${ofPerson}`, values)
      : (await this.database.query(`select from ${ofPerson}`, values)).length;
  }
}

const REMOVE_USE = `
delete from limit_use where ctid = any(array(select ctid from limit_use where period < $1::date order by period limit $2))`;

const REMOVE_RESERVATIONS = `
delete from limit_reservation where ctid = any(array(
  select ctid from limit_reservation where coalesce(day, week, month) < $1::date order by coalesce(day, week, month) limit $2))`;

const FORGET_RECIPIENT = `
update limit_reservation set recipient = null where organization_id = $1 and recipient = any($2)`;
