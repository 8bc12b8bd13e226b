import { Injectable } from '@nestjs/common';
import { isUuid } from '../../common/ids.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { classifyPlatformError } from '../../infrastructure/whatsapp/graph-error.js';
import { OtpPackagesService } from '../billing/otp-packages.service.js';
import { OtpSenderService } from './otp-sender.service.js';
import type { OtpStatusReport } from './otp.types.js';
import { SendingRepository } from './sending.repository.js';

/** Takes in what the platform reports about codes: twice, late and in any order. */
@Injectable()
export class OtpReportsService {
  constructor(
    private readonly sending: SendingRepository,
    private readonly packages: OtpPackagesService,
    private readonly senders: OtpSenderService,
    private readonly counters: Counters,
  ) {}

  /** Whether codes are or were sent from this number. At most two seconds old. */
  async isSender(phoneNumberId: string): Promise<boolean> {
    const sender = await this.senders.find();
    return (
      sender !== null && (sender.phoneNumberId === phoneNumberId || sender.formerNumberIds.includes(phoneNumberId))
    );
  }

  /** Applies reports in the ambient transaction. Returns those that name a code, for `count`. */
  async applyAll(reports: readonly OtpStatusReport[]): Promise<Set<OtpStatusReport>> {
    if (reports.length === 0) return new Set();
    const results = await this.sending.applyReports(
      reports.map(({ callbackData, error, ...report }) => ({
        ...report,
        callbackData: isUuid(callbackData) ? callbackData.toLowerCase() : null,
        category: error === null || error.code === null ? 'unknown' : classifyPlatformError(error.code).category,
      })),
    );
    await this.packages.apply(results.flatMap((result) => result?.move ?? []));
    return new Set(reports.filter((_report, index) => results[index] !== null));
  }

  /** Counts applied reports, after their commit. */
  count(reports: Iterable<OtpStatusReport>): void {
    for (const { status } of reports) this.counters.increment(`otp_reports_${status}`);
  }
}
