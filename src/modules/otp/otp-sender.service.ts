import { Injectable, Logger } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { CacheInvalidation } from '../../infrastructure/access/cache-invalidation.js';
import { LaneRepository } from '../../infrastructure/lanes/lane.repository.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { OtpSenderRepository } from './otp-sender.repository.js';
import type { OtpSender } from './otp.types.js';

/** The sender with its plain token: never log or store it. */
export type OtpSenderWithToken = OtpSender & { token: string };

export interface NewOtpSender {
  phoneNumberId: string;
  phoneNumber: string | null;
  templateName: string;
  throughputPerSecond?: number | null;
  token: string;
}

const PLACE = { table: 'otp_sender', column: 'token', organizationId: 'service', rowId: 'otp_sender' };
const INVALIDATION = 'otp_sender';
/** There is one lane, for there is one number. */
export const OTP_LANE = 'otp';

/** The service's own number; it belongs to no workspace. */
@Injectable()
export class OtpSenderService {
  private readonly logger = new Logger(OtpSenderService.name);
  private readonly cache = new ExpiringCache<'sender', OtpSenderWithToken | null>({
    ttlMs: 2_000,
    maxEntries: 1,
    // "There is none" too: every notification of the platform asks.
    keep: () => true,
  });

  constructor(
    private readonly senders: OtpSenderRepository,
    private readonly secrets: SecretBox,
    private readonly invalidation: CacheInvalidation,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    rotation: SecretRotation,
  ) {
    rotation.add({
      table: 'otp_sender',
      column: 'token_ciphertext',
      key: 'id',
      organization: "'service'",
      place: () => PLACE,
    });
    invalidation.on(INVALIDATION, () => this.cache.clear());
  }

  /** At most two seconds old; null where none is set. */
  find(): Promise<OtpSenderWithToken | null> {
    return this.cache.get('sender', () => this.read());
  }

  /** A sender that can send; a refusal is confirmed in the database. */
  async findReady(): Promise<OtpSenderWithToken | null> {
    const cached = await this.find();
    const sender = cached?.status === 'connected' ? cached : await this.read();
    return sender?.status === 'connected' ? sender : null;
  }

  /**
   * Sets the number, its template and its token.
   *
   * @throws Error where the number is a workspace's.
   */
  async set(input: NewOtpSender): Promise<OtpSender> {
    const connection = await this.connections.findByPhoneNumberId(input.phoneNumberId);
    if (connection !== null && connection.status !== 'disconnected') {
      throw new Error(
        `the number ${input.phoneNumberId} belongs to the workspace ${connection.organizationId}; codes need one of their own`,
      );
    }
    await this.senders.set({
      phoneNumberId: input.phoneNumberId,
      phoneNumber: input.phoneNumber,
      templateName: input.templateName,
      throughputPerSecond: input.throughputPerSecond ?? 80,
      tokenCiphertext: this.secrets.seal(input.token, PLACE),
    });
    await this.lanes.resume(OTP_LANE);
    await this.changed();
    const sender = await this.senders.find();
    if (sender === null) throw new Error('the sender of codes was not stored');
    return sender;
  }

  /** The platform refused the token: codes are no longer accepted until the sender is set again. */
  async tokenRefused(sender: OtpSender): Promise<void> {
    if (!(await this.senders.disconnect(sender.tokenVersion))) return;
    this.logger.error(
      'the platform refuses the token of the number that sends codes; set it with `herald otp-sender set`',
    );
    await this.changed();
  }

  private async read(): Promise<OtpSenderWithToken | null> {
    const row = await this.senders.find();
    return row === null ? null : { ...row, token: this.secrets.open(row.tokenCiphertext, PLACE) };
  }

  private async changed(): Promise<void> {
    this.cache.clear();
    await this.invalidation.publish(INVALIDATION, 'otp_sender');
  }
}
