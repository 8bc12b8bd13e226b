import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { UNCERTAIN_BEFORE } from '../../infrastructure/queue/claims-blocked.js';
import type { OtpPackageMove } from '../billing/otp-packages.types.js';
import type { OtpChallengeResponse } from './dto/otp.response.js';
import type { CodeHash } from './otp-code.js';
import { MAX_ATTEMPTS, type ChallengeRef, type OtpMode } from './otp.types.js';

/** States in which a challenge can still be verified, as SQL. */
export const OPEN_SQL = `('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read')`;

/** A code that has waited this long is given up: by then its user has requested another code, or left. */
export const QUEUE_SECONDS = 30;

/**
 * SQL: the state of a code in the form of the indexes of waiting and open codes. Only a condition with this expression
 * can use them: otherwise the planner would read all past codes to find one by id, since it expects hardly any open
 * ones.
 */
export const INDEXED_STATUS = `status || ''`;

/**
 * SQL: a challenge as its project sees it; `c` is the row. A code that has expired by the database's clock is shown as
 * `expired`, even if no sweep has run since.
 */
const CHALLENGE = `c.id, 'whatsapp' as channel, c.mode, coalesce(c.number, c.recipient) as recipient,
  case when c.status in ${OPEN_SQL} and c.expires_at <= clock_timestamp() then 'expired' else c.status end as status,
  ${MAX_ATTEMPTS} - c.attempts as attempts_remaining, c.error, c.created_at, c.expires_at, c.sent_at, c.delivered_at,
  c.read_at, c.verified_at`;

/** Limit of wrong codes for one number of a project in a day, over all challenges. */
export const FAILURE_BUDGET = 20;
const FAILURE_SECONDS = 24 * 3_600;
/** Sends to one number: five at once, then one per two minutes, and never two within a minute. */
const SEND_BURST = 5;
const SEND_EVERY_SECONDS = 120;
const RESEND_SECONDS = 60;
/** The period over which a project's right and wrong codes are counted. */
const RATIO_SECONDS = 3_600;
const ALARM_EVERY = 100;
/** More wrong codes than this share of right ones are more than people mistype. */
const RIGHT_FOR_ONE_WRONG = 2;

/**
 * Why a guess was not admitted, as far as its project may know. `exhausted`: five codes were tried for the challenge;
 * `spent`: twenty wrong ones for its number within a day.
 */
export type GuessRefusal = 'unknown' | 'used' | 'exhausted' | 'spent' | 'expired';

/** Why a number cannot be sent another code now, in the words of the API. */
export type SendHold = 'resend_interval' | 'too_many_codes' | 'too_many_wrong_codes';

/** Codes of one project in its current hour. */
export interface GuessCount {
  right: number;
  wrong: number;
}

/** True for every hundredth wrong code in an hour with more wrong codes than people mistype. */
export function looksLikeGuessing({ right, wrong }: GuessCount): boolean {
  return wrong > 0 && wrong % ALARM_EVERY === 0 && right <= wrong * RIGHT_FOR_ONE_WRONG;
}

export interface NewChallenge extends ChallengeRef {
  mode: OtpMode;
  /** The number under which sends and guesses are counted. */
  recipient: string;
  /** The number to send to, digits as given. */
  number: string;
  country: string;
  idempotencyKey: string;
  /** SHA-256 of the request's meaning. */
  fingerprint: Buffer;
  code: CodeHash;
  /** Null where nothing is to be sent. */
  codeCiphertext: Buffer | null;
  attemptId: string;
  ttlSeconds: number;
  templateLanguage: string;
}

/** A challenge after retention, without its recipient. */
type KeptChallenge = Omit<OtpChallengeResponse, 'recipient'> &
  Pick<NewChallenge, 'fingerprint'> & { recipient: string | null };

/** The key under which sends and guesses are counted: a project and a recipient's number. */
type ProjectNumber = Pick<NewChallenge, 'organizationId' | 'projectId' | 'recipient'>;

/** The package of a changed challenge, as statements return it. */
export interface MoveRow {
  package_id: string | null;
  package_used: boolean;
  used_now: boolean;
  released_now: boolean;
}

