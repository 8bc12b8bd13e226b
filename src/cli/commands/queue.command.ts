import type { Command } from 'commander';
import type { LaneStatus } from '../../modules/messages/messages.types.js';
import type { QueueBacklog } from '../../infrastructure/operations/backlogs.js';
import { table, timeText } from '../answer.js';
import { doesWithServices } from '../runner.js';

const QUEUE_COLUMNS = ['WHAT', 'WAITING', 'IN FLIGHT', 'OLDEST DUE'] as const;
const COLUMNS = ['CONNECTION', 'NUMBER', 'DUE', 'QUEUED', 'IN FLIGHT', 'OLDEST DUE', 'STATE'] as const;

/** `queue status`. */
export function addQueueCommands(program: Command): void {
  const queue = program.command('queue').description('what waits to be sent');
  doesWithServices(
    queue
      .command('status')
      .description('what waits and since when: messages by number, webhooks, codes, files, notifications'),
    async (services) => {
      const status = services.queueStatus;
      const lanes = await status.lanes();
      const unknown = await status.unknown();
      const queues = await services.backlogs.read();
      return {
        data: { queues: queues.map(queueBodyOf), outcome_unknown: unknown, lanes: lanes.map(bodyOf) },
        text: [
          table(QUEUE_COLUMNS, queues.map(queueRowOf), ''),
          ...(unknown === 0 ? [] : [`${unknown} messages with an unknown outcome: they wait for a decision.`]),
          table(COLUMNS, lanes.map(rowOf), 'No number has messages to send.'),
        ].join('\n\n'),
      };
    },
  );
}

function queueRowOf({ queue, waiting, inFlight, oldestDueSeconds }: QueueBacklog): string[] {
  const age = oldestDueSeconds === 0 ? '-' : `${oldestDueSeconds.toFixed(1)} s`;
  return [queue, String(waiting), String(inFlight), age];
}

function queueBodyOf({ queue, waiting, inFlight, oldestDueSeconds }: QueueBacklog): object {
  return { queue, waiting, in_flight: inFlight, oldest_due_ms: Math.round(oldestDueSeconds * 1_000) };
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
