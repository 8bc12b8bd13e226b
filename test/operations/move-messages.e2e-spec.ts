import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { databaseBefore, type DatabaseAtMigration } from '../support/migrated-database.js';
import { OldProgram, type OldRow } from '../support/old-program.js';
import { waitFor } from '../support/wait-for.js';

/** MOVE_MESSAGES=200000 moves as many as an installation has. */
const MESSAGES = Number(process.env.MOVE_MESSAGES ?? 5_000);
const WORKERS = 4;

/** What a message keeps in whatever table it stands. */
const ALWAYS = `organization_id, connection_id, conversation_id, direction, type, recipient, recipient_user_id, sender, body,
  content, inbound_context, client_message_id, idempotency_key, fingerprint, reply_to_message_id, media_object_id,
  status, meta_message_id, failure_category, error_code, error_message, attempt_count, created_at, queued_at,
  accepted_at, sent_at, delivered_at, read_at, failed_at`;
/** Of one that waits or is on the wire. */
const WAITING = 'seq, tries, lease_until, event_count';

const ids = { organizationId: randomUUID(), connectionId: randomUUID() };

/** Messages in every state, each with the attempts that led to it, some blanked, some old, some retried. */
const FILL = `
insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, recipient_user_id,
  sender, body, content, inbound_context, client_message_id, idempotency_key, fingerprint, reply_to_message_id,
  status, meta_message_id, failure_category, error_code, error_message, attempt_count, tries, current_attempt_id,
  lease_until, next_attempt_at, created_at, queued_at, processing_at, accepted_at, sent_at, delivered_at, read_at,
  failed_at, event_count)
select gen_random_uuid(), $1, $2, case when n % 3 = 0 then gen_random_uuid() end,
  case when status = 'received' then 'inbound' else 'outbound' end, 'text', '1555' || (n % 5000),
  case when n % 11 = 0 then 'DE.' || n end, '16505550134', case when n % 5 = 0 then null else 'Text ' || n end,
  case when n % 5 = 0 then '{}'::jsonb else jsonb_build_object('body', 'Text ' || n) end,
  case when status = 'received' and n % 2 = 0 then '{"forwarded": true}'::jsonb end,
  case when n % 4 = 0 then 'order-' || n end, case when status <> 'received' then gen_random_uuid() end,
  case when status <> 'received' then decode(md5(n::text), 'hex') end, case when n % 13 = 0 then gen_random_uuid() end,
  status, case when status not in ('queued', 'processing') then 'wamid.' || n end,
  case when status = 'failed' then 'invalid_content' end, case when status = 'failed' then '131000' end,
  case when status = 'failed' then 'No' end,
  case when status = 'received' or (status = 'queued' and n % 2 = 0) then 0 else 1 + n % 3 end, n % 3,
  case when status not in ('received', 'queued') then md5('attempt' || n)::uuid end,
  case when status = 'processing' then clock_timestamp() + interval '1 hour' end,
  case when status = 'queued' then clock_timestamp() + (n % 3) * interval '1 hour' end,
  date_trunc('milliseconds', at), case when status <> 'received' then at end,
  case when status not in ('queued', 'received') then at end,
  case when status in ('accepted', 'sent', 'delivered', 'read') then at end,
  case when status in ('sent', 'delivered', 'read', 'received') then at end,
  case when status in ('delivered', 'read') then at end, case when status = 'read' then at end,
  case when status = 'failed' then at end, 1 + n % 4
from (
  select n, clock_timestamp() - n * interval '1 second' as at, (array['queued', 'processing', 'accepted', 'sent',
    'delivered', 'read', 'failed', 'outcome_unknown', 'received'])[1 + n % 9] as status
  from generate_series(1, $3::integer) as n) as made`;

const FILL_ATTEMPTS = `
insert into message_attempt (id, organization_id, message_id, number, status, started_at, finished_at, http_status,
  platform_code, platform_message, failure_category, meta_message_id, trace_id)
select current_attempt_id, organization_id, id, attempt_count,
  case status when 'processing' then 'started' when 'failed' then 'rejected' when 'outcome_unknown' then 'unknown'
    else 'accepted' end,
  processing_at, case when status <> 'processing' then processing_at end,
  case when status <> 'processing' then 200 end, case when status = 'failed' then 131000 end,
  case when status = 'failed' then 'No' end, failure_category, meta_message_id, 'trace'
from message where current_attempt_id is not null`;

/** The messages that differ, in words. `$1`: ids that were changed meanwhile. */
const DIFFERENT = (columns: string, which: string): string => `
select b.id, b.status from before b left join (select id, ${columns} from message_view) as v on v.id = b.id
where b.id <> all($1::uuid[]) and ${which}
  and row(${columns.replace(/\w+/g, 'v.$&')}) is distinct from row(${columns.replace(/\w+/g, 'b.$&')}) limit 5`;

