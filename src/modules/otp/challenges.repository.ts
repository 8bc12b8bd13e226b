import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { OtpPackageMove } from '../billing/otp-packages.types.js';
import { CHALLENGE_COLUMNS, challengeOf, OPEN_SQL, type ChallengeRow } from './challenge-row.js';
import type { CodeHash } from './otp-code.js';
import type { OtpChallenge, OtpMode } from './otp.types.js';

export interface NewChallenge {
  id: string;
  organizationId: string;
  projectId: string;
  mode: OtpMode;
  /** The account under which it is counted. */
  recipient: string;
  /** Digits as they were given: where it is sent. */
  number: string;
  country: string;
  idempotencyKey: string;
  /** SHA-256 of the request's meaning. */
  fingerprint: Buffer;
  code: CodeHash;
  /** null where nothing is to be sent. */
  codeCiphertext: Buffer | null;
  attemptId: string;
  ttlSeconds: number;
  templateLanguage: string;
}

/** A challenge that a key stands for already. */
export interface KnownChallenge {
  challenge: OtpChallenge;
  fingerprint: Buffer;
}

/** The statements on `otp_challenge` that belong to a request: accept, read, supersede. */
@Injectable()
export class ChallengesRepository {
  constructor(private readonly database: Database) {}

  /** Inserts a challenge; null where its key has one already (which another transaction has committed by then). */
  async insert(row: NewChallenge): Promise<OtpChallenge | null> {
    const rows = await this.database.query<ChallengeRow>(
      `insert into otp_challenge as c (id, organization_id, project_id, mode, recipient, country, idempotency_key,
         fingerprint, status, code_hash, code_key_version, code_ciphertext, template_language, attempt_id, created_at,
         expires_at, sent_at, number)
       select $1, $2, $3, $4, $5, $6, $7, $8, case when $4 = 'sandbox' then 'sent' else 'queued' end, $9, $10, $11, $12,
         $13, now.at, now.at + make_interval(secs => $14), case when $4 = 'sandbox' then now.at end, nullif($15, $5)
       from (select date_trunc('milliseconds', clock_timestamp()) as at) as now
       on conflict (project_id, idempotency_key) do nothing
       returning ${CHALLENGE_COLUMNS}`,
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
    return rows[0] === undefined ? null : challengeOf(rows[0]);
  }

  async findByKey(organizationId: string, projectId: string, idempotencyKey: string): Promise<KnownChallenge | null> {
    const rows = await this.database.query<ChallengeRow & { fingerprint: Buffer }>(
      `select ${CHALLENGE_COLUMNS}, c.fingerprint from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.idempotency_key = $3`,
      [organizationId, projectId, idempotencyKey],
    );
    const row = rows[0];
    return row === undefined ? null : { challenge: challengeOf(row), fingerprint: row.fingerprint };
  }

  async findById(organizationId: string, projectId: string, id: string): Promise<OtpChallenge | null> {
    const rows = await this.database.query<ChallengeRow>(
      `select ${CHALLENGE_COLUMNS} from otp_challenge c
       where c.organization_id = $1 and c.project_id = $2 and c.id = $3`,
      [organizationId, projectId, id],
    );
    return rows[0] === undefined ? null : challengeOf(rows[0]);
  }

  async setPackage(organizationId: string, id: string, packageId: string): Promise<void> {
    await this.database.execute('update otp_challenge set package_id = $3 where organization_id = $1 and id = $2', [
      organizationId,
      id,
      packageId,
    ]);
  }

  /** Ends the account's other challenges; returns the sends of those that were not under way yet. */
  async supersede(
    challenge: Pick<NewChallenge, 'organizationId' | 'projectId' | 'recipient' | 'id'>,
  ): Promise<OtpPackageMove[]> {
    const rows = await this.database.query<{ package_id: string | null; package_used: boolean; released: boolean }>(
      `with older as (
         select id, status, released_at from otp_challenge
         where organization_id = $1 and project_id = $2 and recipient = $3 and id <> $4 and status in ${OPEN_SQL}
         order by id for update
       )
       update otp_challenge c set status = 'expired', code_ciphertext = null, lease_until = null,
         released_at = case when older.status = 'queued' then coalesce(c.released_at, clock_timestamp()) else c.released_at end
       from older where c.id = older.id
       returning c.package_id, c.package_used, older.status = 'queued' and older.released_at is null as released`,
      [challenge.organizationId, challenge.projectId, challenge.recipient, challenge.id],
    );
    return rows.flatMap(({ package_id: packageId, package_used: wasUsed, released }): OtpPackageMove[] =>
      released && packageId !== null ? [{ packageId, move: 'give_back', wasUsed }] : [],
    );
  }
}
