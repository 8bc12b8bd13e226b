import { Injectable } from '@nestjs/common';
import { FIRST_ID, lowestIdSince } from '../../common/ids.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { GroupCommit } from '../../infrastructure/database/group-commit.js';
import { SweepPlace } from '../../infrastructure/lanes/sweeps.js';
import { FOUND_ON_PAGE, type FoundPage, type Subject } from '../workspaces/erasure/erasure.service.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';

export type NotificationState = 'stored' | 'applied' | 'unmatched' | 'unreadable' | 'failed';

export interface NewNotification {
  id: string;
  /** The bytes as they came. */
  body: Buffer;
  state: NotificationState;
  /** Names of what in it Herald does not know or use; null where there is nothing of the kind. */
  unread: readonly string[] | null;
}

export interface DueNotification {
  id: string;
  body: Buffer;
  /** How often it was tried by the sweep, this time included. */
  tries: number;
  /** It came more than 24 hours ago. */
  expired: boolean;
}

/** A contact, or a workspace by its id. */
type Whose = Subject | string;

/** A body larger than this is written by itself, so that no batch grows without bound. */
export const LARGE_BYTES = 64 * 1_024;
/** The first try by the sweep is 5 s after the notification came, which is the column's default. */
const FIRST_GAP_SECONDS = 20;
const MAX_GAP_SECONDS = 3_600;
/** Of a search through all of them. */
const PAGE = 500;

/** The table `platform_notification`: every notification as it came, and whether it has been applied. */
@Injectable()
export class InboundRepository {
  private readonly storing: GroupCommit<NewNotification, void>;
  private readonly place = new SweepPlace();
  private readonly old = new BatchPlace(FIRST_ID);

