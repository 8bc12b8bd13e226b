import type { StatusReport } from '../../src/modules/message-state/message.types.js';
import type { Factories } from '../support/factories.js';

/** One second for a whole file, so that what is reported and what is expected never fall into different seconds. */
const STARTED = Math.floor(Date.now() / 1_000);

/** A whole second, as in the platform's timestamps. */
export function secondsAgo(seconds: number): Date {
  return new Date((STARTED - seconds) * 1_000);
}

/** A message as the platform and its reports know it. */
export interface Reported {
  id: string;
  /** Comes back with each report. */
  attemptId: string;
  metaMessageId: string;
}

export function reportedAs({ id, attemptId, metaMessageId }: Awaited<ReturnType<Factories['message']>>): Reported {
  return { id, attemptId: attemptId ?? '', metaMessageId: metaMessageId ?? `wamid.${id}` };
}

/** What the platform reports of a message ten seconds ago. */
export function statusReport(
  connectionId: string,
  { id, attemptId, metaMessageId }: Reported,
  status: StatusReport['status'],
  change: Partial<StatusReport> = {},
): StatusReport {
  return {
    status,
    metaMessageId,
    callbackData: `${id}.${attemptId}`,
    occurredAt: secondsAgo(10),
    recipientId: null,
    recipientUserId: null,
    error: status === 'failed' ? { code: 131026, title: 'Message undeliverable', details: 'Not on WhatsApp' } : null,
    pricing: null,
    connectionId,
    ...change,
  };
}
