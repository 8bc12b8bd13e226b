import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_WORKSPACE_ID } from '../../../common/example-ids.js';
import type { QueueBacklog } from '../../../infrastructure/operations/backlogs.js';
import type { ReadinessPart } from '../../../infrastructure/operations/readiness.js';
import type { LaneStatus } from '../../message-state/message.types.js';

const QUEUES = ['messages', 'webhooks', 'codes', 'files', 'notifications'];

export class ReadinessPartResponse {
  @ApiProperty({ example: 'database' })
  name!: string;

  @ApiProperty({ example: true })
  ok!: boolean;

  /** One sentence or figure. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  detail!: string | null;

  static of(parts: Readonly<Record<string, ReadinessPart>>): ReadinessPartResponse[] {
    return Object.entries(parts).map(([name, { ok, detail }]) => ({ name, ok, detail: detail ?? null }));
  }
}

/** Work of one kind that waits; each figure is counted up to 100,000. */
export class QueueResponse {
  @ApiProperty({ example: 'messages', examples: QUEUES })
  queue!: string;

  /** Due or not. */
  @ApiProperty({ type: 'integer', example: 12 })
  waiting!: number;

  @ApiProperty({ type: 'integer', example: 3 })
  in_flight!: number;

  /** How long the oldest that is due has waited. */
  @ApiProperty({ type: 'integer', example: 140 })
  oldest_due_ms!: number;

  static of({ queue, waiting, inFlight, oldestDueSeconds }: QueueBacklog): QueueResponse {
    return { queue, waiting, in_flight: inFlight, oldest_due_ms: Math.round(oldestDueSeconds * 1_000) };
  }
}

/** The queue of one number. */
export class LaneResponse {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  @ApiProperty({ format: 'uuid', example: EXAMPLE_WORKSPACE_ID })
  workspace_id!: string;

  @ApiProperty({ example: '15550000001' })
  phone_number!: string;

  /** State of the number. */
  @ApiProperty({ example: 'connected' })
  connection_status!: string;

  @ApiProperty({ type: 'integer', example: 12 })
  queued!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  scheduled!: number;

  /** Those whose turn has come. */
  @ApiProperty({ type: 'integer', example: 12 })
  due!: number;

  @ApiProperty({ type: 'integer', example: 3 })
  in_flight!: number;

  @ApiProperty({ type: 'integer', nullable: true, example: 140 })
  oldest_due_ms!: number | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  paused_until!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  pause_reason!: string | null;

  /** A worker sends from it at this moment. */
  @ApiProperty({ example: true })
  draining!: boolean;

  static of(lane: LaneStatus): LaneResponse {
    return {
      connection_id: lane.connectionId,
      workspace_id: lane.organizationId,
      phone_number: lane.phoneNumber,
      connection_status: lane.status,
      queued: lane.queued,
      scheduled: lane.scheduled,
      due: lane.due,
      in_flight: lane.inFlight,
      oldest_due_ms: lane.oldestDueMs,
      paused_until: lane.pausedUntil?.toISOString() ?? null,
      pause_reason: lane.pauseReason,
      draining: lane.isDrained,
    };
  }
}

/** What runs, and what waits. */
export class InstallationResponse {
  @ApiProperty({ example: '0.2.0' })
  version!: string;

  /** Of the process that answered. */
  @ApiProperty({ example: true })
  ready!: boolean;

  /** What readiness looks at: the database, the sweeps of all workers, and more. */
  @ApiProperty({ type: [ReadinessPartResponse] })
  parts!: ReadinessPartResponse[];

  /** Processes that send and deliver at this moment. */
  @ApiProperty({ type: 'integer', example: 2 })
  workers!: number;

  /** The database is another one than before: nothing is sent until `herald restore` decides. */
  @ApiProperty({ example: false })
  held!: boolean;

  @ApiProperty({ type: [QueueResponse] })
  queues!: QueueResponse[];

  /** Messages that wait for a decision, of each number up to 1,000. */
  @ApiProperty({ type: 'integer', example: 0 })
  outcome_unknown!: number;

  /** Numbers with messages that wait or are under way, the busiest first; up to 100. */
  @ApiProperty({ type: [LaneResponse] })
  lanes!: LaneResponse[];
}

export class SingleInstallationResponse {
  data!: InstallationResponse;
}
