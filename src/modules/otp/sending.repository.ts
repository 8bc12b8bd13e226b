import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { FIRST_ID, newId } from '../../common/ids.js';
import { Database, hasRow } from '../../infrastructure/database/database.js';
import {
  claimOf,
  type Claim,
  type ClaimRow,
  GRANTED_SLOTS,
  GRANT_COLUMNS,
  grantParams,
  laneGrants,
  type ClaimRequest,
} from '../../infrastructure/queue/lane-grant.js';
import { UNCERTAIN_BEFORE } from '../../infrastructure/queue/claims-blocked.js';
import { claimsEnded, runClaim } from '../../infrastructure/queue/lost-claims.js';
import { ALL_OFTEN_MS, type DueSince, SweepCursor } from '../../infrastructure/queue/sweeps.js';
import type { OtpPackageMove } from '../billing/otp-packages.types.js';
import { lateOf, NOTE_LATE } from '../usage/usage.types.js';
import {
  INDEXED_STATUS,
  OPEN_SQL,
  QUEUE_SECONDS,
  release,
  released,
  WIPE,
  movesOf,
  type MoveRow,
  type NewChallenge,
} from './otp.repository.js';
import { OTP_LANE } from './otp-sender.service.js';
import type { ChallengeRef, OtpStatusReport } from './otp.types.js';

/** A claimed code: this process may send it once, before its lease runs out. */
export type ClaimedCode = ChallengeRef &
  Pick<NewChallenge, 'recipient' | 'attemptId' | 'templateLanguage'> & { codeCiphertext: Buffer };

/** The outcome of sending one code. */
export type CodeOutcome =
  { kind: 'sent'; metaMessageId: string } | { kind: 'failed'; error: string } | { kind: 'unknown' };

/** A claimed code becomes `outcome_unknown` if no outcome is recorded within this time. */
export const LEASE_MS = 20_000;

/** A report, with the category of its failure. */
export type CodeReport = Omit<OtpStatusReport, 'error'> & { category: string };

/** Statements on `otp_challenge` for sending: claims, outcomes, reports, ends. */
@Injectable()
export class SendingRepository {
  private readonly leases = new SweepCursor();
  private readonly ends = new SweepCursor(ALL_OFTEN_MS);

  constructor(private readonly database: Database) {}

  /**
   * Claims due codes, one per project in turn, so that many codes of one project do not delay another's.
   *
   * @param after the last project served: the claim begins with the project after it. Where the pace allows one code at
   * a time, only this lets the projects take turns.
   * @throws LostClaimError where the claim may have been committed.
   */
  async claim(request: ClaimRequest, after: string | null): Promise<Claim<ClaimedCode>> {
    const attemptIds = Array.from({ length: request.limit }, () => newId());
    const params = [...grantParams([request]), LEASE_MS / 1_000, after, attemptIds];
    const statement = (): Promise<ClaimRow<ClaimedCode>[]> => this.database.query(CLAIM, params);
    return claimOf(await runClaim(this.database, attemptIds, statement));
  }

  /** Returns those of the given attempts that exist and are the last attempts of their codes. */
  async findAttempts(attemptIds: readonly string[]): Promise<string[]> {
    await claimsEnded(this.database, [OTP_LANE]);
    const rows = await this.database.query<{ attempt_id: string }>(
      'select attempt_id from otp_challenge where attempt_id = any($1)',
      [attemptIds],
    );
    return rows.map((row) => row.attempt_id);
  }

  /** Milliseconds since the oldest code that may be sent was accepted; null where no code waits. */
  async dueForMs(): Promise<number | null> {
    return (await this.database.row<{ due_ms: number | null }>(DUE)).due_ms;
  }

