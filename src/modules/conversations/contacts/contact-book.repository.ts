import { Injectable } from '@nestjs/common';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import { Database } from '../../../infrastructure/database/database.js';

/** A person who was erased here, and is still in WhatsApp's contact book. */
export interface ContactBookEntry {
  connectionId: string;
  userId: string;
  /** How often removal was requested, including this time. */
  tries: number;
}

/** Seconds until the second try. Later waits grow: 80 s, 5 min and so on, up to an hour. */
const FIRST_GAP_SECONDS = 20;
export const MAX_GAP_SECONDS = 3_600;

/** People to remove from WhatsApp's contact book; the erasure of a person writes the rows. */
@Injectable()
export class ContactBookRepository {
  constructor(private readonly database: Database) {}

  /** Takes a workspace's due entries. Each is due again later, so that an entry is retried if the process dies. */
  takeDue(organizationId: string, limit: number): Promise<ContactBookEntry[]> {
    const params = [organizationId, limit, FIRST_GAP_SECONDS, MAX_GAP_SECONDS];
    return this.database.byIndex(() => this.database.query<ContactBookEntry>(TAKE, params));
  }

  async remove({ connectionId, userId }: ContactBookEntry): Promise<void> {
    await this.database.execute('delete from contact_book_removal where connection_id = $1 and user_id = $2', [
      connectionId,
      userId,
    ]);
  }

  waiting(): Promise<number> {
    return this.database.count('select count(*)::integer as count from contact_book_removal');
  }
}

export const IS_DUE = 'due_at <= statement_timestamp()';

const TAKE = `
with due as (
  select ctid from contact_book_removal where organization_id = $1 and ${IS_DUE}
  order by organization_id, due_at limit $2 for update skip locked
)
update contact_book_removal r set tries = r.tries + 1,
  due_at = clock_timestamp() + make_interval(secs => least($4::float8, $3::float8 * power(4, least(r.tries, 10))))
from due where r.ctid = due.ctid
returning ${camelColumns('r', 'connection_id, user_id, tries')}`;