export function movesOf(rows: readonly MoveRow[]): OtpPackageMove[] {
  return rows.flatMap(({ package_id: packageId, ...row }): OtpPackageMove | [] => {
    if (packageId === null) return [];
    if (row.released_now) return { packageId, move: 'give_back', wasUsed: row.package_used };
    return row.used_now ? { packageId, move: 'use', wasUsed: false } : [];
  });
}

/** SQL: removes the plain text of a code that ends or is in flight. */
export const WIPE = 'code_ciphertext = null, lease_until = null';

const wasNotSent = (old: string): string => `${old}.status = 'queued' and c.created_at >= ${UNCERTAIN_BEFORE}`;
/** SQL: ends a challenge early. If the code still waited, its reserved send is given back. `old`: the row before. */
export const release = (old: string): string =>
  `${WIPE}, released_at = case when ${wasNotSent(old)}
    then coalesce(c.released_at, clock_timestamp()) else c.released_at end`;
export const released = (old: string): string =>
  `c.package_id, c.package_used, false as used_now, ${wasNotSent(old)} and ${old}.released_at is null as released_now`;

const valuesOf = ({ organizationId, projectId, id }: ChallengeRef) => [organizationId, projectId, id];

/** Statements of requests on `otp_challenge` and `otp_recipient`: accept, read, supersede, and count guesses. */
@Injectable()
export class OtpRepository {
  constructor(private readonly database: Database) {}

  /** Inserts a challenge. Null where a committed challenge has the same key. */
  insert(row: NewChallenge): Promise<OtpChallengeResponse | null> {
    return this.database.find<OtpChallengeResponse>(
      `insert into otp_challenge as c (id, organization_id, project_id, mode, recipient, country, idempotency_key,
         fingerprint, status, code_hash, code_key_version, code_ciphertext, template_language, attempt_id, created_at,
         expires_at, sent_at, number)
       select $1, $2, $3, $4, $5, $6, $7, $8, case when $4 = 'sandbox' then 'sent' else 'queued' end, $9, $10, $11, $12,
         $13, now.at, now.at + make_interval(secs => $14), case when $4 = 'sandbox' then now.at end, nullif($15, $5)
       from (select date_trunc('milliseconds', clock_timestamp()) as at) as now
       on conflict (project_id, idempotency_key) do nothing
       returning ${CHALLENGE}`,
      [
        row.id,
        row.organizationId,
        row.projectId,
        row.mode,
        row.recipient,
        row.country,
        row.idempotencyKey,
        row.fingerprint,
        row.code.hash,
        row.code.keyVersion,
        row.codeCiphertext,
        row.templateLanguage,
        row.attemptId,
        row.ttlSeconds,
        row.number,
      ],
    );
  }

  /** The challenge of the key, with its fingerprint. */
  findByKey({ organizationId, projectId, idempotencyKey }: NewChallenge): Promise<KeptChallenge | null> {
    return this.database.find<KeptChallenge>(
      `select ${CHALLENGE}, c.fingerprint from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.idempotency_key = $3`,
      [organizationId, projectId, idempotencyKey],
    );
  }

  find(ref: ChallengeRef): Promise<OtpChallengeResponse | null> {
    return this.database.find<OtpChallengeResponse>(
      `select ${CHALLENGE} from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3 and c.recipient is not null`,
      valuesOf(ref),
    );
  }

  async setPackage(organizationId: string, id: string, packageId: string): Promise<void> {
    const sql = 'update otp_challenge set package_id = $3 where organization_id = $1 and id = $2';
    await this.database.execute(sql, [organizationId, id, packageId]);
  }

  /**
   * Ends the project's other open challenges for the same number. Returns the reserved sends of those whose codes were
   * not in flight yet.
   */
  async supersede(newer: ChallengeRef & ProjectNumber): Promise<OtpPackageMove[]> {
    const rows = await this.database.query<MoveRow>(
      `with older as (
         select id, status, released_at from otp_challenge
         where organization_id = $1 and project_id = $2 and id <> $3 and recipient = $4
           and ${INDEXED_STATUS} in ${OPEN_SQL}
         order by id for update
       )
       update otp_challenge c set status = 'expired', ${release('older')} from older where c.id = older.id
       returning ${released('older')}`,
      [...valuesOf(newer), newer.recipient],
    );
    return movesOf(rows);
  }