  /**
   * Puts a code, whose request was certainly not written, back into the queue. Returns false where the code's state has
   * changed meanwhile. The next attempt has a new id, so late results of this attempt, and a repeat of this call, do
   * not affect it.
   */
  release(attemptId: string): Promise<boolean> {
    return this.database.changes(
      `update otp_challenge set status = 'queued', lease_until = null, sending_at = null, attempt_id = $2
       where attempt_id = $1 and status = 'sending'`,
      [attemptId, newId()],
    );
  }

  /** Records the outcome of a send, in the ambient transaction. The challenge's state may have changed meanwhile. */
  async record(attemptId: string, outcome: CodeOutcome): Promise<OtpPackageMove[]> {
    if (outcome.kind === 'unknown') {
      await this.database.execute(
        `update otp_challenge set status = 'outcome_unknown', ${WIPE}
         where attempt_id = $1 and status = 'sending'`,
        [attemptId],
      );
      return [];
    }
    const [sql, detail] = outcome.kind === 'sent' ? [SENT, outcome.metaMessageId] : [FAILED, outcome.error];
    return movesOf(await this.database.query<MoveRow>(sql, [attemptId, detail]));
  }

  /**
   * Applies WhatsApp's reports, in the ambient transaction. Returns one result per report, in the same order; null
   * where the report names no challenge.
   */
  async applyReports(reports: readonly CodeReport[]): Promise<(OtpPackageMove[] | null)[]> {
    const rows = await this.database.query<{ id: string; attempt_id: string; meta_message_id: string | null }>(
      FIND_REPORTED,
      [
        reports.flatMap(({ callbackData }) => callbackData ?? []),
        reports.flatMap(({ callbackData, metaMessageId }) => (callbackData === null ? metaMessageId : [])),
      ],
    );
    const byId = new Map(rows.flatMap((row) => [row.attempt_id, row.meta_message_id].map((id) => [id, row.id])));
    const results = reports.map((): OtpPackageMove[] | null => null);
    // A statement changes a row only once, so a code's second report goes into the second statement.
    const rounds: Map<string, number>[] = [];
    const seen = new Map<string, number>();
    for (const [index, { callbackData, metaMessageId }] of reports.entries()) {
      const id = byId.get(callbackData ?? metaMessageId);
      if (id === undefined) continue;
      const round = seen.get(id) ?? 0;
      seen.set(id, round + 1);
      (rounds[round] ??= new Map()).set(id, index);
    }
    const late = lateOf([...seen.keys()], databaseClock.now());
    if (late.length > 0) await this.database.execute(NOTE_LATE, [late]);
    for (const round of rounds) {
      const given = [...round].map(([id, index]) => ({ ...reports[index], id }));
      for (const [sql, those] of [
        [FAILED_REPORTS, given.filter(({ status }) => status === 'failed')],
        [ARRIVED, given.filter(({ status }) => status !== 'failed')],
      ] as const) {
        if (those.length === 0) continue;
        for (const row of await this.database.query<MoveRow & { id: string }>(sql, [JSON.stringify(those)])) {
          results[round.get(row.id) ?? -1] = movesOf([row]);
        }
      }
    }
    return results;
  }

  /** Ends one challenge early, in the ambient transaction. */
  async end(id: string): Promise<OtpPackageMove[]> {
    const rows = await this.database.query<MoveRow>(
      `with ended as (
         select id, status, released_at from otp_challenge where id = $1 and status in ${OPEN_SQL} for update
       )
       update otp_challenge c set status = 'expired', ${release('ended')} from ended where c.id = ended.id
       returning ${released('ended')}`,
      [id],
    );
    return movesOf(rows);
  }

  /** Ends expired codes, and fails codes that have waited too long to be sent. Runs in the ambient transaction. */
  async endOverdue(limit: number): Promise<{ ended: number; moves: OtpPackageMove[] }> {
    const rows = await this.database.query<MoveRow & Looked>(END_OVERDUE, [limit, this.ends.next()]);
    const ended = endedOf(rows);
    if (ended.length < limit) this.ends.reached(rows[0]?.looked_at ?? null);
    return { ended: ended.length, moves: movesOf(ended) };
  }

