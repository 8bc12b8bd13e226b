import { Injectable } from '@nestjs/common';
import { FIRST_ID, lowestIdSince } from '../../common/ids.js';
import { accountOf } from '../../infrastructure/whatsapp/account-number.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { GroupCommit } from '../../infrastructure/database/group-commit.js';
import type { Subject } from '../workspaces/erasure/erasure.service.js';
import {
  GRANTED_SLOTS,
  GRANT_COLUMNS,
  grantParams,
  laneGrants,
  type ClaimRequest,
  claimOf,
  type Claim,
  type ClaimRow,
} from '../../infrastructure/queue/lane-grant.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { markedLane, type MarkedLanes } from '../../infrastructure/queue/due-lanes.js';
import type { DueSince } from '../../infrastructure/queue/sweeps.js';
import type { NotifiedPerson } from './notified-person.js';

export type NotificationState = 'stored' | 'applied' | 'unmatched' | 'unreadable' | 'failed';

export interface NewNotification {
  id: string;
  /** The bytes as received. */
  body: Buffer;
  state: NotificationState;
  /** Names of the fields in it that Herald does not know or use; null: there are none. */
  unread: readonly string[] | null;
  /** The person whom the notification names; see `personOf`. */
  person: NotifiedPerson | null;
}

/** SQL: a number or user id in the form of `platform_notification`, which stores only a hash. */
export const hashOfName = (name: string): string =>
  `('x' || left(encode(sha256(convert_to(${name}, 'UTF8')), 'hex'), 8))::bit(32)::integer`;

export interface DueNotification {
  id: string;
  body: Buffer;
  /** Tries since it was stored, including this one. */
  tries: number;
  /** Whether the notification was received more than 24 hours ago. */
  expired: boolean;
  /** Milliseconds until the next try, if this try does not settle the notification. */
  againMs: number;
}

/** The only lane of stored notifications. */
export const INBOUND_LANE = 'inbound';

/** Notifications about a person or workspace, and where the next page begins; null: this page was the last. */
interface FoundPage {
  ids: string[];
  cursor: string | null;
}

/** A contact, or a workspace by its id. */
type Whose = Subject | string;

/** A notification with a larger body is written alone, which bounds the size of a batch. */
export const LARGE_BYTES = 64 * 1_024;
/** The first try is 5 s after storing (the column's default), the second after this time. */
const FIRST_GAP_SECONDS = 20;
const MAX_GAP_SECONDS = 3_600;
/** SQL, for a row of `notification_queue`: seconds until it is due. */
export const GAP = `case when tries = 0 then 5 else least(${MAX_GAP_SECONDS}, ${FIRST_GAP_SECONDS} * power(4, least(tries - 1, 10))) end`;
/** Rows per page of a search through all notifications. */
const PAGE = 5_000;

/** Every notification as received, and whether it has been applied; unapplied ones are in `notification_queue` too. */
@Injectable()
export class InboundRepository {
  private readonly storing: GroupCommit<NewNotification, void>;
  private readonly old = new BatchPlace(FIRST_ID);

  readonly dueLanes: MarkedLanes;

  constructor(private readonly database: Database) {
    this.dueLanes = markedLane(database, INBOUND_LANE, dueSince);
    this.storing = new GroupCommit(database, {
      name: 'notification',
      transactional: false,
      commit: async (notifications, statements) => {
        await this.insert(notifications, statements);
        return notifications.map(() => undefined);
      },
    });
  }

  /**
   * Stores a notification; resolves once it is durable. If the notification is in the table already, it gets the new
   * state, unless it is settled.
   *
   * @throws SERVICE_UNAVAILABLE (503) when too many wait or the outcome of the commit is unknown.
   */
  async store(notification: NewNotification): Promise<void> {
    if (notification.body.length > LARGE_BYTES) await this.insert([notification], this.database);
    else await this.storing.submit(notification);
  }

  /** Stores many notifications, like `store`, in the transaction that applies them. */
  async insert(notifications: readonly NewNotification[], statements: Statements): Promise<void> {
    if (notifications.length === 0) return;
    await statements.execute(INSERT, [
      notifications.map((notification) => notification.id),
      notifications.map((notification) => notification.body),
      notifications.map((notification) => notification.state),
      notifications.map(({ unread }) => (unread === null ? null : JSON.stringify(unread))),
      notifications.map(({ person }) => person?.number ?? null),
      notifications.map(({ person }) => person?.userId ?? null),
    ]);
  }