  /**
   * Admits a send of a code to a number, in the ambient transaction. Null: admitted; otherwise the reason why not, and
   * the seconds to wait.
   */
  async admitSend(number: ProjectNumber): Promise<{ hold: SendHold; seconds: number } | null> {
    const values = [number.projectId, number.recipient, number.organizationId];
    if (await this.database.changes(ADMIT_SEND, values)) return null;
    const [held] = await this.database.query<{ hold: SendHold; wait: number }>(SEND_WAIT, values);
    const { hold = 'resend_interval', wait = 1 } = held ?? {};
    return { hold, seconds: Math.max(1, Math.ceil(wait)) };
  }

  /**
   * Resets the counts of sends and guesses for a test number of a sandbox, in the ambient transaction. Returns null,
   * like `admitSend` where nothing holds the send.
   */
  async resetRecipient({ organizationId, projectId, recipient }: ProjectNumber): Promise<null> {
    await this.database.execute(RESET_RECIPIENT, [projectId, recipient, organizationId]);
    return null;
  }

  /**
   * Takes one guess from the challenge's five and one from its number's daily limit, in one statement, before the code
   * is compared. Returns the hash to compare with; null where no guess is left. Concurrent processes together admit
   * five guesses at most.
   */
  admitGuess(ref: ChallengeRef): Promise<CodeHash | null> {
    // In a transaction, because that is repeated after a deadlock with another one.
    return this.database.transaction(() => this.database.find<CodeHash>(ADMIT_GUESS, valuesOf(ref)));
  }

  /** Sets a challenge to `verified` after the right code. Only one caller gets the challenge; null for the others. */
  consume(ref: ChallengeRef): Promise<OtpChallengeResponse | null> {
    return this.database.find<OtpChallengeResponse>(
      `update otp_challenge c set status = 'verified', verified_at = clock_timestamp(), ${WIPE}
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3 and c.status in ${OPEN_SQL}
         and c.expires_at > clock_timestamp()
       returning ${CHALLENGE}`,
      valuesOf(ref),
    );
  }

  /** Gives a right guess back to the number's daily limit. */
  async refundGuess(ref: ChallengeRef): Promise<void> {
    await this.database.execute(
      `update otp_recipient r set failures = greatest(r.failures - 1, 0)
       from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3
         and r.organization_id = $1 and r.project_id = c.project_id and r.recipient = c.recipient`,
      valuesOf(ref),
    );
  }

  /**
   * Records a wrong guess. The challenge ends only when all five were wrong, so that a right guess admitted at the same
   * time still finds it open. Returns true where this guess ended it.
   */
  async noteWrong(ref: ChallengeRef): Promise<boolean> {
    const [row] = await this.database.query<{ wrong_attempts: number }>(
      `update otp_challenge c set wrong_attempts = c.wrong_attempts + 1
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3
       returning c.wrong_attempts`,
      valuesOf(ref),
    );
    return row?.wrong_attempts === MAX_ATTEMPTS;
  }

  /** Counts a compared code of the project. An hour after its first code the count restarts. Returns the new count. */
  async count({ organizationId, projectId }: Omit<ChallengeRef, 'id'>, isRight: boolean): Promise<GuessCount> {
    const count = await this.database.find<GuessCount>(COUNT_GUESS, [organizationId, projectId, isRight]);
    return count ?? { right: 0, wrong: 0 };
  }

  async refusalOf(ref: ChallengeRef): Promise<GuessRefusal> {
    const [row] = await this.database.query<{ status: string; attempts: number; spent: boolean }>(
      `select c.status, c.attempts, coalesce(r.failures >= ${FAILURE_BUDGET}
         and r.failures_since > clock_timestamp() - make_interval(secs => ${FAILURE_SECONDS}), false) as spent
       from otp_challenge c
       left join otp_recipient r on r.project_id = c.project_id and r.recipient = c.recipient
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3 and c.recipient is not null`,
      valuesOf(ref),
    );
    if (row === undefined) return 'unknown';
    if (row.status === 'verified') return 'used';
    if (row.spent) return 'spent';
    return row.attempts >= MAX_ATTEMPTS ? 'exhausted' : 'expired';
  }
}