  /** Sets codes whose sender died or hangs to `outcome_unknown`; they are never sent again. Returns how many. */
  async expireLeases(limit: number): Promise<number> {
    const rows = await this.database.query<Looked>(EXPIRE_LEASES, [limit, this.leases.next()]);
    const lost = endedOf(rows).length;
    if (lost < limit) this.leases.reached(rows[0]?.looked_at ?? null);
    return lost;
  }
}

/** A row of a sweep's result. If nothing ended there is one row, with `ended` false and the time of the query. */
interface Looked {
  ended: boolean;
  looked_at: string;
}

function endedOf<Row extends Looked>(rows: readonly Row[]): Row[] {
  return rows.filter(({ ended }) => ended);
}

/**
 * SQL conditions: a code has expired, or has waited too long, at the time `now`; only codes after the sweep's cursor
 * `from` are read. While claims are blocked, a waiting code that may have been sent does not end: its user can still
 * verify it.
 */
const expired = (now: string, from: string): string =>
  `${INDEXED_STATUS} in ${OPEN_SQL} and expires_at <= ${now} and expires_at >= ${from} and ${MAY_END}`;
const waitedTooLong = (now: string, from: string): string =>
  `${INDEXED_STATUS} = 'queued' and created_at <= ${now} - interval '${QUEUE_SECONDS} seconds'
    and created_at >= ${from} - interval '${QUEUE_SECONDS} seconds' and ${MAY_END}`;
/** SQL: since when `endOverdue` has work. */
export const OVERDUE_SINCE: DueSince = (from) => `least(
  (select expires_at from otp_challenge where ${expired('now()', from)} order by expires_at limit 1),
  (select created_at + interval '${QUEUE_SECONDS} seconds' from otp_challenge where ${waitedTooLong('now()', from)}
   order by created_at limit 1))`;

const MAY_END = `(status <> 'queued' or created_at >= ${UNCERTAIN_BEFORE})`;

// Rows are joined by ctid only, as in a claim.
const EXPIRE_LEASES = `
with lost as (
  select ctid as tid from otp_challenge
  where status = 'sending' and lease_until < statement_timestamp() and lease_until >= ${SweepCursor.from('$2')}
  order by lease_until limit $1 for update skip locked
), ended as (
  update otp_challenge c set status = 'outcome_unknown', ${WIPE} from lost where c.ctid = lost.tid returning true as ended
)
select coalesce(ended, false) as ended, statement_timestamp()::text as looked_at
from (values (1)) as look left join ended on true`;

/**
 * SQL condition: a code has not waited too long. Older codes are never claimed. With this condition the index scan
 * skips removed rows, which stay in the index while an old transaction is open. The condition has
 * statement_timestamp(), because an index cannot be searched with clock_timestamp().
 */
const YOUNG = `created_at > statement_timestamp() - interval '${QUEUE_SECONDS} seconds'`;
// SQL condition: a code waits. Its form is exactly that of the index otp_challenge_turn. Since hardly any code waits,
// all indexes of codes look equal to the planner. Without this form it would read, for each project, an index of all
// open codes with all removed rows.
const WAITS = `${INDEXED_STATUS} = 'queued' and ${YOUNG}`;
const CLAIMABLE = `${WAITS} and code_ciphertext is not null and expires_at > clock_timestamp()`;
/** SQL: some code waits. */
export const HAS_WAITING = hasRow(`from otp_challenge where ${WAITS}`, 'project_id, created_at, seq');
const LAST = `'ffffffff-ffff-ffff-ffff-ffffffffffff'`;

/** SQL: the first project after `behind`, up to `upto`, with a code to send, and when its oldest code was accepted. */
const nextProject = (behind: string, upto = `${LAST}::uuid`): string => `
  select project_id, created_at from otp_challenge
  where project_id > ${behind} and project_id <= ${upto} and ${CLAIMABLE}
  order by project_id, created_at, seq limit 1`;

