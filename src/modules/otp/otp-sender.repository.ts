import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { OtpSender } from './otp.types.js';

export type SealedOtpSender = OtpSender & { tokenCiphertext: Buffer };

/** The only place with SQL of the table `otp_sender`, which has one row or none. */
@Injectable()
export class OtpSenderRepository {
  constructor(private readonly database: Database) {}

  async find(): Promise<SealedOtpSender | null> {
    const rows = await this.database.query<SealedOtpSender>(
      `select phone_number_id as "phoneNumberId", phone_number as "phoneNumber", template_name as "templateName",
         former_number_ids as "formerNumberIds", throughput_per_second as "throughputPerSecond", status,
         token_version as "tokenVersion", token_ciphertext as "tokenCiphertext"
       from otp_sender`,
    );
    return rows[0] ?? null;
  }

  async set(sender: Omit<SealedOtpSender, 'status' | 'tokenVersion' | 'formerNumberIds'>): Promise<void> {
    await this.database.execute(
      `insert into otp_sender as s (id, phone_number_id, phone_number, template_name, throughput_per_second, token_ciphertext)
       values (true, $1, $2, $3, $4, $5)
       on conflict (id) do update set phone_number_id = excluded.phone_number_id, phone_number = excluded.phone_number,
         template_name = excluded.template_name, throughput_per_second = excluded.throughput_per_second,
         token_ciphertext = excluded.token_ciphertext, token_version = s.token_version + 1, status = 'connected',
         former_number_ids = array_remove(array_append(
           array_remove(s.former_number_ids, s.phone_number_id), s.phone_number_id), excluded.phone_number_id),
         updated_at = clock_timestamp()`,
      [
        sender.phoneNumberId,
        sender.phoneNumber,
        sender.templateName,
        sender.throughputPerSecond,
        sender.tokenCiphertext,
      ],
    );
  }

  /** The platform refused this token; returns false where another one was set since. */
  async disconnect(tokenVersion: number): Promise<boolean> {
    const changed = await this.database.execute(
      `update otp_sender set status = 'disconnected', updated_at = clock_timestamp()
       where token_version = $1 and status = 'connected'`,
      [tokenVersion],
    );
    return changed > 0;
  }
}
