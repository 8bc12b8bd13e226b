import type { Database } from '../../src/infrastructure/database/database.js';

/** Makes the tags of messages that a test wrote by itself, and counts them as the service would have. */
export async function countTags(database: Database, organizationId: string): Promise<void> {
  await database.execute(
    `insert into message_tag (organization_id, tag)
     select distinct organization_id, tag from message where organization_id = $1 and tag is not null on conflict do nothing`,
    [organizationId],
  );
  await database.execute('delete from message_tag_count where organization_id = $1', [organizationId]);
  await database.execute(
    `insert into message_tag_count (organization_id, tag, connection_id, status, failure_category, messages, scheduled,
       last_scheduled_for, first_at, last_at)
     select m.organization_id, m.tag, m.connection_id, s.status,
       case when s.status = 'failed' then coalesce(s.failure_category, 'unknown') end, count(*), count(q.scheduled_for),
       max(q.scheduled_for), min(m.created_at), max(m.created_at)
     from message m join message_state s on s.message_id = m.id left join message_queue q on q.message_id = m.id
     where m.organization_id = $1 and m.tag is not null group by 1, 2, 3, 4, 5`,
    [organizationId],
  );
}