const DUE = `
with recursive project as (
  (${nextProject(`'${FIRST_ID}'`)})
  union all
  select next.* from project cross join lateral (${nextProject('project.project_id')}) as next
)
select (extract(epoch from clock_timestamp() - min(created_at)) * 1000)::float8 as due_ms from project`;

// $1 to $6 the lane, $7 lease seconds, $8 the last project served, $9 an attempt id for each place. Walks the projects
// after $8, then those up to it, in each part as many as the claim takes, since further ones could not have a turn.
// Rows are joined by ctid only: by columns, the planner might read an index of waiting codes with all removed rows.
const CLAIM = `
with recursive ${laneGrants()}, project as (
  select next.project_id, part.upto, 1 as n
  from (values (coalesce($8::uuid, '${FIRST_ID}'), ${LAST}::uuid), ('${FIRST_ID}', $8::uuid)) as part (behind, upto)
  cross join lateral (${nextProject('part.behind', 'part.upto')}) as next
  union all
  select next.project_id, project.upto, project.n + 1
  from project cross join lateral (${nextProject('project.project_id', 'project.upto')}) as next
  where project.n < ($3::integer[])[1]
), head as (
  select due.tid, project.project_id,
    row_number() over (partition by project.project_id order by due.created_at, due.seq) as turn
  from project cross join lateral (
    select ctid as tid, created_at, seq from otp_challenge where project_id = project.project_id and ${CLAIMABLE}
    order by created_at, seq limit ($3::integer[])[1]) as due
), picked as materialized (
  select tid, (row_number() over turns)::integer as place from head
  window turns as (order by turn, coalesce(project_id <= $8::uuid, false), project_id)
  order by place limit ${GRANTED_SLOTS}
), locked as (
  select c.ctid as tid, c.status = 'queued' and c.code_ciphertext is not null as may from otp_challenge c
  where c.ctid = any(array(select tid from picked))
  for update of c skip locked
), claimed as (
  update otp_challenge c set status = 'sending', sending_at = clock_timestamp(),
    attempt_id = ($9::uuid[])[picked.place],
    lease_until = clock_timestamp() + make_interval(secs => $7)
  from locked join picked on picked.tid = locked.tid where c.ctid = locked.tid and locked.may
  returning c.id, c.organization_id as "organizationId", c.project_id as "projectId",
    coalesce(c.number, c.recipient) as recipient,
    c.attempt_id as "attemptId", c.code_ciphertext as "codeCiphertext", c.template_language as "templateLanguage",
    picked.place
)
select ${GRANT_COLUMNS}, claimed.* from lane_grant left join claimed on true order by claimed.place`;

/**
 * @param found the present challenge, with the `category` of the failure. After "delivered" a failure concerns another
 * device.
 */
const failed = (found: string): string => `
with found as (${found})
update otp_challenge c set
  status = case when c.status in ('queued', 'sending', 'sent', 'outcome_unknown') then 'failed' else c.status end,
  error = case when c.status in ('queued', 'sending', 'sent', 'outcome_unknown') then found.category else c.error end,
  ${WIPE}, released_at = case when c.delivered_at is null and c.read_at is null
    then coalesce(c.released_at, clock_timestamp()) else c.released_at end
from found where c.id = found.id and c.id = any(array(select id from found))
returning c.id, c.package_id, found.package_used, false as used_now,
  found.released_at is null and c.released_at is not null as released_now`;

const FAILED = failed(`
  select id, package_used, released_at, $2::text as category from otp_challenge where attempt_id = $1 for update`);

// Finds a challenge by our attempt id, or, if WhatsApp left that out, by its own id of the message. Row by row, here
// and below: a join would read a table that looks small as a whole.
const FIND_REPORTED = `
with found as materialized (
  select c.id from unnest($1::uuid[]) as given (id)
  cross join lateral (select id from otp_challenge where attempt_id = given.id offset 0) as c
  union all
  select c.id from unnest($2::text[]) as given (id)
  cross join lateral (select id from otp_challenge where meta_message_id = given.id offset 0) as c
)
select id, attempt_id, meta_message_id from otp_challenge
where id = any(array(select id from found)) order by id for update`;

