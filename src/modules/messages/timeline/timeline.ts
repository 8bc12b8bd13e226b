import type { MessageEventDelivery } from '../../webhook/webhook.types.js';
import {
  type TIMELINE_ACTORS,
  TIMELINE_EVENTS,
  type TIMELINE_SOURCES,
  type TimelineEntryResponse,
} from '../dto/timeline.response.js';
import type { MessageStatus, OutboundStatus } from '../../message-state/message-state.types.js';
import type { MessageMarks } from '../messages.repository.js';
import type { Attempt, DetailedMessage, MessageAct } from '../../message-state/message.types.js';
import { isUuid } from '../../../common/ids.js';
import { codeOf, meaningOfFailure } from './explanation.js';

type TimelineEvent = (typeof TIMELINE_EVENTS)[number];

interface TimelineEntry extends TimelineEntryResponse {
  event: TimelineEvent;
  status?: MessageStatus;
  source: (typeof TIMELINE_SOURCES)[number];
  by?: (typeof TIMELINE_ACTORS)[number];
}

/** Limit of attempts in a timeline; it shows the latest. */
export const MAX_ATTEMPTS = 100;

/** Limit of entries in a timeline; it shows the latest. */
export const MAX_ENTRIES = 500;

/** Everything stored about a message. */
export interface MessageHistory extends Pick<MessageMarks, 'sendAt' | 'acts' | 'changes'> {
  message: DetailedMessage;
  /** When the contact's data was erased, if known. */
  erasedAt: Date | null;
  events: MessageEventDelivery[];
}

/** Sorts events of the same moment in the order in which they happen. */
const RANK = new Map(TIMELINE_EVENTS.map((event, index) => [event, index]));

/** Every event of a message that its rows and its webhook events show, oldest first. */
export function timelineOf(history: MessageHistory): TimelineEntry[] {
  const { message, erasedAt } = history;
  const entries = message.direction === 'inbound' ? receivedMoves(history) : sentMoves(history);
  entries.push(...history.changes.map((change) => changedMove(change, message)));
  entries.sort(byTime);
  addEvents(entries, history);
  if (erasedAt !== null && !entries.some(({ event }) => event === 'erased')) {
    const summary = 'Everything that named the contact was erased: content, numbers and ids at WhatsApp.';
    entries.push({ at: erasedAt, event: 'erased', source: 'operator', summary });
  }
  return entries.sort(byTime).slice(-MAX_ENTRIES);
}

function byTime(a: TimelineEntry, b: TimelineEntry): number {
  return a.at.getTime() - b.at.getTime() || (RANK.get(a.event) ?? 0) - (RANK.get(b.event) ?? 0);
}

function receivedMoves({ message }: MessageHistory): TimelineEntry[] {
  const { createdAt, sentAt, readAt } = message;
  const written = sentAt === null ? '' : `, which the customer wrote at ${sentAt.toISOString()}`;
  const received = { event: 'received', status: 'received', source: 'whatsapp' } as const;
  const entries: TimelineEntry[] = [
    { at: createdAt, ...received, summary: `WhatsApp handed over the message${written}.` },
  ];
  if (readAt !== null) {
    const summary = 'You marked it as read; the customer sees the two blue ticks.';
    entries.push({ at: readAt, event: 'read', source: 'api', summary });
  }
  return entries;
}

/** An edit or a revoke, which is also a message of its own. */
function changedMove({ type, at }: MessageMarks['changes'][number], { direction }: DetailedMessage): TimelineEntry {
  const author = direction === 'inbound' ? 'The customer' : 'The business';
  return type === 'edit'
    ? { at, event: 'edited', source: 'whatsapp', summary: `${author} edited it.` }
    : { at, event: 'revoked', source: 'whatsapp', summary: `${author} withdrew it: show its text no longer.` };
}