  /** Removes settled notifications received before this time, found by their ids; returns how many. */
  removeOld(before: Date, limit: number): Promise<number> {
    const remove = `delete from platform_notification where id = any(array(
        select id from platform_notification
        where id > $1 and id < $3 and state <> 'stored' and received_at < $4 order by id limit $2))
      returning id::text as place`;
    return this.old.run(this.database, remove, limit, [lowestIdSince(before), before]);
  }

  /**
   * Claims due stored notifications, the longest due first. No process claims a notification again before its next try,
   * for which the waits grow (20 s, 80 s ... an hour): if the process dies, only this try is lost. Two processes may
   * still work on one notification. That does no harm: applying it twice changes nothing.
   *
   * @param maxBytes limit of the bytes of all bodies together, about; if it is above 0, at least one is claimed.
   */
  async claim(request: ClaimRequest, maxBytes: number): Promise<Claim<DueNotification>> {
    const params = [...grantParams([request]), maxBytes, FIRST_GAP_SECONDS, MAX_GAP_SECONDS];
    return claimOf(await this.database.byIndex(() => this.database.query<ClaimRow<DueNotification>>(CLAIM, params)));
  }

  /** Stored notifications that are not applied yet. */
  backlog(): Promise<Backlog> {
    return this.database.row<Backlog>(BACKLOG);
  }

  /**
   * Reads the next page of candidates, and returns the settled notifications among them that are about a contact or a
   * workspace. The cursor is null after the last page.
   *
   * @param which for a contact: notifications that name only this person, or those whose people are unknown.
   */
  findOf(whose: Whose, which: 'named' | 'unnamed', after: string | null): Promise<FoundPage> {
    const values = [keyOf(whose), after ?? FIRST_ID, PAGE];
    if (typeof whose === 'string') return this.database.row<FoundPage>(FIND_OF_WORKSPACE, values);
    if (which === 'unnamed') return this.database.row<FoundPage>(FIND_UNNAMED, values);
    const accounts = [...new Set(whose.numbers.map(accountOf))];
    return this.database.transaction(
      () => this.database.row<FoundPage>(FIND_NAMED, [...values, accounts, whose.userIds]),
      BY_BITMAP,
    );
  }

  /** The next notification after `after` that has a history of the number's messages; null: there is none. */
  nextHistory(phoneNumberId: string, after: string): Promise<{ id: string; body: Buffer } | null> {
    return this.database.find(NEXT_HISTORY, [after, Buffer.from(phoneNumberId, 'utf8')]);
  }

  /** Removes settled notifications. */
  async remove(ids: readonly string[]): Promise<void> {
    const sql = `delete from platform_notification where id = any($1::uuid[]) and state <> 'stored'`;
    await this.database.execute(sql, [ids]);
  }

  /** How many notifications about a contact or a workspace are not applied yet. */
  countStored(whose: Whose): Promise<number> {
    const isHit = typeof whose === 'string' ? OF_NUMBERS : NAMES;
    return this.database.count(
      `select count(*)::integer as count
       from notification_queue q join platform_notification page on page.id = q.notification_id where ${isHit}`,
      [keyOf(whose)],
    );
  }

  /** Resolves when no caller waits. */
  idle(): Promise<void> {
    return this.storing.idle();
  }
}

// The rows are written in the order of their ids, so that two batches with common notifications never deadlock.
const INSERT = `
insert into platform_notification as n (id, body, state, unread, number_hash, user_hash)
select id, body, state, unread, ${hashOfName('number')}, ${hashOfName('user_id')}
from unnest($1::uuid[], $2::bytea[], $3::text[], $4::jsonb[], $5::text[], $6::text[])
  as given (id, body, state, unread, number, user_id) order by 1
on conflict (id) do update set state = excluded.state, unread = excluded.unread where n.state = 'stored' and excluded.state <> 'stored'`;

const dueSince: DueSince = (from) => `(select q.due_at from notification_queue q
    where q.due_at >= ${from} and q.due_at <= statement_timestamp() order by q.due_at limit 1)`;

