import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Erasure, type Subject } from '../../infrastructure/erasure/erasure.js';
import { WorkspaceErasure } from '../../infrastructure/erasure/workspace-erasure.js';
import { OtpErasureRepository } from './otp-erasure.repository.js';

/** Forgets the codes of a number, and how often it asked. What was sent each month stays, as figures. */
@Injectable()
export class OtpErasure implements OnModuleInit {
  constructor(
    private readonly codes: OtpErasureRepository,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'one-time codes',
      batch: (subject, cursor, erase) => this.codes.batch(subject, cursor, erase),
      busy: (subject) => this.busy(subject),
    });
    this.workspaces.add({
      stop: (organizationId) => this.codes.withdraw(organizationId),
      busy: async (organizationId) =>
        (await this.codes.countSending(organizationId)) === 0 ? null : 'one-time codes are being sent',
    });
  }

  private async busy(subject: Subject): Promise<string | null> {
    const underWay = await this.codes.countUnderWay(subject);
    return underWay === 0
      ? null
      : `${underWay} one-time code${underWay === 1 ? ' is' : 's are'} on the way to the contact`;
  }
}
