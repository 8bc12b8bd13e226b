import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { dueTableLanes, type MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import type { DueSince } from '../../../infrastructure/queue/sweeps.js';
import {
  claimOf,
  type Claim,
  type ClaimRow,
  GRANTED_SLOTS,
  GRANT_COLUMNS,
  grantParams,
  laneGrants,
  type ClaimRequest,
} from '../../../infrastructure/queue/lane-grant.js';
import { FETCH_LANE, withMediaEvents } from '../media.repository.js';
import type { MediaObject } from '../media.types.js';

/** A customer's file that this process is fetching. */
export interface ClaimedFile extends Pick<
  MediaObject,
  'id' | 'organizationId' | 'connectionId' | 'mimeType' | 'sha256'
> {
  platformMediaId: string;
  /** Number of fetches started, including this one. This number and the owner identify the claim. */
  tries: number;
  owner: string;
}

type FileRow = ClaimRow<Omit<ClaimedFile, 'owner'>>;

/** A claimed file is fetched again if its claim was not renewed for this long. */
export const FETCH_LEASE_MS = 60_000;
/** WhatsApp keeps a customer's file for seven days (developers.facebook.com, Cloud API, media); minus an hour. */
export const FETCH_FOR_HOURS = 7 * 24 - 1;

/** Limit of numbers whose files one statement fails. The numbers are chosen at random, so each gets its turn. */
const EXPIRED_NUMBERS = 5;

/** The lane of a connection's files. The lane of its messages has the connection's id alone. */
export function fetchLaneOf(connectionId: string): string {
  return `${FETCH_LANE}${connectionId}`;
}

export function connectionOfLane(laneKey: string): string {
  return laneKey.slice(FETCH_LANE.length);
}

/**
 * The fetch lane's statements on `media_object`. A claim moves `next_attempt_at` to the end of the lease, so that a
 * file whose process died is due again by itself.
 */
@Injectable()
export class FetchRepository {
  /** Lanes with due files. */
  readonly dueLanes: MarkedLanes;

  constructor(private readonly database: Database) {
    this.dueLanes = dueTableLanes(database, {
      table: 'connection',
      prefix: FETCH_LANE,
      where: 'true',
      dueSince: DUE_SINCE,
      nextWaiting: (after) => `(select m.connection_id from media_object m
        where m.connection_id > ${after} and m.next_attempt_at is not null order by m.connection_id, m.next_attempt_at limit 1)`,
    });
  }

  /** Claims up to `limit` due files of the lane, the longest due first. */
  async claim(request: ClaimRequest, withinMs?: number): Promise<Claim<ClaimedFile>> {
    const { laneKey, owner } = request;
    const params = [...grantParams([request]), connectionOfLane(laneKey), FETCH_LEASE_MS / 1_000];
    const rows = await this.database.byIndex(() => this.database.query<FileRow>(CLAIM, params), withinMs);
    const { grant, items } = claimOf(rows);
    return { grant, items: items.map((file) => ({ ...file, owner })) };
  }

  /** Extends a lease. Returns false where the file was deleted or claimed again. */
  renew(file: ClaimedFile): Promise<boolean> {
    return this.database.changes(
      `update media_object set lease_until = clock_timestamp() + make_interval(secs => $5),
         next_attempt_at = clock_timestamp() + make_interval(secs => $5)
       ${MINE}`,
      [...fenceOf(file), FETCH_LEASE_MS / 1_000],
    );
  }

  /**
   * Gives the file back for a later try. If WhatsApp would have deleted the file by then, the file fails instead.
   *
   * @param mostTries limit for the stored count of tries, where the try was not the file's fault
   */
  async retry(file: ClaimedFile, failure: string, delayMs: number, mostTries: number | null): Promise<void> {
    await this.database.execute(
      withMediaEvents(`update media_object set tries = least(tries, $8::integer),
         status = case when ${TOO_OLD} then 'failed' else 'pending' end,
         next_attempt_at = case when ${TOO_OLD} then null else clock_timestamp() + make_interval(secs => $6) end,
         lease_owner = null, lease_until = null, failure = $5
       ${MINE} returning *`),
      [...fenceOf(file), failure, delayMs / 1_000, FETCH_FOR_HOURS, mostTries],
    );
  }

  /** Gives the file back unchanged: nothing was tried. */
  async release(file: ClaimedFile, failure: string | null): Promise<void> {
    await this.database.execute(
      `update media_object set tries = tries - 1, next_attempt_at = clock_timestamp(), lease_owner = null,
         lease_until = null, failure = coalesce($5, failure)
       ${MINE}`,
      [...fenceOf(file), failure],
    );
  }

  /** Ends the tries: the file is `failed`. */
  async fail(file: ClaimedFile, failure: string): Promise<void> {
    await this.database.execute(
      withMediaEvents(`update media_object set status = 'failed', next_attempt_at = null, lease_owner = null,
         lease_until = null, failure = $5
       ${MINE} returning *`),
      [...fenceOf(file), failure],
    );
  }

  /**
   * Fails pending files that WhatsApp has deleted by now, up to `limit` per number. Returns how many failed.
   */
  async expire(limit: number): Promise<number> {
    return this.database.execute(EXPIRE, [FETCH_FOR_HOURS, limit]);
  }
}

/** SQL condition: the row is still claimed by this claim. $1 file, $2 workspace, $3 owner, $4 tries. */
const MINE = `where id = $1 and organization_id = $2 and status = 'pending' and lease_owner = $3 and tries = $4`;

function fenceOf(file: ClaimedFile): unknown[] {
  return [file.id, file.organizationId, file.owner, file.tries];
}

const TOO_OLD = `created_at + make_interval(hours => $7) < clock_timestamp() + make_interval(secs => $6)`;

// $1 to $6 the lane, $7 connection, $8 lease seconds.
const CLAIM = `
with ${laneGrants({ runsWhileBlocked: true })}, picked as (
  select id from media_object
  where connection_id = $7 and status = 'pending'
    and next_attempt_at between (select low_at from lane_grant) and statement_timestamp()
  order by connection_id, next_attempt_at limit ${GRANTED_SLOTS}
  for update skip locked
), claimed as (
  update media_object m set tries = m.tries + 1, lease_owner = $2,
    lease_until = clock_timestamp() + make_interval(secs => $8),
    next_attempt_at = clock_timestamp() + make_interval(secs => $8)
  from picked where m.id = picked.id
  returning m.id, m.organization_id as "organizationId", m.connection_id as "connectionId",
    m.platform_media_id as "platformMediaId", m.mime_type as "mimeType", m.sha256, m.tries
)
select ${GRANT_COLUMNS}, claimed.* from lane_grant left join claimed on true`;

const EXPIRE = withMediaEvents(`
update media_object m set status = 'failed', next_attempt_at = null, lease_owner = null, lease_until = null,
  failure = coalesce(m.failure, 'The file was not fetched before the platform deleted it.')
where id = any(array(
  select old.id from (select id from connection order by random()) as c left join lane l on l.key = '${FETCH_LANE}' || c.id cross join lateral (
    select o.id from media_object o
    where o.connection_id = c.id and o.next_attempt_at >= coalesce(l.low_at, '-infinity') and o.status = 'pending'
      and o.created_at < statement_timestamp() - make_interval(hours => $1)
      and (o.lease_until is null or o.lease_until < clock_timestamp())
    order by o.connection_id, o.next_attempt_at limit $2 for update skip locked) as old
  limit $2 * ${EXPIRED_NUMBERS}))
returning *`);

const DUE_SINCE: DueSince = (from) => `(select m.next_attempt_at from media_object m
    where m.connection_id = lane_of.id and m.next_attempt_at >= ${from} and m.next_attempt_at <= statement_timestamp()
      and m.status = 'pending'
    order by m.connection_id, m.next_attempt_at limit 1)`;
