import { makePartitionsAhead, type RunStatement } from '../src/infrastructure/database/partitions.js';
import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Messages: the journal, and where each outbound message stands, its attempts and the work to be done. */
export class Messages1770600000000 extends SqlMigration {
  readonly name = 'Messages1770600000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;

  override async afterFirstStep(run: RunStatement): Promise<void> {
    await makePartitionsAhead(run, 'message_content', 'month');
  }
}

/** How functions on a queue are planned: by an index, in its order. */
const BY_INDEX = `set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off`;

/**
 * The row waits. Not `attempt_id is null`, which is a column of the index message_queue_lane: the planner might read all of
 * that index for it. Statements of the program have the same (`waits` in message-state.ts).
 */
const WAITS = 'num_nulls(q.attempt_id) = 1';
/** It waits and is not held. Likewise not `held_until is null`: all of message_queue_lane would do for what is found by its place. */
const IS_FREE = 'num_nulls(q.attempt_id, q.held_until) = 2';

const UP = `
-- The journal's row: what was asked. It changes seldom: recipient where two lanes of one contact are joined, names by an erasure, and what the
-- app has changed of its own messages. An outbound message also has a row in message_state, and one in message_queue while it
-- waits, is held or in flight.
-- No foreign keys on the tables of messages: a batch of a hundred rows would run a hundred look-ups a key and lock its
-- connection's row each time. Connections and conversations are never deleted.
-- recipient: the key of the order to one contact, which is the contact's number where it is known, else the user id.
-- tag: the group that its caller put it in; metadata: its caller's own strings.
-- sent_at and meta_message_id: of received messages and of those with a source. standby: received as an observer, for
-- another app. original_meta_id: of an edit or a revoke WhatsApp's id of the message that it is about. source: app, sent in the WhatsApp Business app; history, imported from that app; null: sent by the API, or
-- received.
create table message (
  id uuid primary key,
  organization_id uuid not null,
  connection_id uuid not null,
  conversation_id uuid,
  direction text not null check (direction in ('outbound', 'inbound')),
  type text not null,
  recipient text,
  recipient_user_id text,
  sender text,
  client_message_id text,
  tag text,
  metadata jsonb,
  fingerprint bytea,
  reply_to_message_id uuid,
  media_object_id uuid,
  meta_message_id text,
  original_meta_id text,
  send_at timestamptz(3),
  ttl_seconds integer,
  trace_context bytea,
  sent_at timestamptz,
  standby boolean not null default false,
  source text check (source in ('app', 'history')),
  created_at timestamptz(3) not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
create index message_changes on message (connection_id, original_meta_id) where original_meta_id is not null;
create index message_journal on message (organization_id, created_at desc, id desc);
create index message_journal_client on message (organization_id, client_message_id, created_at desc, id desc)
  where client_message_id is not null;
create index message_journal_tag on message (organization_id, tag, created_at desc, id desc) where tag is not null;
create index message_journal_source on message (organization_id, source, created_at desc, id desc) where source is not null;
create index message_journal_media on message (organization_id, media_object_id, created_at desc, id desc)
  where media_object_id is not null;
create index message_journal_in on message (connection_id, created_at desc, id desc) where direction = 'inbound';
create index message_journal_out on message (connection_id, created_at desc, id desc) where direction = 'outbound';
create index message_journal_recipient on message (organization_id, recipient, created_at desc, id desc)
  where direction = 'outbound';
create index message_journal_sender on message (organization_id, sender, connection_id, created_at desc, id desc)
  where direction = 'inbound';
-- What a customer wrote to this workspace: it waits for an answer.
create index message_written on message (organization_id, created_at desc, id desc)
  where direction = 'inbound' and source is null and not standby and type not in ('reaction', 'system', 'edit', 'revoke');
create index message_conversation_in on message (conversation_id, created_at desc, id desc)
  where direction = 'inbound' and conversation_id is not null;
create index message_conversation_out on message (conversation_id, created_at desc, id desc)
  where direction = 'outbound' and conversation_id is not null;

-- What stays unique always has tables of its own, so that message has no unique index but its primary key: it can then be
-- partitioned. A row is inserted by the statement that inserts its message, and decides whether that one is new.
-- A key never expires: its row stays when its contact is erased.
create table idempotency_key (
  organization_id uuid not null,
  key uuid not null,
  message_id uuid not null,
  primary key (organization_id, key)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- By WhatsApp's id the messages that came from WhatsApp: received, sent in the app, or of its history. An erasure deletes the row, since the id
-- contains the contact's number.
create table platform_message (
  connection_id uuid not null,
  meta_message_id text not null,
  message_id uuid not null,
  primary key (connection_id, meta_message_id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Deleted after the time of retention: a partition a month, by the time in the id, which goes whole.
create table message_content (
  message_id uuid primary key,
  body text,
  content jsonb not null,
  inbound_context jsonb
) partition by range (message_id);
-- What was said in groups, whose authors have no conversation, by the author's user id.
create index message_content_author on message_content ((inbound_context -> 'sender' ->> 'user_id'))
  where inbound_context -> 'sender' ->> 'user_id' is not null;

-- Outbound messages that wait (attempt_id is null) or are in flight. A row leaves the table with the outcome.
-- due_at: when its turn comes; null of what is in flight, is held, or waits behind another row of its recipient. Kept by the
-- triggers below.
-- not_before: the time of a row that was deferred; its turn comes no sooner, though it waits behind another row or is paused
-- until then.
-- held_until: until then the row is no part of its recipient's order; null: it is free. Of a scheduled message the time at
-- which it is looked at next, which is later than scheduled_for where a check could not be made; infinity while its tag is paused.
-- scheduled_for: the time that the caller gave, until the release.
-- seq: the place in the recipient's order; a row that becomes free gets a new one.
-- No other index has message_id: the planner takes the table for empty whatever dead rows it has, and any index that
-- could be searched by a part of a condition would do as well as the right one. So each partial index but those of lane, due, lease and
-- paused has a condition that holds for every row. A statement that is to be planned with the index repeats it, and no other does.
create table message_queue (
  connection_id uuid not null,
  created_at timestamptz(3) not null,
  message_id uuid primary key,
  organization_id uuid not null,
  conversation_id uuid,
  recipient text not null,
  seq bigint generated by default as identity,
  queued_at timestamptz not null,
  due_at timestamptz,
  not_before timestamptz,
  held_until timestamptz,
  scheduled_for timestamptz(3),
  expires_at timestamptz not null,
  retried_at timestamptz,
  claimed_at timestamptz,
  lease_until timestamptz,
  attempt_id uuid,
  attempt_number integer not null default 0,
  tries integer not null default 0,
  tag text,
  check ((attempt_id is null) = (lease_until is null)),
  check ((attempt_id is null) = (claimed_at is null)),
  check (attempt_id is null or due_at is null),
  check (held_until is null or num_nonnulls(due_at, attempt_id) = 0),
  check (held_until is not null or scheduled_for is null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index message_queue_by_time on message_queue (connection_id, created_at) where created_at > '-infinity';
-- Of each recipient what is in flight first, then what waits: the first entry says whether the next one may go.
create index message_queue_lane on message_queue (connection_id, recipient, (attempt_id is null), seq)
  where held_until is null;
create index message_queue_due on message_queue (connection_id, due_at) where due_at is not null;
create index message_queue_lease on message_queue (lease_until) where lease_until is not null;
create index message_queue_expiry on message_queue (expires_at) where held_until is null and expires_at > '-infinity';
create index message_queue_held on message_queue (connection_id, held_until)
  where held_until is not null and queued_at > '-infinity';
create index message_queue_held_recipient on message_queue (connection_id, recipient)
  where held_until is not null and recipient <> '';
-- Of messages with a tag only. What a pause holds is in the second index alone, so a look for what is to be held reads none
-- of it.
create index message_queue_tag on message_queue (organization_id, tag, scheduled_for nulls first, seq)
  where tag is not null and held_until is distinct from 'infinity';
create index message_queue_paused on message_queue (organization_id, tag, scheduled_for nulls first, seq) where held_until = 'infinity';
create index message_queue_tag_sending on message_queue (organization_id, tag) where tag <> '' and attempt_id is not null;

-- These triggers keep due_at, which says when a row's turn comes: set for each recipient's first row, null for those behind
-- it. They find the rows that they write by ctid, and say once more what must be true of them: PostgreSQL 15 takes a row that was
-- updated while its lock was waited for, though its place is another one then.
-- Their plans are made once a session, whatever the table has at that time and however many rows were removed then.

-- A row that is new, becomes free, or comes from another recipient is due, or it waits behind one whose deletion or hold waits for our
-- lock. (Of rows that one statement frees, those behind its first one to a recipient come with due_at null: it knows their order, and
-- rows are updated in any.) We lock the last such row, so that steady accepts do not hold up the first. A locked row is leaving and is passed over:
-- then we may be due too early, and the claim's guard holds us back.
create function message_queue_enter() returns trigger language plpgsql ${BY_INDEX} as $$
begin
  if new.attempt_id is not null or new.held_until is not null then
    new.due_at := null;
    return new;
  end if;
  new.due_at := case when (select true from message_queue e
    where e.connection_id = new.connection_id and e.recipient = new.recipient and e.held_until is null
      and (e.attempt_id is not null or e.seq < new.seq)
    order by e.connection_id desc, e.recipient desc, (e.attempt_id is null) desc, e.seq desc limit 1
    for key share skip locked) then null else coalesce(new.due_at, new.queued_at) end;
  return new;
end $$;
create trigger message_queue_enter before insert on message_queue
  for each row execute function message_queue_enter();
create trigger message_queue_enter_again before update of held_until, recipient on message_queue for each row
  when (new.due_at is not null and (old.held_until is not null or new.recipient <> old.recipient))
  execute function message_queue_enter();

-- A statement that removes rows which were in flight, or had a turn, passes the turn on to the recipient's next one that waits; before
-- one that had none another row has it. The trigger's snapshot is newer than the locks of the deletion: it sees what was accepted
-- meanwhile. Where the next row was removed or claimed while we waited for it, we look again. What is in flight does not count: its own
-- removal may be under way, and neither sees the other.
-- A next row that is eligible, which may be too early, is locked too: its own deletion may have seen the row before it, ours.
-- Not due_at is not null: the planner would read message_queue_due for it.
create function message_queue_delete() returns trigger language plpgsql ${BY_INDEX} as $$
declare missed boolean;
begin
  loop
    with next as materialized (
      select n.* from (
        select distinct connection_id, recipient from gone where held_until is null and num_nonnulls(attempt_id, due_at) = 1) as freed
      cross join lateral (
        select n.ctid as place, n.due_at, n.message_id || n.recipient as key from message_queue n
        where n.connection_id = freed.connection_id and n.recipient = freed.recipient and n.held_until is null
          and (n.attempt_id is null)
        order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1) as n
    ), moved as (
      update message_queue q set due_at = greatest(clock_timestamp(), q.not_before)
      where q.ctid = any(array(select place from next where due_at is null)) and ${IS_FREE} and q.due_at is null
        and q.message_id || q.recipient = any(array(select key from next)) returning 1
    ), kept as materialized (
      select from message_queue q
      where q.ctid = any(array(select place from next where due_at is not null)) and ${IS_FREE} and num_nonnulls(q.due_at) = 1
        and q.message_id || q.recipient = any(array(select key from next))
      for key share
    )
    select (select count(*) from next) > (select count(*) from moved) + (select count(*) from kept) into missed;
    exit when not missed;
  end loop;
  return null;
end $$;
create trigger message_queue_delete after delete on message_queue referencing old table as gone
  for each statement execute function message_queue_delete();

-- A row comes back from a send, is held, or goes to another recipient. The first row that waits then is eligible; where it has
-- one already, and we leave, it is locked: see message_queue_delete. Of what is behind a row without a turn nothing changes.
-- A row that comes back has its time. If it stands first again, those behind it wait without one.
create function message_queue_release() returns trigger language plpgsql ${BY_INDEX} as $$
declare
  first record;
  comes_back boolean := old.attempt_id is not null and new.attempt_id is null;
begin
  loop
    select n.ctid as place, n.message_id, n.due_at into first from message_queue n
    where n.connection_id = old.connection_id and n.recipient = old.recipient and n.held_until is null
      and (n.attempt_id is null)
    order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1;
    exit when first.place is null or (first.due_at is not null and comes_back);
    if first.due_at is null then
      update message_queue q set due_at = greatest(clock_timestamp(), q.not_before)
      where q.ctid = first.place and ${IS_FREE} and q.recipient = old.recipient and q.due_at is null;
    else
      perform from message_queue q
      where q.ctid = first.place and ${IS_FREE} and q.recipient = old.recipient and num_nonnulls(q.due_at) = 1 for key share;
    end if;
    exit when found;
  end loop;
  if comes_back and first.message_id = new.message_id and new.due_at > clock_timestamp() then
    with behind as materialized (
      select n.ctid as place from message_queue n
      where n.connection_id = new.connection_id and n.recipient = new.recipient and n.held_until is null
        and (n.attempt_id is null) and n.seq > new.seq
      order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 2 for no key update skip locked
    )
    update message_queue q set due_at = null
    where q.ctid = any(array(select place from behind)) and ${WAITS} and num_nonnulls(q.due_at) = 1;
  end if;
  return null;
end $$;
create trigger message_queue_release after update of attempt_id, held_until, recipient on message_queue for each row
  when (old.held_until is null and (
    old.attempt_id is not null and new.attempt_id is null
    or num_nonnulls(old.attempt_id, old.due_at) = 1 and (new.held_until is not null or new.recipient <> old.recipient)))
  execute function message_queue_release();

-- Where an outbound message stands, from its acceptance on; each change of a message locks this row first (FactsRepository).
-- status: "queued" as long as the message is in message_queue, also while it is in flight there.
-- attempt_*: of the attempt that counts; null while the message is queued, and where it ended without one. attempt_count, tries: of when
-- it left the queue. retried_at: of its last retry by a caller or its tag. expires_at: of an unknown outcome, until when the message may
-- wait where it returns to the queue.
-- billable, pricing_*: of the first report that said what the platform charges.
-- event_count becomes data.sequence of the message's next event; counted with and without an endpoint. changed_at: of the last one.
-- Reports update rows in place, without entries in indexes: no index names a column that they change, in its condition neither. Hence
-- attention, and the space that is left in each page.
create table message_state (
  message_id uuid primary key,
  organization_id uuid not null,
  connection_id uuid not null,
  conversation_id uuid,
  created_at timestamptz(3) not null,
  status text not null default 'queued'
    check (status in ('queued', 'accepted', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown')),
  attention text generated always as (case when status in ('failed', 'outcome_unknown') then status end) stored,
  event_count integer not null default 0,
  changed_at timestamptz,
  queued_at timestamptz not null,
  processing_at timestamptz,
  accepted_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  meta_message_id text,
  failure_category text,
  error_code text,
  error_message text,
  attempt_id uuid,
  attempt_number integer not null default 0,
  attempt_count integer not null default 0,
  tries integer not null default 0,
  retried_at timestamptz,
  expires_at timestamptz,
  billable boolean,
  pricing_category text,
  pricing_type text,
  pricing_subtype text,
  pricing_model text
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
create index message_state_attention on message_state (connection_id, attention, created_at desc, message_id desc)
  where attention is not null;
create index message_state_conversation on message_state (conversation_id, attention, created_at desc, message_id desc)
  where attention is not null and conversation_id is not null;

-- Every attempt of which anything was learned: a row with its first fact, changed by later ones. What a caller sees of it follows from
-- them (message_attempt_view).
-- answer, answered_at, http_status, code, text, category, trace_id: WhatsApp's response. taken_at: a report said that it was accepted.
-- failed_*: of the last report that it failed. replaced_at: since when another attempt counts, or is waited for; null: this one counts.
create table message_attempt (
  message_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  answer text check (answer in ('accepted', 'rejected', 'deferred', 'unknown')),
  answered_at timestamptz,
  http_status integer,
  code integer,
  text text,
  category text,
  trace_id text,
  lease_ended_at timestamptz,
  taken_at timestamptz,
  failed_at timestamptz,
  failed_code integer,
  failed_text text,
  failed_category text,
  replaced_at timestamptz,
  meta_message_id text,
  primary key (message_id, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
create index message_attempt_meta on message_attempt using hash (meta_message_id) where meta_message_id is not null;
create index message_attempt_replaced on message_attempt (replaced_at) where replaced_at is not null;

-- Repeats of POST /messages/{id}/retry with an Idempotency-Key.
create table message_retry (
  organization_id uuid not null references organization (id),
  idempotency_key uuid not null,
  message_id uuid not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (organization_id, idempotency_key)
);

-- What a caller or its tag did with a message: retries and cancels. api_key_id: whose request it was; null: an action of its tag. The rest is what a
-- retry ended: when the message had joined the queue, and its failure. And what WhatsApp told of it: that its recipient deleted it, or a
-- warning, with error_code.
create table message_act (
  message_id uuid not null,
  organization_id uuid not null,
  at timestamptz not null,
  act text not null check (act in ('retried', 'canceled', 'deleted', 'warned')),
  api_key_id text,
  queued_at timestamptz,
  failed_at timestamptz,
  failure_category text,
  error_code text,
  primary key (message_id, at, act)
);

-- Received messages that were marked as read. Not a column of message, whose rows seldom change.
create table message_read (
  message_id uuid primary key,
  organization_id uuid not null,
  read_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);

-- A message as one row, for reading. What a statement does not ask for is not joined.
create view message_view as
select m.id, m.organization_id, m.connection_id, m.conversation_id, m.direction, m.type, m.recipient,
  m.recipient_user_id, m.sender, m.client_message_id, m.fingerprint, m.reply_to_message_id,
  m.media_object_id, m.created_at, c.body, coalesce(c.content, '{}') as content, c.inbound_context,
  case when m.direction = 'inbound' then 'received' when q.attempt_id is not null then 'processing' else s.status end as status,
  case when m.direction = 'inbound' then m.meta_message_id else s.meta_message_id end as meta_message_id,
  s.failure_category, s.error_code, s.error_message,
  coalesce(q.attempt_number, s.attempt_count, 0) as attempt_count,
  coalesce(s.event_count, 1) as event_count,
  coalesce(q.attempt_id, s.attempt_id) as current_attempt_id, q.lease_until, q.seq, q.tries,
  case when q.attempt_id is null and q.held_until is null then coalesce(q.due_at, q.queued_at) end as next_attempt_at,
  coalesce(q.queued_at, s.queued_at) as queued_at,
  coalesce(q.claimed_at, s.processing_at) as processing_at,
  s.accepted_at, case when m.direction = 'inbound' then m.sent_at else s.sent_at end as sent_at, s.delivered_at,
  s.read_at, s.failed_at, q.scheduled_for, q.expires_at
from message m
left join message_queue q on q.message_id = m.id and m.direction = 'outbound'
left join message_state s on s.message_id = m.id
left join message_content c on c.message_id = m.id;

-- All attempts as callers see them, also the one in flight, of which nothing is known yet. What is shown follows from what is known, in
-- whatever order it came:
-- status: accepted by the response or by a report beats refused and failed; a decided response beats "not now"; that beats unknown.
-- finished_at: of a decided response its time, else the first of all others.
-- code, message: of the last report that it failed, where that said any, else the response's. category: of that report; of a response, but
-- where a report says that WhatsApp accepted what the response left open. http_status, trace_id: always the response's.
create view message_attempt_view as
select a.message_id, a.id, a.organization_id, a.number, a.started_at,
  case when a.answer = 'accepted' or a.taken_at is not null then 'accepted'
    when a.answer = 'rejected' or a.failed_at is not null then 'rejected'
    when a.answer = 'deferred' then 'deferred'
    when a.answer = 'unknown' or a.lease_ended_at is not null then 'unknown' else 'started' end as status,
  case when a.answer in ('accepted', 'rejected') then a.answered_at
    else least(a.answered_at, a.lease_ended_at, a.taken_at, a.failed_at) end as finished_at,
  a.http_status,
  case when num_nonnulls(a.failed_code, a.failed_text) > 0 then a.failed_code else a.code end as platform_code,
  case when num_nonnulls(a.failed_code, a.failed_text) > 0 then a.failed_text else a.text end as platform_message,
  coalesce(a.failed_category, case when a.answer = 'rejected' or a.taken_at is null then a.category end) as failure_category,
  a.meta_message_id, a.trace_id
from message_attempt a
union all
select q.message_id, q.attempt_id, q.organization_id, q.attempt_number, q.claimed_at, 'started', null, null, null, null, null, null, null
from message_queue q where q.attempt_id is not null
  and not exists (select from message_attempt a where a.message_id = q.message_id and a.id = q.attempt_id);
`;

const DOWN = `
drop view message_attempt_view;
drop view message_view;
drop table message_read;
drop table message_act;
drop table message_retry;
drop table message_attempt;
drop table message_state;
drop table message_queue;
drop function message_queue_release, message_queue_delete, message_queue_enter;
drop table message_content;
drop table platform_message;
drop table idempotency_key;
drop table message;
`;