// $1 to $6 the lane, $7 bytes, $8 and $9 the first and the longest wait. Only the bodies of claimed rows are read.
const CLAIM = `
with ${laneGrants({ runsWhileBlocked: true })}, due as materialized (
  select q.ctid as row_ctid, q.notification_id, q.due_at,
    least($9::float8, $8::float8 * power(4, least(q.tries, 10))) as gap
  from notification_queue q
  where q.due_at >= (select low_at from lane_grant) and q.due_at <= statement_timestamp()
  order by q.due_at limit ${GRANTED_SLOTS} for update skip locked
), measured as materialized (
  select due.row_ctid, due.gap, sum(body.bytes) over turns - body.bytes as bytes_before
  from due cross join lateral (
    select octet_length(n.body) as bytes from platform_notification n where n.id = due.notification_id) as body
  window turns as (order by due.due_at, due.notification_id)
), claimed as (
  update notification_queue q set tries = q.tries + 1, due_at = clock_timestamp() + make_interval(secs => measured.gap)
  from measured where q.ctid = measured.row_ctid and measured.bytes_before < $7 and q.due_at <= statement_timestamp()
  returning q.notification_id, q.tries, measured.gap * 1000 as "againMs"
), answer as (
  select n.id, n.body, claimed.tries, n.received_at < now() - interval '24 hours' as expired, claimed."againMs"
  from claimed cross join lateral (
    select id, body, received_at from platform_notification n where n.id = claimed.notification_id) as n
)
select ${GRANT_COLUMNS}, answer.* from lane_grant left join answer on true`;

const NEXT_HISTORY = `
select id, body from platform_notification
where id > $1 and unread is not null and unread ? 'history' and position($2::bytea in body) > 0 order by id limit 1`;

const WAITS = `from notification_queue
  where due_at >= coalesce((select low_at from lane where key = '${INBOUND_LANE}'), '-infinity')`;
const BACKLOG = `
select ${boundedCount(WAITS)} as waiting, 0 as "inFlight",
  ${secondsSince(`(select due_at ${WAITS} order by due_at limit 1)`)} as "oldestDueSeconds"`;

function keyOf(whose: Whose): unknown {
  if (typeof whose === 'string') return whose;
  return [...whose.numbers, ...whose.userIds].map((name) => Buffer.from(name, 'utf8'));
}

// SQL condition: the body of the notification "page" contains one of the texts $1, which identify the contact.
const NAMES = 'exists (select from unnest($1::bytea[]) as name where position(name in page.body) > 0)';

/**
 * SQL condition: the body of "page" contains the id of a number of the workspace $1, or of an account. An account's id
 * counts only if no other workspace has a number of the account.
 */
const OF_NUMBERS = `exists (
    select from connection c where c.organization_id = $1 and (
      position(convert_to(c.phone_number_id, 'UTF8') in page.body) > 0
      or position(convert_to(c.waba_id, 'UTF8') in page.body) > 0 and not exists (
        select from connection o where o.waba_id = c.waba_id and o.organization_id <> $1)))`;

// SQL condition: the body of "page" contains the callback data of one of the workspace's codes: the id of its attempt.
const OF_CODES = `exists (
    select from regexp_matches(encode(page.body, 'escape'),
      '"biz_opaque_callback_data"\\s*:\\s*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"', 'g') as sent (ids)
    join otp_challenge c on c.attempt_id = sent.ids[1]::uuid where c.organization_id = $1)`;

const find = (isHit: string, among: string): string => `
with looked_at as materialized (
  select page.id, page.state <> 'stored' and ${isHit} as is_hit
  from ${among} page where page.id > $2 order by page.id limit $3
)
select array(select id from looked_at where is_hit) as ids,
  case when (select count(*) from looked_at) = $3 then (select id from looked_at order by id desc limit 1) end as cursor`;

/** Makes PostgreSQL use the BRIN index, which only bitmap scans can read. */
const BY_BITMAP = 'set local enable_seqscan = off; set local enable_indexscan = off; set local jit = off';
const hashesOf = (names: string): string => `array(select ${hashOfName('name')} from unnest(${names}::text[]) as name)`;

const FIND_NAMED = find(
  NAMES,
  `(select id, state, body from platform_notification
    where number_hash = any(${hashesOf('$4')}) or user_hash = any(${hashesOf('$5')}) offset 0)`,
);
const FIND_UNNAMED = find(
  NAMES,
  '(select id, state, body from platform_notification where number_hash is null and user_hash is null)',
);
const FIND_OF_WORKSPACE = find(`(${OF_NUMBERS} or ${OF_CODES})`, 'platform_notification');