function sentMoves(history: MessageHistory): TimelineEntry[] {
  const { message, sendAt } = history;
  if (message.source !== 'api') return appMoves(message);
  const later = sendAt === null ? '' : `, to be sent at ${sendAt.toISOString()}`;
  const summary = `You sent it with POST /messages; Herald stored it durably${later}.`;
  return [
    { at: message.createdAt, event: 'queued', status: 'queued', source: 'api', summary },
    ...history.acts.flatMap((act) => actMoves(act, history)),
    ...releasedMoves(message.queuedAt, history),
    ...message.attempts.flatMap((attempt) => attemptMoves(attempt, message)),
    ...reportedMoves(message),
    ...endMoves(message),
  ];
}

/** The events of a message sent in the app: WhatsApp has it from the beginning. */
function appMoves(message: DetailedMessage): TimelineEntry[] {
  const { createdAt, source } = message;
  const how = source === 'app' ? 'WhatsApp told Herald of it.' : 'It was imported from the history of the app.';
  const summary = `The business sent it in the WhatsApp Business app, not by this API. ${how}`;
  const [sent, ...later] = reportedMoves(message);
  return [
    { at: sent?.at ?? createdAt, event: 'sent', status: 'sent', source: 'whatsapp', summary },
    ...later,
    ...endMoves(message),
  ];
}

/** A cancel, or a retry. A retry includes the failure before it, if no attempt shows that. */
function actMoves(act: MessageAct, history: MessageHistory): TimelineEntry[] {
  const { at, apiKeyId } = act;
  const by = actorOf(apiKeyId);
  const of = apiKeyId === null ? `/tags/${encodeURIComponent(history.message.tag ?? '')}` : '/messages/{id}';
  if (act.act === 'deleted' || act.act === 'warned') return [notedMove(act)];
  const entry = { at, source: 'api', ...by } as const;
  if (act.act === 'canceled') {
    const summary = `You canceled it with POST ${of}/cancel, before it was sent.`;
    return [{ ...entry, event: 'canceled', status: 'failed', summary }];
  }
  const summary = `You sent it again with POST ${of}/retry.`;
  return [
    ...releasedMoves(act.queuedAt, history),
    ...endedMoves(act, history.message),
    { ...entry, event: 'retried', status: 'queued', summary },
  ];
}

/** A person acts through a session, whose id is not a key's. */
function actorOf(id: string | null): Pick<TimelineEntry, 'by' | 'api_key_id' | 'person_id'> {
  if (id === null) return { by: 'tag' };
  return isUuid(id) ? { by: 'caller', person_id: id } : { by: 'caller', api_key_id: id };
}

function notedMove({ at, act, errorCode }: MessageAct): TimelineEntry {
  const code = codeOf(errorCode);
  if (act === 'deleted') {
    return { at, event: 'deleted', source: 'whatsapp', summary: 'WhatsApp reported that it was deleted.' };
  }
  const meaning = code === null ? '' : ` ${meaningOfFailure(null, code).summary} (code ${code})`;
  const warned = { at, event: 'warned', source: 'whatsapp', summary: `WhatsApp warned of it.${meaning}` } as const;
  return code === null ? warned : { ...warned, platform_code: code };
}

/** The failure before a retry: of a message that expired, or that never had an attempt. */
function endedMoves(
  { failedAt: at, failureCategory, errorCode }: MessageAct,
  message: DetailedMessage,
): TimelineEntry[] {
  if (at === null || errorCode === CANCELED) return [];
  if (errorCode === EXPIRED) return [{ at, event: 'expired', status: 'failed', source: 'herald', summary: WAITED }];
  if (message.attempts.some(({ startedAt }) => startedAt <= at)) return [];
  const { summary } = meaningOfFailure(failureCategory, codeOf(errorCode));
  return [{ at, event: 'failed', status: 'failed', source: 'herald', summary }];
}

/** What queued the message at this time, if neither its acceptance nor a retry did. */
function releasedMoves(at: Date | null, { message, acts }: MessageHistory): TimelineEntry[] {
  if (at === null || at <= message.createdAt) return [];
  if (acts.some((act) => act.act === 'retried' && act.at.getTime() === at.getTime())) return [];
  const summary = 'Its time came: it joined the queue.';
  return [{ at, event: 'released', source: 'herald', by: 'schedule', summary }];
}

