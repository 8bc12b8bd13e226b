import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Erasure, type ErasureBatch, type Subject } from '../workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { Restoration } from '../../infrastructure/queue/restoration.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { Backlogs } from '../../infrastructure/operations/backlogs.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { OtpMaintenanceRepository } from './otp-maintenance.repository.js';
import { SendingRepository } from './sending.repository.js';

/**
 * Retention of codes and of their numbers: by age, for an erased contact or workspace, and after a restored backup.
 * Monthly usage stays. Reports the backlog; the counters `herald_otp_*_total` show the rest.
 */
@Injectable()
export class OtpMaintenance implements OnModuleInit {
  constructor(
    private readonly repository: OtpMaintenanceRepository,
    private readonly sending: SendingRepository,
    private readonly retention: Retention,
    private readonly restoration: Restoration,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly backlogs: Backlogs,
    private readonly metrics: Metrics,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { repository } = this;
    const { otpDays: days } = this.config.retention;
    this.retention.add({
      name: 'one-time codes',
      days,
      isCounted: true,
      clear: (before, limit) => repository.blankChallenges(before, limit),
    });
    this.retention.add({
      name: 'numbers of one-time codes',
      days,
      clear: (before, limit) => repository.removeRecipients(before, limit),
    });
    // Codes of a restored backup are not sent: their users have requested new ones.
    this.restoration.add({
      name: 'codes',
      newest: () => repository.newestQueued(),
      count: (before) => repository.countUncertain(before),
      mark: (before) => repository.markUncertain(before),
    });
    this.erasure.add({
      name: 'one-time codes',
      batch: (subject, cursor, erase) => this.erase(subject, cursor, erase),
      busy: (subject) => this.busy(subject),
    });
    this.workspaces.add({
      stop: (organizationId) => repository.withdraw(organizationId),
      busy: async (organizationId) =>
        (await repository.countUnderWay(organizationId, null)) === 0 ? null : 'one-time codes are being sent',
    });
    this.backlogs.add('codes', () => repository.backlog());
    this.metrics.add({
      name: 'otp_oldest_queued_seconds',
      help: 'Age of the oldest code that waits to be sent; 0: none waits.',
      collect: async () => [{ value: ((await this.sending.dueForMs()) ?? 0) / 1_000 }],
    });
  }

  private async erase(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const { repository } = this;
    const codes = await (erase ? repository.eraseOfContact(subject) : repository.countOfContact(subject));
    const limits = cursor === null ? await repository.limitsOfContact(subject, erase) : 0;
    return {
      found: { one_time_codes: codes, one_time_code_limits: limits },
      cursor: erase && codes > 0 ? 'more' : null,
    };
  }

  private async busy({ organizationId, numbers }: Subject): Promise<string | null> {
    const count = await this.repository.countUnderWay(organizationId, numbers);
    return count === 0 ? null : `${count} one-time code${count === 1 ? ' is' : 's are'} on the way to the contact`;
  }
}
