import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { isUniqueViolation } from '../../infrastructure/database/database-faults.js';
import { Database } from '../../infrastructure/database/database.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { Audit, type AuditAction } from '../audit/audit.service.js';
import type { JournalPlace } from '../webhook/events/journal.types.js';
import { isAboutNumbers } from '../webhook/webhook.types.js';
import { destinationsErrors } from './destinations.errors.js';
import { DESTINATION_LANE, MAX_DESTINATIONS } from './destinations.types.js';
import { MAX_COUNTED, type Waiting } from './dto/destinations.dto.js';
import { EventDestinationEntity } from './entities/event-destination.entity.js';

/** Limit per workspace and hour, since the audit trail keeps each change for good. */
const CHANGES_AN_HOUR = 60;
const LIMITED: AuditAction[] = ['destination.created', 'destination.changed', 'destination.replayed'];

type New = Pick<
  EventDestinationEntity,
  | 'id'
  | 'organizationId'
  | 'name'
  | 'kind'
  | 'settings'
  | 'secretNames'
  | 'secretsCiphertext'
  | 'events'
  | 'connectionIds'
  | 'active'
>;

/** Destinations as their workspace sees them. */
@Injectable()
export class DestinationsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  /** Oldest first. */
  list(organizationId: string): Promise<EventDestinationEntity[]> {
    return this.rows.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Null where the workspace has no such destination. */
  find(organizationId: string, id: string): Promise<EventDestinationEntity | null> {
    return this.rows.findOne({ where: { organizationId, id } });
  }

  /** The sealed secrets of a destination in base64; null: it has none. */
  async secretsOf(organizationId: string, id: string): Promise<string | null> {
    const found = await this.rows.findOne({
      select: { id: true, secretsCiphertext: true },
      where: { organizationId, id },
    });
    return found?.secretsCiphertext?.toString('base64') ?? null;
  }

  /**
   * Creates a destination, which starts with the events from now on.
   *
   * @param record records that the workspace's events are read.
   * @throws DESTINATION_LIMIT_REACHED (409), DESTINATION_NAME_TAKEN (409), RATE_LIMITED (429).
   */
  create(row: New, record: () => Promise<void>): Promise<void> {
    const { organizationId } = row;
    return this.change(organizationId, async () => {
      const known = await this.rows.countBy({ organizationId });
      if (known >= MAX_DESTINATIONS) throw destinationsErrors.DESTINATION_LIMIT_REACHED({ limit: MAX_DESTINATIONS });
      await record();
      await this.rows.insert(row);
      await this.note('destination.created', row);
    });
  }

  /** @throws DESTINATION_NAME_TAKEN (409), RATE_LIMITED (429). */
  update(row: EventDestinationEntity, changes: Partial<New>, reconnects: boolean): Promise<void> {
    const { organizationId, id } = row;
    return this.change(organizationId, async () => {
      const resumed = changes.active === true || reconnects;
      await this.rows.update(
        { organizationId, id },
        {
          ...changes,
          updatedAt: () => 'clock_timestamp()',
          ...(reconnects && { revision: () => 'revision + 1' }),
          // The change may have repaired the fault, so the next turn is due at once. A running turn keeps its lease.
          ...(resumed && {
            dueAt: () => 'case when attempt_id is null then clock_timestamp() else due_at end',
            tries: 0,
            failingSince: null,
          }),
        },
      );
      await this.note('destination.changed', { ...row, ...changes });
    });
  }

  /** Returns false where there is none. */
  async remove(organizationId: string, id: string): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.lock(organizationId);
      const { affected } = await this.rows.delete({ organizationId, id });
      if (affected === 0) return false;
      await this.database.execute(`delete from lane where key = $1`, [`${DESTINATION_LANE}${id}`]);
      await this.audit.record({ action: 'destination.removed', organizationId, target: id });
      return true;
    });
  }

  /**
   * Moves a destination's cursor back to a place in the log of events, so that the events after the place are written
   * again. The outcome of a running turn then no longer moves the cursor.
   */
  async rewind(row: EventDestinationEntity, place: JournalPlace): Promise<void> {
    const { organizationId, id } = row;
    await this.change(organizationId, async () => {
      await this.database.execute(REWIND, [organizationId, id, place.transaction, place.id]);
      await this.note('destination.replayed', row);
    });
  }

  /** The waiting events of each of the workspace's destinations. */
  async waiting(organizationId: string): Promise<Map<string, Waiting>> {
    const rows = await this.database.byIndex(() =>
      this.database.query<Waiting & { id: string }>(WAITING, [organizationId, MAX_COUNTED + 1]),
    );
    return new Map(rows.map(({ id, events, since }) => [id, { events, since }]));
  }

  /** Runs work in a transaction. No other such transaction changes destinations of the workspace at the same time. */
  private async change(organizationId: string, work: () => Promise<void>): Promise<void> {
    try {
      await this.database.transaction(async () => {
        await this.lock(organizationId);
        const retryAfterSeconds = await this.audit.secondsUntilNext(organizationId, LIMITED, CHANGES_AN_HOUR);
        if (retryAfterSeconds > 0) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds, scope: 'destination_changes' });
        await work();
      });
    } catch (error) {
      if (isUniqueViolation(error)) throw destinationsErrors.DESTINATION_NAME_TAKEN();
      throw error;
    }
  }

  private async lock(organizationId: string): Promise<void> {
    await this.database.query(`select pg_advisory_xact_lock(hashtextextended('destinations ' || $1, 0))`, [
      organizationId,
    ]);
  }

  /** Records a change in the audit trail, without the address, which may contain names of the internal network. */
  private note(
    action: AuditAction,
    { id, organizationId, name, kind, events, active, connectionIds, secretNames }: New,
  ): Promise<void> {
    const details = { name, kind, events, active, secrets: secretNames, connection_ids: connectionIds };
    return this.audit.record({ action, organizationId, target: id, details });
  }

  private get rows(): Repository<EventDestinationEntity> {
    return this.database.repository(EventDestinationEntity);
  }
}

const REWIND = `
update event_destination set (cursor_transaction, cursor_id) = (
    select transaction, id from (values (cursor_transaction, cursor_id), ($3::xid8, $4::uuid)) as place (transaction, id)
    order by transaction, id limit 1),
  written_ahead = '{}', attempt_id = null, tries = 0, due_at = clock_timestamp(), updated_at = clock_timestamp()
where organization_id = $1 and id = $2`;

const WAITING = `
select d.id, found.events, found.since from event_destination d cross join lateral (
  select count(*)::integer as events, min(occurred_at) as since from (
    select v.occurred_at from webhook_event v
    where v.organization_id = d.organization_id and (v.transaction_id, v.id) > (d.cursor_transaction, d.cursor_id)
      and v.type = any(d.events) and ${isAboutNumbers('v', 'd.connection_ids')} and v.id <> all(d.written_ahead)
    order by v.transaction_id, v.id limit $2
  ) v
) found where d.organization_id = $1`;