function attemptMoves(attempt: Attempt, message: DetailedMessage): TimelineEntry[] {
  const { number, startedAt, finishedAt, status, platformCode } = attempt;
  const started: TimelineEntry = {
    at: startedAt,
    event: 'attempt_started',
    status: 'processing',
    attempt: number,
    source: 'herald',
    summary: `Attempt ${number} began: a worker took the message.`,
  };
  if (finishedAt === null || status === 'started') return [started];
  const why = reasonOf(attempt);
  const isLast = number === message.attempts.at(-1)?.number;
  if (status === 'accepted') {
    // A report may have come before the answer: then the message was never in this state.
    const at = isLast ? (message.acceptedAt ?? finishedAt) : finishedAt;
    const isState = !isLast || message.acceptedAt !== null;
    const late = attempt.failureCategory === null || isLast ? '' : ` Later it reported that it failed: ${why}`;
    const taken =
      attempt.httpStatus === null
        ? 'A report of WhatsApp showed that it took the message.'
        : 'WhatsApp took the message and gave it an id.';
    const summary = `${taken}${late}`;
    const accepted = { at, event: 'attempt_accepted', attempt: number, source: 'whatsapp', summary } as const;
    return [started, { ...accepted, ...(isState && { status }) }];
  }
  const isAnswered = attempt.httpStatus !== null || platformCode !== null;
  const unwritten = isAnswered ? '' : ' Nothing was written to WhatsApp.';
  const [event, became, summary] = {
    rejected: ['attempt_rejected', 'failed', `Attempt ${number} failed: ${why}`],
    deferred: ['attempt_deferred', 'queued', `Attempt ${number} was deferred: ${why}${unwritten}`],
    unknown: [
      'attempt_unknown',
      'outcome_unknown',
      `No clear answer came to attempt ${number}: it is not known whether WhatsApp took the message.`,
    ],
  }[status] as [TimelineEvent, MessageStatus, string];
  const ended = { at: finishedAt, attempt: number, ...(platformCode !== null && { platform_code: platformCode }) };
  return [started, { ...ended, event, status: became, source: isAnswered ? 'whatsapp' : 'herald', summary }];
}

function reasonOf({ failureCategory, platformCode, platformMessage }: Attempt): string {
  if (failureCategory === null && platformMessage === null) return 'the request was not written.';
  const words = platformMessage === null ? '' : ` WhatsApp's words: ${platformMessage}`;
  // Errors without a code are Herald's own.
  if (platformCode === null && platformMessage !== null) return platformMessage;
  const code = platformCode === null ? '' : ` (code ${platformCode})`;
  return `${meaningOfFailure(failureCategory, platformCode).summary}${code}${words}`;
}

const REPORTED: readonly [OutboundStatus & TimelineEvent, 'sentAt' | 'deliveredAt' | 'readAt', string][] = [
  ['sent', 'sentAt', 'WhatsApp sent it on to the recipient.'],
  ['delivered', 'deliveredAt', "It is on the recipient's phone."],
  ['read', 'readAt', 'The recipient opened it.'],
];

/** Reports about the last attempt only: a retry clears the times of earlier ones. */
function reportedMoves(message: DetailedMessage): TimelineEntry[] {
  const attempt = bringerOf(message);
  return REPORTED.flatMap(([status, field, summary]) => {
    const at = message[field];
    return at === null ? [] : [{ at, event: status, status, ...attempt, source: 'whatsapp' as const, summary }];
  });
}

const CANCELED = 'CANCELED';
const EXPIRED = 'EXPIRED';
const WAITED = 'It waited in the queue until its time was over. Nothing was sent.';
const WITHDRAWN = 'All that is known of the recipient was erased before it was sent; it was withdrawn.';

