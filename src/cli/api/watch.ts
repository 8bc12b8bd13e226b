import { clock, clockAfter } from '../clock-text.js';
import type { Live } from '../live.js';
import { paint, paintStatus, padded } from '../style.js';
import type { ApiClient } from './api-client.js';
import { type ApiMessageDetail, type Single, STATE_FIELDS } from './message.js';

export interface WatchOptions {
  /** Ends the watch when the message is in one of these states. */
  until: (message: ApiMessageDetail) => boolean;
  timeoutMs: number;
  /** In front of each line. */
  indent?: string;
  /** What an earlier watch of the same message has said already. */
  seen?: Set<string>;
}

export interface Watched {
  message: ApiMessageDetail;
  /** The time was over before `until` came true. */
  timedOut: boolean;
}

/** Between two looks; far below the default limit of 50 requests a second. */
const LOOK_EVERY_MS = 200;

/** One step in a message's life, as `message watch --json` prints it. */
interface Step {
  event: 'status';
  id: string;
  status: string;
  /** By the API; null for a state that has no time of its own, such as outcome_unknown. */
  at: string | null;
  attempt: number;
  error?: string;
}

/** Reads a message again and again, and says each state that it has come to, until `until` or the end of the time. */
export async function watchMessage(api: ApiClient, id: string, live: Live, options: WatchOptions): Promise<Watched> {
  const deadline = Date.now() + options.timeoutMs;
  const seen = options.seen ?? new Set<string>();
  for (;;) {
    const { data: message } = await api.get<Single<ApiMessageDetail>>(`/messages/${encodeURIComponent(id)}`);
    for (const step of stepsOf(message)) {
      const key = `${step.status} ${step.at ?? step.attempt}`;
      if (seen.has(key)) continue;
      seen.add(key);
      live.say(`${options.indent ?? ''}${lineOf(step, message)}`, step);
    }
    const reached = options.until(message);
    if (reached || Date.now() >= deadline) return { message, timedOut: !reached };
    await live.pause(LOOK_EVERY_MS);
  }
}

/** Every state that the message has been in since it was last queued, and the one in which it is. */
function stepsOf(message: ApiMessageDetail): Step[] {
  const attempt = message.attempt_count;
  const base = { event: 'status', id: message.id } as const;
  const steps: Step[] = STATE_FIELDS.flatMap(([status, field]) => {
    const at = message[field];
    if (at === null || (status === 'failed' && message.status !== 'failed')) return [];
    // A retry keeps the time of the failure before it; only what came since the message was queued is its own.
    if (message.queued_at !== null && at < message.queued_at) return [];
    return [{ ...base, status, at, attempt: status === 'queued' ? Math.max(0, attempt - 1) : attempt }];
  });
  if (!steps.some((step) => step.status === message.status)) {
    steps.push({ ...base, status: message.status, at: null, attempt });
  }
  const last = steps.find((step) => step.status === message.status);
  if (last !== undefined && message.error !== null) last.error = `${message.error.code} ${message.error.message}`;
  return steps;
}

function lineOf({ status, at, error }: Step, message: ApiMessageDetail): string {
  const time = at === null ? clock(new Date()) : clock(new Date(at));
  const after = message.queued_at === null || at === null ? '' : clockAfter(message.queued_at, at);
  const why = [message.status === status ? message.failure_category : null, error].filter(Boolean).join(', ');
  return [
    paint.faint(time),
    padded(paintStatus(status), 16),
    padded(paint.faint(after), 9),
    why === '' ? '' : paint.bad(why),
  ]
    .join('  ')
    .trimEnd();
}

/** States after which nothing more is to be expected of a message. */
export function isOver({ status }: { status: string }): boolean {
  return status === 'read' || status === 'failed' || status === 'received';
}
