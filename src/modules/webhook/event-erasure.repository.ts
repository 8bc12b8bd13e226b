import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { ErasureBatch, Subject } from '../../infrastructure/erasure/erasure.js';

const PAGE = 2_000;

/** One contact's events in `webhook_event`. The log of deliveries names nobody and stays. */
@Injectable()
export class EventErasureRepository {
  constructor(private readonly database: Database) {}

  /** One page of all events, oldest first; removes the workspace's that name the contact, delivered or not. */
  async batch(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const rows = await this.database.query<{ ids: string[] | null; passed: number; last: string | null }>(FIND, [
      subject.organizationId,
      cursor ?? '00000000-0000-0000-0000-000000000000',
      PAGE,
      subject.numbers,
      subject.userIds,
    ]);
    const { ids = null, passed = 0, last = null } = rows[0] ?? {};
    if (erase && ids !== null) {
      await this.database.execute('delete from webhook_event where organization_id = $1 and id = any($2::uuid[])', [
        subject.organizationId,
        ids,
      ]);
    }
    return { found: { webhook_events: ids?.length ?? 0 }, cursor: passed < PAGE ? null : last };
  }
}

const FIND = `
with page as materialized (
  select id, organization_id, data from webhook_event where id > $2 order by id limit $3
), hit as (
  select id from page where organization_id = $1 and (
    data ->> 'to' = any($4) or data ->> 'recipient' = any($5)
    or data -> 'message' ->> 'from' = any($4) or data -> 'message' ->> 'to' = any($4)
    or data -> 'contact' ->> 'phone' = any($4) or data -> 'contact' ->> 'user_id' = any($5))
)
select (select array_agg(id) from hit) as ids, (select count(*)::integer from page) as passed,
  (select id from page order by id desc limit 1) as last`;