/** Failures and unknown outcomes that are not the answer to an attempt. */
function endMoves(message: DetailedMessage): TimelineEntry[] {
  const { status, failedAt, failureCategory, errorCode, errorMessage } = message;
  if (status === 'outcome_unknown' && errorCode === 'RESTORED') {
    const summary = 'The database was restored from a backup: whether the message was sent before is not known.';
    const at = message.attempts.at(-1)?.finishedAt ?? message.queuedAt ?? message.createdAt;
    return [{ at, event: 'restored', status, source: 'operator', summary }];
  }
  if (status !== 'failed' || failedAt === null) return [];
  const ended = { at: failedAt, status } as const;
  if (errorCode === CANCELED) return []; // The cancel is shown by its act.
  if (errorCode === EXPIRED) return [{ ...ended, event: 'expired', source: 'herald', summary: WAITED }];
  if (errorCode === 'ERASED') {
    return [{ ...ended, event: 'erased', source: 'operator', by: 'operator', summary: WITHDRAWN }];
  }
  const last = message.attempts.at(-1);
  if (last?.status === 'rejected' && message.acceptedAt === null) return [];
  const code = codeOf(errorCode);
  const isReported = last !== undefined || message.source !== 'api';
  const words = isReported && errorMessage !== null ? ` WhatsApp's words: ${errorMessage}` : '';
  const { summary: meaning } = meaningOfFailure(failureCategory, code);
  const summary = isReported ? `WhatsApp reported that it failed: ${meaning}${words}` : (errorMessage ?? meaning);
  const brought = { ...bringerOf(message), ...(code !== null && { platform_code: code }) };
  return [{ at: failedAt, event: 'failed', status, ...brought, source: isReported ? 'whatsapp' : 'herald', summary }];
}

function bringerOf({ attempts }: DetailedMessage): { attempt?: number } {
  const last = attempts.at(-1);
  return last === undefined ? {} : { attempt: last.number };
}

/** The status of a message in the events that announce it. */
const STATUS_OF_EVENT: Readonly<Record<string, MessageStatus>> = {
  'message.received': 'received',
  'message.standby.received': 'received',
  'message.sent_elsewhere': 'sent',
};

/** Adds deliveries to the entries. An event whose change the rows no longer show becomes an entry of its own. */
function addEvents(entries: TimelineEntry[], { message, events }: MessageHistory): void {
  for (const event of events) {
    const status = (STATUS_OF_EVENT[event.type] ?? event.status) as MessageStatus | null;
    if (status === null || (STATUS_OF_EVENT[event.type] === undefined && event.type !== 'message.status.updated'))
      continue;
    const known = entries.find(
      (entry) =>
        (entry.status ?? (entry.event === 'attempt_accepted' ? 'accepted' : null)) === status &&
        entry.delivery_ids === undefined &&
        (entry.attempt === undefined || event.attempt === null || entry.attempt === event.attempt),
    );
    if (known !== undefined) {
      known.status = status;
      known.delivery_ids = event.deliveryIds;
      continue;
    }
    if (message.direction === 'inbound') continue;
    // Without an attempt, nothing has reached WhatsApp.
    const attempt = event.attempt === 0 ? null : event.attempt;
    entries.push({
      at: event.occurredAt,
      event: status as TimelineEvent,
      status,
      ...(attempt !== null && { attempt }),
      source: status === 'outcome_unknown' || event.attempt === 0 ? 'herald' : 'whatsapp',
      summary: FORGOTTEN[status] ?? `It became ${status}.`,
      delivery_ids: event.deliveryIds,
    });
  }
}

const FORGOTTEN: Readonly<Partial<Record<MessageStatus, string>>> = {
  accepted: 'WhatsApp took the message.',
  sent: 'WhatsApp sent it on to the recipient.',
  delivered: "It was on the recipient's phone.",
  read: 'The recipient opened it.',
  failed: 'It failed.',
  outcome_unknown: 'No clear answer came: it was not known whether WhatsApp took the message.',
};