describe('the move of messages into queue, state and content', () => {
  let database: DatabaseAtMigration;
  let pool: pg.Pool;
  let program: OldProgram;
  let touched: string[];

  async function count(sql: string, params: unknown[] = []): Promise<number> {
    const [row] = await database.query<{ count: number }>(`select count(*)::integer as count ${sql}`, params);
    return row?.count ?? 0;
  }

  beforeAll(async () => {
    database = await databaseBefore('QueueAndState1766000000000', 3);
    await database.query(FILL, [ids.organizationId, ids.connectionId, MESSAGES]);
    await database.query(FILL_ATTEMPTS);
    await database.query('create table before as table message');
    await database.query('create unique index on before (id)');
    const found = await database.query<{ row: OldRow }>(
      `select to_jsonb(m) as row from message m where status not in ('processing', 'received') order by random() limit 2000`,
    );
    pool = new pg.Pool({ connectionString: database.url, max: WORKERS });
    program = new OldProgram(
      pool,
      ids,
      found.map(({ row }) => row),
      WORKERS,
    );
    const statuses = () => new Set([...program.rows.values()].map(({ status }) => status));
    await waitFor(() => program.rows.size > 20 && statuses().size === 8, { what: 'the old program to send' });
    await database.up();
    await waitFor(() => program.failure !== null, { what: 'the old program to be refused' });
    await program.stop();
    touched = [...program.rows.keys()];
  }, 600_000);

  afterAll(async () => {
    await program?.stop();
    await pool?.end();
    await database?.close();
  });

  it('was met by a program that accepted and sent all the while, and whose next statement failed', () => {
    expect(program.failure).toMatchObject({ code: expect.stringMatching(/^42(703|883|P01)$/) as string });
    const statuses = new Set([...program.rows.values()].map(({ status }) => status));
    expect([...statuses].sort()).toEqual(
      ['accepted', 'delivered', 'failed', 'outcome_unknown', 'processing', 'queued', 'read', 'sent'].sort(),
    );
  });

  it('has every message in one place', async () => {
    expect(await count('from before b left join message m on m.id = b.id where m.id is null')).toBe(0);
    expect(await count(`from message where direction = 'outbound'`)).toBe(
      (await count('from message_queue')) + (await count('from message_state')),
    );
    expect(await count('from message_queue q join message_state s using (message_id)')).toBe(0);
    expect(await count(`from message_view where status is null`)).toBe(0);
  });

  it('changes nothing of a message that was not touched', async () => {
    expect(await database.query(DIFFERENT(ALWAYS, 'true'), [touched])).toEqual([]);
    const waits = `b.status in ('queued', 'processing')`;
    expect(await database.query(DIFFERENT(WAITING, waits), [touched])).toEqual([]);
    expect(await database.query(DIFFERENT('next_attempt_at', `b.status = 'queued'`), [touched])).toEqual([]);
    expect(await database.query(DIFFERENT('processing_at', `b.status <> 'queued'`), [touched])).toEqual([]);
    expect(await database.query(DIFFERENT('current_attempt_id', `b.status <> 'queued'`), [touched])).toEqual([]);
  });

  it('carries over what the program did meanwhile', async () => {
    const rows = await database.query<{ row: OldRow }>(
      'select to_jsonb(v) as row from message_view v where id = any($1::uuid[])',
      [touched],
    );
    expect(rows).toHaveLength(touched.length);
    const columns = ALWAYS.split(/,\s*/);
    // The platform's id of an attempt that is over stands with the attempt once the message waits again.
    const pick = (row: OldRow | undefined) =>
      Object.fromEntries(
        columns.map((column) => [
          column,
          column === 'meta_message_id' && (row?.status === 'queued' || row?.status === 'processing')
            ? null
            : row?.[column],
        ]),
      );
    const wrong = rows.filter(
      ({ row }) => JSON.stringify(pick(row)) !== JSON.stringify(pick(program.rows.get(row.id))),
    );
    expect(wrong.map(({ row }) => [row, program.rows.get(row.id)]).slice(0, 2)).toEqual([]);
  });

  it("knows of each outcome the attempt that brought it, as the platform's answer closed it", async () => {
    expect(
      await count(`from message_state s join message_attempt a on a.id = s.attempt_id
        where row(s.attempt_status, s.attempt_finished_at, s.http_status, s.platform_code, s.platform_message,
            s.attempt_category, s.trace_id)
          is distinct from row(nullif(a.status, 'started'), a.finished_at, a.http_status, a.platform_code,
            a.platform_message, a.failure_category, a.trace_id)`),
    ).toBe(0);
    expect(await count('from message_state where attempt_id is not null and attempt_status is null')).toBe(0);
  });

  it('gives later messages a later place than all that wait', async () => {
    const [row] = await database.query<{ next: string; most: string }>(
      `select nextval(pg_get_serial_sequence('message_queue', 'seq')) as next, (select max(seq) from message_queue) as most`,
    );
    expect(Number(row?.next)).toBeGreaterThan(Number(row?.most));
  });

  it('can be taken back with nothing lost', async () => {
    await database.down();
    const different = (columns: string, which: string) => DIFFERENT(columns, which).replace('message_view', 'message');
    expect(await database.query(different(ALWAYS, 'true'), [touched])).toEqual([]);
    expect(await database.query(different(WAITING, `b.status = 'queued'`), [touched])).toEqual([]);
    expect(
      await count(`from message m where current_attempt_id is not null and not exists (
      select 1 from message_attempt a where a.id = m.current_attempt_id)`),
    ).toBe(0);
  });
});
