import { Injectable, Logger } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Audit } from '../audit/audit.service.js';
import { Database } from '../../infrastructure/database/database.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownList, ownText } from '../../infrastructure/whatsapp/json-access.js';
import {
  ConnectionCheckService,
  type CheckedNumber,
  type Credentials,
} from '../connections/connection-check.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { OtpSenderEntity } from './entities/otp.entity.js';
import { otpErrors } from './otp.errors.js';
import type { OtpSender } from './otp.types.js';

/** The sender with its plain token: never log or store it. */
export type OtpSenderWithToken = OtpSender & { token: string };

type NewOtpSender = Pick<OtpSenderWithToken, 'phoneNumberId' | 'phoneNumber' | 'templateName' | 'token'> & {
  throughputPerSecond?: number | null | undefined;
};

type SenderCredentials = Credentials & { templateName: string };

/** The sender, with the languages in which its template is approved. */
export type CheckedSender = OtpSender & { languages: string[] };

const refused = (reason: string) => otpErrors.OTP_SENDER_REFUSED({ reason });

const PLACE = { table: 'otp_sender', column: 'token', organizationId: 'service', rowId: 'otp_sender' };
const INVALIDATION = 'otp_sender';
/** One lane, because there is one number. */
export const OTP_LANE = 'otp';

