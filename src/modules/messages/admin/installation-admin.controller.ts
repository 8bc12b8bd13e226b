import { Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { heraldVersion } from '../../../common/version.js';
import { AdminController } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { Backlogs } from '../../../infrastructure/operations/backlogs.js';
import { Readiness } from '../../../infrastructure/operations/readiness.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { Restoration } from '../../../infrastructure/queue/restoration.js';
import type { LaneStatus } from '../../message-state/message.types.js';
import { MessagesService } from '../messages.service.js';
import {
  LaneResponse,
  QueueResponse,
  ReadinessPartResponse,
  SingleInstallationResponse,
} from './installation-admin.dto.js';

/** The queue is counted at most so often, however many ask. */
const FRESH_MS = 10_000;
const MOST_LANES = 100;

interface Counted {
  lanes: LaneStatus[];
  unknown: number;
}

@ApiTags('Installation')
@AdminController('installation')
export class InstallationAdminController {
  private readonly version = heraldVersion();
  private readonly counted = new ExpiringCache<'all', Counted>({ ttlMs: FRESH_MS, maxEntries: 1 });

  constructor(
    private readonly messages: MessagesService,
    private readonly backlogs: Backlogs,
    private readonly readiness: Readiness,
    private readonly restoration: Restoration,
    private readonly lanes: LaneRepository,
  ) {}

  /**
   * Read the installation
   *
   * @remarks Whether it is ready, how many processes work, what waits in each queue, and which numbers have messages to send, as
   * `herald queue status` shows it. Queues and numbers are counted at most every ten seconds.
   */
  @Get()
  @RequireOperatorScope('installation:read', { wholeInstallation: true })
  @ApiOkResponse({ type: SingleInstallationResponse, description: 'As it is now.' })
  async get(): Promise<SingleInstallationResponse> {
    const { status, parts } = await this.readiness.report();
    const { lanes, unknown } = await this.counted.get('all', () => this.count());
    const queues = await this.backlogs.read();
    return {
      data: {
        version: this.version,
        ready: status === 'ready',
        parts: ReadinessPartResponse.of(parts),
        workers: await this.lanes.workers(),
        held: (await this.restoration.blocked()) !== null,
        queues: queues.map((queue) => QueueResponse.of(queue)),
        outcome_unknown: unknown,
        lanes: lanes.slice(0, MOST_LANES).map((lane) => LaneResponse.of(lane)),
      },
    };
  }

  private async count(): Promise<Counted> {
    return { lanes: await this.messages.lanes(), unknown: await this.messages.unknown() };
  }
}
