import type { Command } from 'commander';
import type { LaneStatus } from '../../modules/messages/messages.types.js';
import { QueueStatusService } from '../../modules/messages/queue-status.service.js';
import { table, timeText } from '../answer.js';
import { doesWithServices } from '../runner.js';

const COLUMNS = ['CONNECTION', 'NUMBER', 'DUE', 'QUEUED', 'IN FLIGHT', 'OLDEST DUE', 'STATE'] as const;

/** `queue status`. */
export function addQueueCommands(program: Command): void {
  const queue = program.command('queue').description('what waits to be sent');
  doesWithServices(
    queue.command('status').description('numbers with waiting messages: how many, and since when'),
    async ({ app }) => {
      const lanes = await app.get(QueueStatusService, { strict: false }).lanes();
      return { data: lanes.map(bodyOf), text: table(COLUMNS, lanes.map(rowOf), 'Nothing waits to be sent.') };
    },
  );
}

function rowOf(lane: LaneStatus): string[] {
  const age = lane.oldestDueMs === null ? '-' : `${(lane.oldestDueMs / 1_000).toFixed(1)} s`;
  return [
    lane.connectionId,
    lane.phoneNumber,
    String(lane.due),
    String(lane.queued),
    String(lane.inFlight),
    age,
    stateOf(lane),
  ];
}

function stateOf(lane: LaneStatus): string {
  if (lane.status !== 'connected') return lane.status;
  if (lane.pausedUntil !== null) return `paused until ${timeText(lane.pausedUntil)}: ${lane.pauseReason ?? '-'}`;
  return lane.isDrained ? 'draining' : 'waiting';
}

function bodyOf(lane: LaneStatus): object {
  return {
    connection_id: lane.connectionId,
    organization_id: lane.organizationId,
    phone_number: lane.phoneNumber,
    connection_status: lane.status,
    due: lane.due,
    queued: lane.queued,
    in_flight: lane.inFlight,
    oldest_due_at: lane.oldestDueAt,
    oldest_due_ms: lane.oldestDueMs,
    paused_until: lane.pausedUntil,
    pause_reason: lane.pauseReason,
    draining: lane.isDrained,
  };
}