/** The service's own number; it belongs to no workspace. */
@Injectable()
export class OtpSenderService {
  private readonly logger = new Logger(OtpSenderService.name);
  private readonly cache = new ExpiringCache<'sender', OtpSenderWithToken | null>({
    ttlMs: 2_000,
    maxEntries: 1,
    // Also caches that there is none: every notification of WhatsApp asks.
    keep: () => true,
  });

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
    private readonly invalidation: PgNotifier,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    private readonly numbers: ConnectionCheckService,
    private readonly client: CloudApiClient,
    private readonly audit: Audit,
    rotation: SecretRotation,
  ) {
    rotation.add({
      table: 'otp_sender',
      column: 'token_ciphertext',
      organization: "'service'",
      place: () => PLACE,
    });
    invalidation.on(INVALIDATION, () => this.cache.clear());
  }

  /** At most two seconds old; null where none is set. */
  find(): Promise<OtpSenderWithToken | null> {
    return this.cache.get('sender', () => this.read());
  }

  /** The sender, if it can send; a refusal is confirmed in the database. */
  async findReady(): Promise<OtpSenderWithToken | null> {
    const cached = await this.find();
    const sender = cached?.status === 'connected' ? cached : await this.read();
    return sender?.status === 'connected' ? sender : null;
  }

  /**
   * Sets the number, its template and its token.
   *
   * @throws OTP_SENDER_REFUSED (422) where the number belongs to a workspace.
   */
  async set(input: NewOtpSender): Promise<OtpSender> {
    const connection = await this.connections.findByPhoneNumberId(input.phoneNumberId);
    if (connection !== null && connection.status !== 'disconnected') {
      throw refused(
        `the number ${input.phoneNumberId} belongs to the workspace ${connection.organizationId}; codes need one of their own`,
      );
    }
    const { phoneNumberId, phoneNumber, templateName, token } = input;
    const throughput = input.throughputPerSecond ?? 80;
    const sealed = this.secrets.seal(token, PLACE);
    await this.database.transaction(async () => {
      await this.database.execute(SET, [phoneNumberId, phoneNumber, templateName, throughput, sealed]);
      const details = { phone_number_id: phoneNumberId, template: templateName, throughput_per_second: throughput };
      const action = 'otp_sender.set';
      await this.audit.record({ action, organizationId: null, details: { ...details, token: 'set' } });
    });
    await this.lanes.resume(OTP_LANE);
    await this.changed();
    const sender = await this.table.findOneBy({ id: true });
    if (sender === null) throw new Error('the sender of codes was not stored');
    return sender;
  }

  /**
   * Checks number and template with WhatsApp, and sends the codes from it.
   *
   * @throws the same as `check` and `set`; then nothing is stored.
   */
  async connect(input: SenderCredentials & { throughputPerSecond?: number | undefined }): Promise<CheckedSender> {
    const { phoneNumberId, templateName, token, throughputPerSecond } = input;
    const { number, languages } = await this.check(input);
    const { phoneNumber } = number;
    const throughput = throughputPerSecond ?? number.throughputPerSecond;
    const set = await this.set({ phoneNumberId, phoneNumber, templateName, token, throughputPerSecond: throughput });
    return { ...set, languages };
  }

  /** WhatsApp refused the token: codes are not accepted until the sender is set again. */
  async tokenRefused(sender: OtpSender): Promise<void> {
    const { tokenVersion } = sender;
    // Unless another token was set meanwhile.
    const change = { status: 'disconnected' as const, updatedAt: () => 'clock_timestamp()' };
    if ((await this.table.update({ tokenVersion, status: 'connected' }, change)).affected === 0) return;
    this.logger.error(
      'the platform refuses the token of the number that sends codes; set it with `herald otp-sender set`',
    );
    await this.changed();
  }

  private async read(): Promise<OtpSenderWithToken | null> {
    const row = await this.table.findOneBy({ id: true });
    return row === null ? null : { ...row, token: this.secrets.open(row.tokenCiphertext, PLACE) };
  }

  /**
   * Checks token, number, account and template, and subscribes to the account's notifications.
   *
   * @returns the number, and the languages in which the template is approved.
   * @throws OTP_SENDER_REFUSED (422), NUMBER_REFUSED (422, 502) with one sentence that says what is wrong and what to
   * do.
   */
  async check(credentials: SenderCredentials): Promise<{ number: CheckedNumber; languages: string[] }> {
    const number = await this.numbers.check(credentials);
    const languages = await this.approvedLanguages(credentials);
    await this.numbers.subscribe(credentials);
    return { number, languages };
  }

  private async approvedLanguages({ wabaId, token, templateName }: SenderCredentials): Promise<string[]> {
    const answer = await this.client.request({
      method: 'GET',
      path: `/${encodeURIComponent(wabaId)}/message_templates`,
      token,
      query: { name: templateName, fields: 'name,language,status,category', limit: '100' },
    });
    if (!answer.ok) throw refused(`the platform did not list the templates of the account (${answer.message})`);
    // WhatsApp's filter finds every name that contains this one.
    const versions = ownList(answer.body, 'data').filter((template) => ownText(template, 'name') === templateName);
    if (versions.length === 0) {
      throw refused(`the account ${wabaId} has no template ${templateName}; make it with the category AUTHENTICATION`);
    }
    if (versions.some((template) => ownText(template, 'category') !== 'AUTHENTICATION')) {
      throw refused(`the template ${templateName} is not of the category AUTHENTICATION; codes need one that is`);
    }
    const approved = versions.filter((template) => ownText(template, 'status') === 'APPROVED');
    if (approved.length === 0) throw refused(`the template ${templateName} is not approved yet; wait for its review`);
    return approved.flatMap((template) => ownText(template, 'language') ?? []);
  }

  private async changed(): Promise<void> {
    this.cache.clear();
    await this.invalidation.publish(INVALIDATION, 'otp_sender');
  }

  private get table() {
    return this.database.repository(OtpSenderEntity);
  }
}

// TypeORM's upsert can't compute a column from the existing row.
const SET = `
insert into otp_sender as s (id, phone_number_id, phone_number, template_name, throughput_per_second, token_ciphertext)
values (true, $1, $2, $3, $4, $5)
on conflict (id) do update set phone_number_id = excluded.phone_number_id, phone_number = excluded.phone_number,
  template_name = excluded.template_name, throughput_per_second = excluded.throughput_per_second,
  token_ciphertext = excluded.token_ciphertext, token_version = s.token_version + 1, status = 'connected',
  former_number_ids = array_remove(array_append(
    array_remove(s.former_number_ids, s.phone_number_id), s.phone_number_id), excluded.phone_number_id),
  updated_at = clock_timestamp()`;
