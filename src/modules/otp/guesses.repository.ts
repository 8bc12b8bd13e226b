import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { CHALLENGE_COLUMNS, challengeOf, OPEN_SQL, type ChallengeRow } from './challenge-row.js';
import type { CodeHash } from './otp-code.js';
import { MAX_ATTEMPTS, type OtpChallenge } from './otp.types.js';

/** Wrong codes that one number of a project may have in a day, whatever the number of challenges. */
export const FAILURE_BUDGET = 20;
const FAILURE_SECONDS = 24 * 3_600;
/** Sends to one number: five at once, then one in two minutes; and never two within a minute. */
const SEND_BURST = 5;
const SEND_EVERY_SECONDS = 120;
const RESEND_SECONDS = 60;
/** For how long a project's right and wrong codes are counted together. */
const RATIO_SECONDS = 3_600;
const ALARM_EVERY = 100;
/** A wrong code for at most so many right ones is more than people mistype. */
const RIGHT_FOR_ONE_WRONG = 2;

/** Why a guess was not admitted, as far as its own project may know. */
export type GuessRefusal = 'unknown' | 'used' | 'exhausted' | 'expired';

/** What keeps a number from being sent another code, by the name that callers get. */
export type SendHold = 'resend_interval' | 'too_many_codes' | 'too_many_wrong_codes';

/** Codes of one project since its hour began. */
export interface GuessCount {
  right: number;
  wrong: number;
}

/** True with every hundredth wrong code of an hour in which more are wrong than people mistype. */
export function looksLikeGuessing({ right, wrong }: GuessCount): boolean {
  return wrong > 0 && wrong % ALARM_EVERY === 0 && right <= wrong * RIGHT_FOR_ONE_WRONG;
}

/** A project's challenge: who asks never reaches beyond it. */
export interface ChallengeRef {
  organizationId: string;
  projectId: string;
  id: string;
}

/** Statements on `otp_recipient`, and those on `otp_challenge` that count guesses. */
@Injectable()
export class GuessesRepository {
  constructor(private readonly database: Database) {}

  /** Lets a number be sent a code; says why not, and how long to wait, where it may not. In the ambient transaction. */
  async admitSend(
    organizationId: string,
    projectId: string,
    recipient: string,
  ): Promise<{ hold: SendHold; seconds: number } | null> {
    const admitted = await this.database.execute(ADMIT_SEND, [projectId, recipient, organizationId]);
    if (admitted > 0) return null;
    const rows = await this.database.query<{ hold: SendHold; wait: number }>(SEND_WAIT, [
      projectId,
      recipient,
      organizationId,
    ]);
    const { hold = 'resend_interval', wait = 1 } = rows[0] ?? {};
    return { hold, seconds: Math.max(1, Math.ceil(wait)) };
  }

  /**
   * Burns one guess of a challenge and one of its number's budget, in one statement, before anything is compared; null
   * where there is none left. Any number of processes may ask at once: five guesses are admitted at the most.
   */
  async admitGuess({ organizationId, projectId, id }: ChallengeRef): Promise<CodeHash | null> {
    const work = () =>
      this.database.query<{ code_hash: Buffer; code_key_version: number }>(ADMIT_GUESS, [
        organizationId,
        projectId,
        id,
      ]);
    // Repeated where it met another transaction's locks in a ring.
    const rows = await this.database.transaction(work);
    const row = rows[0];
    return row === undefined ? null : { hash: row.code_hash, keyVersion: row.code_key_version };
  }

  /** The right code: exactly one caller gets the challenge back, `verified`. */
  async consume({ organizationId, projectId, id }: ChallengeRef): Promise<OtpChallenge | null> {
    const rows = await this.database.query<ChallengeRow>(
      `update otp_challenge c set status = 'verified', verified_at = clock_timestamp(), code_ciphertext = null,
         lease_until = null
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3 and c.status in ${OPEN_SQL}
         and c.expires_at > clock_timestamp()
       returning ${CHALLENGE_COLUMNS}`,
      [organizationId, projectId, id],
    );
    return rows[0] === undefined ? null : challengeOf(rows[0]);
  }

  /** A right code was no failure: gives back what its guess took from the number's budget. */
  async refundGuess({ organizationId, projectId, id }: ChallengeRef): Promise<void> {
    await this.database.execute(
      `update otp_recipient r set failures = greatest(r.failures - 1, 0)
       from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3
         and r.organization_id = $1 and r.project_id = c.project_id and r.recipient = c.recipient`,
      [organizationId, projectId, id],
    );
  }

  /**
   * Notes a wrong guess. Only when all five were found wrong is the challenge over: a right one that was admitted
   * beside them must not find it ended. Returns true where this one ended it.
   */
  async noteWrong({ organizationId, projectId, id }: ChallengeRef): Promise<boolean> {
    const rows = await this.database.query<{ wrong_attempts: number }>(
      `update otp_challenge c set wrong_attempts = c.wrong_attempts + 1
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3
       returning c.wrong_attempts`,
      [organizationId, projectId, id],
    );
    return rows[0]?.wrong_attempts === MAX_ATTEMPTS;
  }

  /** Counts a code that was compared; an hour after the first one the count begins anew. Returns the count. */
  async count(organizationId: string, projectId: string, isRight: boolean): Promise<GuessCount> {
    const rows = await this.database.query<GuessCount>(COUNT_GUESS, [organizationId, projectId, isRight]);
    return rows[0] ?? { right: 0, wrong: 0 };
  }

  async refusalOf({ organizationId, projectId, id }: ChallengeRef): Promise<GuessRefusal> {
    const rows = await this.database.query<{ status: string; attempts: number; spent: boolean }>(
      `select c.status, c.attempts, coalesce(r.failures >= ${FAILURE_BUDGET}
         and r.failures_since > clock_timestamp() - make_interval(secs => ${FAILURE_SECONDS}), false) as spent
       from otp_challenge c
       left join otp_recipient r on r.project_id = c.project_id and r.recipient = c.recipient
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3`,
      [organizationId, projectId, id],
    );
    const row = rows[0];
    if (row === undefined) return 'unknown';
    if (row.status === 'verified') return 'used';
    return row.attempts >= MAX_ATTEMPTS || row.spent ? 'exhausted' : 'expired';
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

// Of several reasons the one that lasts longest.
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

// The number's row is locked before the challenge's, as a send does. What waited for a lock looks at the newest row.
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
returning c.code_hash, c.code_key_version`;
