import { NO_AUDIT } from '../support/no-audit.js';
import { claimRequest } from '../support/claim-request.js';
import { randomBytes } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { BillingRepository } from '../../src/modules/billing/billing.repository.js';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { OtpRepository } from '../../src/modules/otp/otp.repository.js';
import type { OtpStatus } from '../../src/modules/otp/otp.types.js';
import { SendingRepository } from '../../src/modules/otp/sending.repository.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import type { Database } from '../../src/infrastructure/database/database.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';

/** A challenge as a test made it. */
export interface MadeCode {
  id: string;
  attemptId: string;
  recipient: string;
}

export interface Counts {
  reserved: number;
  used: number;
}

const LANE = 'otp';
const OWNER = newId();
const SENT_STATES: ReadonlySet<OtpStatus> = new Set(['sent', 'delivered', 'read', 'verified']);

let numbers = 0;

/** One project with a package, on a database, and the repositories that move its challenges. */
export class CodeRows {
  readonly sending: SendingRepository;
  readonly challenges: OtpRepository;
  readonly packages: OtpPackagesService;
  readonly lanes: LaneRepository;

  private constructor(
    readonly database: Database,
    readonly organizationId: string,
    readonly projectId: string,
  ) {
    this.sending = new SendingRepository(database);
    this.challenges = new OtpRepository(database);
    this.packages = new OtpPackagesService(
      new BillingRepository(database),
      database,
      NO_AUDIT,
      loadConfig({ env: {}, persistSecrets: false }),
    );
    this.lanes = new LaneRepository(database);
  }

  static async project(database: Database, limit = 1_000): Promise<CodeRows> {
    const rows = new CodeRows(database, newId(), newId());
    await database.execute(`insert into organization (id, name) values ($1, 'Shop')`, [rows.organizationId]);
    await database.execute(
      `insert into otp_project (id, organization_id, name, mode) values ($1, $2, 'Shop', 'live')`,
      [rows.projectId, rows.organizationId],
    );
    await rows.packages.grant(rows.organizationId, rows.projectId, 'DE', limit);
    return rows;
  }

  /** A challenge that is reserved, and then in a state as if it had come there by itself. */
  async make(status: OtpStatus = 'queued', recipient = `4915${String(++numbers).padStart(9, '0')}`): Promise<MadeCode> {
    const [id, attemptId] = [newId(), newId()];
    const { organizationId, projectId, database } = this;
    await database.transaction(async () => {
      await this.challenges.insert({
        id,
        organizationId,
        projectId,
        mode: 'live',
        recipient,
        number: recipient,
        country: 'DE',
        idempotencyKey: newId(),
        fingerprint: randomBytes(32),
        code: { hash: randomBytes(32), keyVersion: 1 },
        codeCiphertext: Buffer.from('sealed'),
        attemptId,
        ttlSeconds: 300,
        templateLanguage: 'en_US',
      });
      const packageId = await this.packages.reserve(organizationId, projectId, 'DE');
      await this.challenges.setPackage(organizationId, id, packageId ?? '');
    });
    if (status !== 'queued') await this.force(id, status);
    return { id, attemptId, recipient };
  }

  /** Applies a move as the services do: with its counts, in one transaction. */
  async answer(attemptId: string, outcome: Parameters<SendingRepository['record']>[1]): Promise<void> {
    await this.database.transaction(async () => {
      await this.packages.apply(await this.sending.record(attemptId, outcome));
    });
  }

  /** Applies reports at once, of any codes. */
  async reportAll(reports: readonly [MadeCode, 'sent' | 'delivered' | 'read' | 'failed'][]): Promise<void> {
    const occurredAt = new Date();
    const all = reports.map(([{ id, attemptId }, status]) => ({
      status,
      metaMessageId: `wamid.${id}`,
      callbackData: attemptId,
      occurredAt,
      category: 'recipient_unreachable',
    }));
    await this.database.transaction(async () => {
      const results = await this.sending.applyReports(all);
      await this.packages.apply(results.flatMap((moves) => moves ?? []));
    });
  }

  async report(
    code: MadeCode,
    status: 'sent' | 'delivered' | 'read' | 'failed',
    {
      occurredAt = new Date(),
      callbackData = code.attemptId,
    }: { occurredAt?: Date; callbackData?: string | null } = {},
  ): Promise<boolean> {
    return this.database.transaction(async () => {
      const report = { status, metaMessageId: `wamid.${code.id}`, callbackData, occurredAt };
      const [applied] = await this.sending.applyReports([{ ...report, category: 'recipient_unreachable' }]);
      await this.packages.apply(applied ?? []);
      return applied !== null;
    });
  }

  async end(code: MadeCode): Promise<void> {
    await this.database.transaction(async () => {
      await this.packages.apply(await this.sending.end(code.id));
    });
  }

  async endOverdue(): Promise<void> {
    await this.database.transaction(async () => {
      const { moves } = await this.sending.endOverdue(1_000);
      await this.packages.apply(moves);
    });
  }

  async supersede(code: MadeCode): Promise<void> {
    const { organizationId, projectId } = this;
    await this.database.transaction(async () => {
      const newer = { organizationId, projectId, recipient: code.recipient, id: newId() };
      await this.packages.apply(await this.challenges.supersede(newer));
    });
  }

  /** Ids that one claim gives, in the order of their turns. */
  async claim(limit: number, after: string | null = null, owner = OWNER) {
    await this.lanes.ensure(LANE);
    return (await this.sending.claim(claimRequest(LANE, owner, limit), after)).items;
  }

  async row(code: MadeCode): Promise<Record<string, unknown>> {
    return (await this.database.query('select * from otp_challenge where id = $1', [code.id]))[0] ?? {};
  }

  async statusOf(code: MadeCode): Promise<unknown> {
    return (await this.row(code)).status;
  }

  async counts(): Promise<Counts> {
    const [found] = await this.packages.list(this.organizationId, this.projectId);
    return { reserved: found?.reserved ?? 0, used: found?.used ?? 0 };
  }

  private async force(id: string, status: OtpStatus): Promise<void> {
    const isSent = SENT_STATES.has(status);
    await this.database.execute(
      `update otp_challenge set status = $2, package_used = $3, meta_message_id = case when $3 then 'wamid.' || id end,
         sent_at = case when $3 then clock_timestamp() end,
         delivered_at = case when $2 in ('delivered', 'read') then clock_timestamp() end,
         read_at = case when $2 = 'read' then clock_timestamp() end,
         released_at = case when $2 = 'failed' then clock_timestamp() end,
         lease_until = case when $2 = 'sending' then clock_timestamp() + interval '20 seconds' end,
         code_ciphertext = case when $2 = 'sending' then code_ciphertext end
       where id = $1`,
      [id, status, isSent],
    );
    const [row] = await this.database.query<{ package_id: string }>(
      'select package_id from otp_challenge where id = $1',
      [id],
    );
    const packageId = row?.package_id ?? '';
    if (isSent) await this.packages.apply([{ packageId, move: 'use', wasUsed: false }]);
    if (status === 'failed') await this.packages.apply([{ packageId, move: 'give_back', wasUsed: false }]);
  }
}

/** What one code leaves in its package. */
export const RESERVED: Counts = { reserved: 1, used: 0 };
export const USED: Counts = { reserved: 0, used: 1 };
export const GIVEN_BACK: Counts = { reserved: 0, used: 0 };
