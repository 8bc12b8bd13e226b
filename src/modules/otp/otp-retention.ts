import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lowestIdSince } from '../../common/ids.js';
import { Config } from '../../infrastructure/config/config.js';
import { Retention } from '../../infrastructure/lanes/retention.js';
import { OtpRetentionRepository } from './otp-retention.repository.js';

/** Forgets old codes and the numbers they went to. What was sent each month stays, as figures. */
@Injectable()
export class OtpRetention implements OnModuleInit {
  constructor(
    private readonly codes: OtpRetentionRepository,
    private readonly retention: Retention,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { otpDays: days } = this.config.retention;
    this.retention.add({
      name: 'one-time codes',
      days,
      clear: (before, limit) => this.codes.removeChallenges(lowestIdSince(before), limit),
    });
    this.retention.add({
      name: 'numbers of one-time codes',
      days,
      clear: (before, limit) => this.codes.removeRecipients(before, limit),
    });
  }
}
