import { Injectable } from '@nestjs/common';
import { isUuid } from '../../common/ids.js';
import { Database } from '../../platform/database/database.js';
import { Counters } from '../../platform/operations/counters.js';
import { classifyPlatformError } from '../../platform/whatsapp/error-table.js';
import { OtpPackagesService } from '../billing/otp-packages.service.js';
import { OtpSenderService } from './otp-sender.service.js';
import type { OtpStatusReport } from './otp.types.js';
import { SendingRepository } from './sending.repository.js';

/** Takes in what the platform tells about codes. Everything here may be told twice, late and in any order. */
@Injectable()
export class OtpReportsService {
  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    private readonly senders: OtpSenderService,
    private readonly database: Database,
    private readonly counters: Counters,
  ) {}

  /** Whether codes are or were sent from this number. At most two seconds old. */
  async isSender(phoneNumberId: string): Promise<boolean> {
    const sender = await this.senders.find();
    return (
      sender !== null && (sender.phoneNumberId === phoneNumberId || sender.formerNumberIds.includes(phoneNumberId))
    );
  }

  /** Applies a report; durable when this resolves. False where no challenge is known by its ids. */
  async apply(report: OtpStatusReport): Promise<boolean> {
    const { callbackData } = report;
    const known = { ...report, callbackData: callbackData !== null && isUuid(callbackData) ? callbackData : null };
    const code = report.error?.code ?? null;
    const category = code === null ? 'unknown' : classifyPlatformError(code).category;
    const found = await this.database.transaction(async () => {
      const applied = await this.sending.report(known, category);
      if (applied?.move) await this.packages.apply([applied.move]);
      return applied !== null;
    });
    if (found) this.counters.increment(`otp_reports_${report.status}`);
    return found;
  }
}
