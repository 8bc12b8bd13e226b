import type { Database } from '../../../infrastructure/database/database.js';
import type { DueLanes } from '../../../infrastructure/lanes/due-lanes.js';
import { READY } from './claim-sql.js';

const FIRST = '00000000-0000-0000-0000-000000000000';

/** Connections with due messages that can send. */
export function dueConnections(database: Database): DueLanes {
  const page = async (limit: number, after: string | null) => {
    const rows = await database.query<{ id: string; due_for_ms: number | null; is_last: boolean }>(DUE, [
      limit,
      after ?? FIRST,
    ]);
    return {
      lanes: rows.flatMap(({ id, due_for_ms }) => (due_for_ms === null ? [] : [{ key: id, dueForMs: due_for_ms }])),
      next: rows.find((row) => row.is_last)?.id ?? null,
    };
  };
  return Object.assign(page, { hasWork: `exists (${dueOf('null', `'${FIRST}'`)})` });
}

// Numbers that cannot send keep their due messages: without this each of them would be woken in every round. The last
// one of a full page is always told of, so that the next page begins behind it.
const dueOf = (limit: string, after: string): string => `
with lane_of as materialized (
  select c.id, coalesce(l.low_at, '-infinity') as low_at, row_number() over (order by c.id) as n
  from (select id from connection
    where id > ${after} and status in ('connected', 'restricted') order by id limit ${limit}) as c
  left join lane l on l.key = c.id::text
)
select id, (extract(epoch from clock_timestamp() - since) * 1000)::double precision as due_for_ms, n = ${limit} as is_last
from lane_of cross join lateral (
  select least(
    (select q.queued_at from message_queue q where q.connection_id = lane_of.id and q.created_at >= lane_of.low_at
       and ${READY} order by q.connection_id, q.created_at limit 1),
    (select q.next_attempt_at from message_queue q where q.connection_id = lane_of.id
       and q.next_attempt_at <= statement_timestamp() order by q.connection_id, q.next_attempt_at limit 1)) as since
) as due
where since is not null or n = ${limit}
order by id`;

/** $1 limit, $2 behind which connection. */
export const DUE = dueOf('$1', '$2');
