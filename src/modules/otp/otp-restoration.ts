import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Restoration } from '../../infrastructure/lanes/restoration.js';
import { OtpRestoreRepository } from './otp-restore.repository.js';

/** Codes of a restored backup are not sent: their users have asked for other ones. */
@Injectable()
export class OtpRestoration implements OnModuleInit {
  constructor(
    private readonly restoration: Restoration,
    private readonly codes: OtpRestoreRepository,
  ) {}

  onModuleInit(): void {
    this.restoration.add({
      name: 'codes',
      count: (before) => this.codes.count(before),
      mark: (before) => this.codes.mark(before),
    });
  }
}
