import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { isLocked } from '../../infrastructure/database/database-faults.js';
import { Database, hasRow } from '../../infrastructure/database/database.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { spellingsOf } from '../../infrastructure/whatsapp/account-number.js';
import { Erasure, type Subject } from '../workspaces/erasure/erasure.service.js';
import { LimitBook, SETTLED_AT_ONCE } from './limits.service.js';

/** Longer than a month, in every time zone. */
const KEPT_DAYS = 40;
const SETTLE_EVERY_MS = 5_000;
/** No workspace delays the others for longer. */
const BRIEFLY = `set local lock_timeout = '200ms'`;

/** Removes counts after their period, and those of an erased contact. */
@Injectable()
export class LimitsMaintenance implements OnModuleInit {
  /** The last settled workspace. */
  private after = FIRST_ID;

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
      // A reservation has only the message's id.
      ofMessages: async (_organizationId, { messageIds }, erase) => {
        if (erase) await this.database.execute(FORGET_RECIPIENT, [messageIds]);
        return {};
      },
    });
    this.sweeps.add({
      name: 'limits',
      everyMs: SETTLE_EVERY_MS,
      hasWork: hasRow('from limit_correction', 'organization_id, kind, recipient, period'),
      run: (signal) => this.settle(signal),
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

  /** Settles each workspace in turn; a locked one has its next turn in the next round. */
  private async settle(signal: AbortSignal): Promise<number> {
    let total = 0;
    for (let hasMore = false; !signal.aborted;) {
      const next = await this.database.find<{ id: string }>(NEXT, [this.after]);
      this.after = next?.id ?? FIRST_ID;
      if (next !== null) {
        const settled = await this.settleOne(next.id);
        total += settled;
        hasMore ||= settled === SETTLED_AT_ONCE;
      } else if (hasMore) hasMore = false;
      else break;
    }
    return total;
  }

  private async settleOne(organizationId: string): Promise<number> {
    try {
      return await this.database.transaction(() => LimitBook.settle(organizationId, this.database), BRIEFLY);
    } catch (error) {
      if (isLocked(error)) return 0;
      throw error;
    }
  }

  private async erase({ organizationId, numbers, userIds }: Subject, erase: boolean): Promise<number> {
    const values = [organizationId, [...numbers.flatMap(spellingsOf), ...userIds]];
    const ofPerson = `limit_use where organization_id = $1 and kind = 'marketing_per_recipient_per_week' and recipient = any($2)`;
    if (!erase) return (await this.database.query(`select from ${ofPerson}`, values)).length;
    await this.database.execute(FORGET_CORRECTIONS, values);
    return this.database.execute(`delete from ${ofPerson}`, values);
  }
}

const REMOVE_USE = `
delete from limit_use where ctid = any(array(select ctid from limit_use where period < $1::date order by period limit $2))`;

const REMOVE_RESERVATIONS = `
delete from limit_reservation where ctid = any(array(
  select ctid from limit_reservation where coalesce(day, week, month) < $1::date order by coalesce(day, week, month) limit $2))`;

const NEXT = `
select organization_id as id from limit_correction where organization_id > $1 order by organization_id limit 1`;

const FORGET_CORRECTIONS = `
delete from limit_correction where organization_id = $1 and kind = 'marketing_per_recipient_per_week' and recipient = any($2)`;

const FORGET_RECIPIENT = `
update limit_reservation set recipient = null where message_id = any($1::uuid[]) and recipient is not null`;