  constructor(private readonly database: Database) {
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
   * Resolves once the notification is durable. One that is stored already changes its state, unless it is settled.
   *
   * @throws SERVICE_UNAVAILABLE (503) when too many wait or the outcome of the commit is unknown.
   */
  async store(notification: NewNotification): Promise<void> {
    if (notification.body.length > LARGE_BYTES) await this.insert([notification], this.database);
    else await this.storing.submit(notification);
  }

  /** As `store`, of many, on the statements of the transaction that applies them. */
  async insert(notifications: readonly NewNotification[], statements: Statements): Promise<void> {
    if (notifications.length === 0) return;
    await statements.execute(INSERT, [
      notifications.map((notification) => notification.id),
      notifications.map((notification) => notification.body),
      notifications.map((notification) => notification.state),
      notifications.map(({ unread }) => (unread === null ? null : JSON.stringify(unread))),
    ]);
  }

  /** Removes notifications that are done with, that were received before this time, found by their ids; returns how many. */
  removeOld(before: Date, limit: number): Promise<number> {
    const remove = `delete from platform_notification where id = any(array(
        select id from platform_notification
        where id > $1 and id < $3 and state <> 'stored' and received_at < $4 order by id limit $2))
      returning id::text as place`;
    return this.old.run(this.database, remove, limit, [lowestIdSince(before), before]);
  }

  /**
   * Stored notifications whose turn it is, oldest turn first; each is left alone until its next turn, which comes later
   * every time (20 s, 80 s ... an hour), so a process that dies over it costs a turn and nothing else.
   *
   * @param limit notifications at the most.
   * @param maxBytes bodies up to about this many bytes, one at least.
   */
  async claimDue(limit: number, maxBytes: number): Promise<DueNotification[]> {
    const params = [limit, maxBytes, FIRST_GAP_SECONDS, MAX_GAP_SECONDS, this.place.next()];
    const rows = await this.database.query<DueNotification & { lookedAt: string }>(CLAIM, params);
    const due = rows.filter(({ id }) => id !== null);
    if (due.length === 0) this.place.reached(rows[0]?.lookedAt ?? null);
    return due;
  }

  /** What is stored and not applied yet. */
  backlog(): Promise<Backlog> {
    return this.database.row<Backlog>(BACKLOG);
  }

  /**
   * Processed notifications about a contact or a workspace, on the next page of all notifications; the cursor is null
   * on the last one.
   */
  findOf(whose: Whose, after: string | null): Promise<FoundPage> {
    const statement = typeof whose === 'string' ? FIND_OF_WORKSPACE : FIND_OF_CONTACT;
    return this.database.row<FoundPage>(statement, [keyOf(whose), after ?? FIRST_ID, PAGE]);
  }

  /** Removes notifications that are done with. */
  async remove(ids: readonly string[]): Promise<void> {
    const sql = `delete from platform_notification where id = any($1::uuid[]) and state <> 'stored'`;
    await this.database.execute(sql, [ids]);
  }

  /** How many notifications about a contact or a workspace are not applied yet. */
  countStored(whose: Whose): Promise<number> {
    const isHit = typeof whose === 'string' ? OF_NUMBERS : NAMES;
    return this.database.count(
      `select count(*)::integer as count from platform_notification page where state = 'stored' and ${isHit}`,
      [keyOf(whose)],
    );
  }

  /** Resolves when no caller waits. */
  idle(): Promise<void> {
    return this.storing.idle();
  }
}

// Ordered, so that two batches that share notifications never deadlock.
const INSERT = `
insert into platform_notification as n (id, body, state, unread)
select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::jsonb[]) order by 1
on conflict (id) do update set state = excluded.state, unread = excluded.unread where n.state = 'stored' and excluded.state <> 'stored'`;

// $5 from when. now() and not clock_timestamp(), which no index could be searched with.
const CLAIM = `
with due as (
  select id, next_try_at, octet_length(body) as bytes from platform_notification
  where state = 'stored' and next_try_at <= now() and next_try_at >= ${SweepPlace.from('$5')}
  order by next_try_at limit $1 for update skip locked
), measured as (
  select id, sum(bytes) over (order by next_try_at, id) - bytes as bytes_before from due
), claimed as (
  update platform_notification n set tries = n.tries + 1,
    next_try_at = clock_timestamp() + make_interval(secs => least($4::double precision, $3 * power(4, least(n.tries, 10))))
  from measured where n.id = measured.id and measured.bytes_before < $2
  returning n.id, n.body, n.tries, n.received_at < now() - interval '24 hours' as expired
)
select claimed.*, now()::text as "lookedAt" from (values (1)) as look left join claimed on true`;

const BACKLOG = `
select ${boundedCount("from platform_notification where state = 'stored'")} as waiting, 0 as "inFlight",
  ${secondsSince(`(
    select next_try_at from platform_notification where state = 'stored' order by next_try_at limit 1)`)}
  as "oldestDueSeconds"`;

function keyOf(whose: Whose): unknown {
  if (typeof whose === 'string') return whose;
  return [...whose.numbers, ...whose.userIds].map((name) => Buffer.from(name, 'utf8'));
}

// What identifies the contact or workspace is $1; a notification stands in "page".
const NAMES = 'exists (select from unnest($1::bytea[]) as name where position(name in page.body) > 0)';

/** An account's id identifies this workspace only where no other has a number of the account. */
const OF_NUMBERS = `exists (
    select from connection c where c.organization_id = $1 and (
      position(convert_to(c.phone_number_id, 'UTF8') in page.body) > 0
      or position(convert_to(c.waba_id, 'UTF8') in page.body) > 0 and not exists (
        select from connection o where o.waba_id = c.waba_id and o.organization_id <> $1)))`;

// What was sent along with a code: the id of its attempt.
const OF_CODES = `exists (
    select from regexp_matches(encode(page.body, 'escape'),
      '"biz_opaque_callback_data"\\s*:\\s*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"', 'g') as sent (ids)
    join otp_challenge c on c.attempt_id = sent.ids[1]::uuid where c.organization_id = $1)`;

const find = (isHit: string): string => `
with page as materialized (
  select id, state, body from platform_notification where id > $2 order by id limit $3
), hit as (
  select id from page where state <> 'stored' and ${isHit}
)${FOUND_ON_PAGE}`;

const FIND_OF_CONTACT = find(NAMES);
const FIND_OF_WORKSPACE = find(`(${OF_NUMBERS} or ${OF_CODES})`);