const TOKENS = `least(${SEND_BURST}, r.tokens + greatest(extract(epoch from clock_timestamp() - r.refilled_at), 0)
  / ${SEND_EVERY_SECONDS})`;
const BUDGET_IS_FRESH = `(r.failures_since is null
  or r.failures_since <= clock_timestamp() - make_interval(secs => ${FAILURE_SECONDS}))`;

const ADMIT_SEND = `
insert into otp_recipient as r (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at)
values ($1, $2, $3, clock_timestamp(), ${SEND_BURST - 1}, clock_timestamp())
on conflict (project_id, recipient) do update
set last_sent_at = clock_timestamp(), tokens = ${TOKENS} - 1, refilled_at = clock_timestamp()
where r.organization_id = $3
  and (r.last_sent_at is null or r.last_sent_at <= clock_timestamp() - make_interval(secs => ${RESEND_SECONDS}))
  and ${TOKENS} >= 1
  and (r.failures < ${FAILURE_BUDGET} or ${BUDGET_IS_FRESH})`;

const RESET_RECIPIENT = `
insert into otp_recipient as r (project_id, recipient, organization_id, last_sent_at, tokens, refilled_at)
values ($1, $2, $3, clock_timestamp(), ${SEND_BURST}, clock_timestamp())
on conflict (project_id, recipient) do update
set last_sent_at = clock_timestamp(), tokens = ${SEND_BURST}, refilled_at = clock_timestamp(), failures = 0,
  failures_since = null
where r.organization_id = $3`;

// Why a send is held, and for how long. Of several reasons, the one that lasts longest.
const SEND_WAIT = `
select hold.name as hold, hold.wait::float8 as wait
from otp_recipient r cross join lateral (values
  ('resend_interval', ${RESEND_SECONDS} - extract(epoch from clock_timestamp() - r.last_sent_at)),
  ('too_many_codes', (1 - ${TOKENS}) * ${SEND_EVERY_SECONDS}),
  ('too_many_wrong_codes', case when r.failures >= ${FAILURE_BUDGET}
    then ${FAILURE_SECONDS} - extract(epoch from clock_timestamp() - r.failures_since) end)) as hold (name, wait)
where r.project_id = $1 and r.recipient = $2 and r.organization_id = $3 and hold.wait is not null
order by hold.wait desc limit 1`;

const HOUR_IS_OVER = `coalesce(p.guesses_since <= clock_timestamp() - make_interval(secs => ${RATIO_SECONDS}), true)`;
const COUNT_GUESS = `
update otp_project p set
  guesses_right = case when ${HOUR_IS_OVER} then 0 else p.guesses_right end + case when $3 then 1 else 0 end,
  guesses_wrong = case when ${HOUR_IS_OVER} then 0 else p.guesses_wrong end + case when $3 then 0 else 1 end,
  guesses_since = case when ${HOUR_IS_OVER} then clock_timestamp() else p.guesses_since end
where p.organization_id = $1 and p.id = $2
returning p.guesses_right as right, p.guesses_wrong as wrong`;

// Locks the number's row before the challenge's, as a send does. After a wait for a lock, the newest row is read.
const ADMIT_GUESS = `
with who as (
  select r.project_id, r.recipient, r.failures, ${BUDGET_IS_FRESH} as fresh
  from otp_challenge c join otp_recipient r on r.project_id = c.project_id and r.recipient = c.recipient
  where c.organization_id = $1 and c.project_id = $2 and c.id = $3
  for update of r
), admitted as (
  select c.id from otp_challenge c join who on who.recipient = c.recipient
  where c.organization_id = $1 and c.project_id = $2 and c.id = $3 and c.attempts < ${MAX_ATTEMPTS}
    and c.status in ${OPEN_SQL} and c.expires_at > clock_timestamp()
    and (who.fresh or who.failures < ${FAILURE_BUDGET})
  for update of c
), budget as (
  update otp_recipient r set failures = case when who.fresh then 1 else r.failures + 1 end,
    failures_since = case when who.fresh then clock_timestamp() else r.failures_since end
  from who, admitted
  where r.project_id = who.project_id and r.recipient = who.recipient
)
update otp_challenge c set attempts = c.attempts + 1
from admitted where c.id = admitted.id
returning c.code_hash as hash, c.code_key_version as "keyVersion"`;