const REPORTED = `
  select c.id, c.package_used, c.released_at, r.category, r.status, r."metaMessageId",
    least(coalesce(r."occurredAt", clock_timestamp()), clock_timestamp()) as at
  from json_to_recordset($1) as r (id uuid, status text, "metaMessageId" text, "occurredAt" timestamptz, category text)
  cross join lateral (
    select id, package_used, released_at from otp_challenge where id = r.id offset 0) as c`;

const FAILED_REPORTS = failed(REPORTED);

/**
 * @param found the present challenge, with the `status` reached and its time `at`, and WhatsApp's id. A state never
 * moves back, a verified or superseded code keeps its state, and no time is before that of the previous state, since
 * WhatsApp's times are whole seconds.
 */
const arrived = (found: string): string => `
with found as (${found})
update otp_challenge c set
  status = case
    when c.status in ('queued', 'sending', 'outcome_unknown') then r.status
    when c.status = 'sent' and r.status in ('delivered', 'read') then r.status
    when c.status = 'delivered' and r.status = 'read' then r.status
    else c.status end,
  -- WhatsApp's id contains the number, which retention or an erasure may have removed.
  meta_message_id = case when c.recipient is not null then coalesce(c.meta_message_id, r."metaMessageId") end, ${WIPE},
  sent_at = case when r.status = 'sent'
    then coalesce(c.sent_at, least(greatest(r.at, c.created_at), c.delivered_at, c.read_at)) else c.sent_at end,
  delivered_at = case when r.status = 'delivered'
    then coalesce(c.delivered_at, least(greatest(r.at, c.created_at, c.sent_at), c.read_at)) else c.delivered_at end,
  read_at = case when r.status = 'read'
    then coalesce(c.read_at, greatest(r.at, c.created_at, c.sent_at, c.delivered_at)) else c.read_at end,
  package_used = c.released_at is null
from found r where c.id = r.id and c.id = any(array(select id from found))
returning c.id, c.package_id, c.package_used, not r.package_used and r.released_at is null as used_now,
  false as released_now`;

// The answer to a send.
const SENT = arrived(`
  select id, package_used, released_at, 'sent' as status, $2::text as "metaMessageId", clock_timestamp() as at
  from otp_challenge where attempt_id = $1 for update`);

const ARRIVED = arrived(REPORTED);

// $1 limit, $2 from when. Walks two indexes from both ends, so that very many codes of one project do not delay those
// behind them.
const END_OVERDUE = `
with overdue as materialized (
  ${['asc', 'desc']
    .map(
      (
        order,
      ) => `(select ctid as tid from otp_challenge where ${expired('statement_timestamp()', SweepCursor.from('$2'))}
   order by expires_at ${order} limit $1)
  union
  (select ctid from otp_challenge where ${waitedTooLong('statement_timestamp()', SweepCursor.from('$2'))}
   order by created_at ${order} limit $1)`,
    )
    .join(' union ')}
), ending as (
  select c.ctid as tid, c.status, c.expires_at <= clock_timestamp() as expired, c.released_at
  from otp_challenge c
  where c.ctid = any(array(select tid from overdue)) and c.status in ${OPEN_SQL} and ${MAY_END}
  order by c.id for update of c skip locked
), ended as (
  update otp_challenge c set status = case when ending.expired then 'expired' else 'failed' end,
    error = case when ending.expired then c.error else 'platform_unavailable' end, ${release('ending')}
  from ending where c.ctid = ending.tid
  returning ${released('ending')}
)
select ended.*, ended.used_now is not null as ended, statement_timestamp()::text as looked_at
from (values (1)) as look left join ended on true`;
