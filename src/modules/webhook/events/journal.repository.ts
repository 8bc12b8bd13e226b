import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { eventConversation, isAboutNumbers, type EventType } from '../webhook.types.js';
import type { JournalPlace, JournalReader } from './journal.types.js';

export interface JournalRow {
  id: string;
  type: EventType;
  /** The JSON text as the database wrote it. */
  data: string;
  occurredAt: Date;
  conversationId: string | null;
  transaction: string;
  identity: string;
}

/** A row of a page: an event and the end of the page. The only row of an empty page has no event. */
type PageRow = { endTransaction: string | null; endId: string | null } & (JournalRow | { id: null });

/** Limit of events that one page reads, selected by the reader or not. */
const MAX_SCANNED = 1_000;

/** Queries of journal readers on the log of events. */
@Injectable()
export class JournalRepository {
  constructor(private readonly database: Database) {}

  async page(reader: JournalReader, limit: number, maxBytes: number) {
    const { organizationId, after, events, connectionIds } = reader;
    const params = [organizationId, after.transaction, after.id, events, connectionIds, limit, maxBytes];
    const found = await this.database.byIndex(() => this.database.query<PageRow>(PAGE, params));
    const [first] = found;
    const rows = found.flatMap((row) => (row.id === null ? [] : [row]));
    const { endTransaction: transaction = null, endId: id = null } = first ?? {};
    const end: JournalPlace | null = transaction === null || id === null ? null : { transaction, id };
    return { rows, end };
  }

  placeBefore(organizationId: string, lowestId: string): Promise<JournalPlace | null> {
    return this.database.byIndex(() => this.database.find<JournalPlace>(PLACE_BEFORE, [organizationId, lowestId]));
  }
}

// Each event is found after the previous one: see events.repository.ts. A full page ends after its last event, any
// other after the last event that was read.
const PAGE = `
with recursive ended as materialized (
  select pg_snapshot_xmin(pg_current_snapshot()) as xmin
), scanned as (
  (${behind('$2::xid8, $3::uuid', '1')})
  union all
  select next.* from scanned previous cross join lateral (
    ${behind('previous.transaction_id, previous.id', 'previous.nth + 1')}
  ) next where previous.nth < ${MAX_SCANNED} and previous.taken < $6 and previous.bytes < $7
), last as (
  select transaction_id, id from scanned order by nth desc limit 1
)
select last.transaction_id::text as "endTransaction", last.id as "endId", s.id, s.type, s.data::text as data,
  s.occurred_at as "occurredAt", s.transaction_id::text as transaction, ${eventConversation('s')} as "conversationId",
  (select identity_of_database()) as identity
from last left join scanned s on s.takes order by s.nth`;

function behind(place: string, nth: string): string {
  const before = (column: string): string => (nth === '1' ? '0' : `previous.${column}`);
  return `select v.*, ${before('taken')} + v.takes::integer as taken,
    ${before('bytes')} + case when v.takes then octet_length(v.data::text) else 0 end as bytes, ${nth} as nth
  from (
    select e.transaction_id, e.id, e.type, e.data, e.occurred_at,
      e.type = any($4::text[]) and ${isAboutNumbers('e', '$5::uuid[]')} as takes
    from webhook_event e
    where e.organization_id = $1 and (e.transaction_id, e.id) > (${place}) and e.transaction_id < (select xmin from ended)
    order by e.transaction_id, e.id limit 1
  ) v`;
}

const PLACE_BEFORE = `
select (transaction_id::text::numeric - 1)::text as transaction, $2::uuid as id
from webhook_event where organization_id = $1 and id >= $2::uuid
order by transaction_id limit 1`;
