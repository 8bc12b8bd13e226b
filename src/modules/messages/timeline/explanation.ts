import {
  FAILURE_CATEGORIES,
  type FailureCategory,
  type FailureMeaning,
  type Responsible,
} from '../../../common/failure-category.js';
import { meaningOf } from '../../../infrastructure/whatsapp/graph-error.js';
import type { ExplanationResponse } from '../dto/timeline.response.js';
import type { MessageMarks } from '../messages.repository.js';
import type { Message } from '../../message-state/message.types.js';
import type { Waiting, WaitingReason } from '../../sending/sending.types.js';

export interface Explained extends Omit<MessageMarks, 'sendAt' | 'acts'> {
  message: Message;
  /** Set while the message is queued. */
  waiting: Waiting | null;
}

function withoutRetry(summary: string, responsible: Responsible | null = null): ExplanationResponse {
  return { summary, responsible, retry: { advised: false, not_before: null } };
}

/** The meaning of a failure, by its category, or by WhatsApp's code where that says more. */
export function meaningOfFailure(category: string | null, code: number | null): FailureMeaning {
  const known = FAILURE_CATEGORIES.find((each) => each === category) ?? ('unknown' satisfies FailureCategory);
  return meaningOf(known, code);
}

/** WhatsApp's code of an error; null for a code of Herald's own. */
export function codeOf(errorCode: string | null): number | null {
  return errorCode !== null && /^-?\d{1,10}$/.test(errorCode) ? Number(errorCode) : null;
}

/** After a day without a sign of the phone, the recipient counts as silent. */
const SILENT_MS = 86_400_000;

export function explanationOf(explained: Explained): ExplanationResponse {
  const { message, waiting, now } = explained;
  switch (message.status) {
    case 'received':
      if (message.standby) {
        return withoutRetry('A customer wrote this message to another app, which owned the conversation then.');
      }
      return withoutRetry(
        message.readAt === null
          ? 'A customer wrote this message. You have not marked it as read.'
          : 'A customer wrote this message, and you marked it as read.',
      );
    case 'queued':
      return waiting === null ? withoutRetry('It is queued.') : waitingOf(waiting);
    case 'processing':
      return withoutRetry('It is being sent at this moment. If no answer comes, its outcome becomes unknown.');
    case 'accepted':
      return withoutRetry('WhatsApp took it; whether it has left is not reported yet.');
    case 'sent': {
      const isSilent = message.sentAt !== null && now.getTime() - message.sentAt.getTime() > SILENT_MS;
      return isSilent
        ? withoutRetry(
            'WhatsApp sent it, and the phone has not taken it for more than a day: it is probably off or offline.',
            'recipient',
          )
        : withoutRetry("WhatsApp sent it. It is not on the recipient's phone yet.");
    }
    case 'delivered':
      return withoutRetry(
        "It arrived on the recipient's phone. Whether it was read is reported only where receipts are on.",
      );
    case 'read':
      return withoutRetry('It arrived, and the recipient opened it.');
    case 'outcome_unknown':
      return doubtful(message);
    case 'failed':
      return failed(explained);
  }
}

function doubtful({ errorCode }: Message): ExplanationResponse {
  const summary =
    errorCode === 'RESTORED'
      ? 'The database was restored from a backup, and it is not known whether the message had been sent before.'
      : 'It may have been sent: its request left, and no clear answer came. The first report of WhatsApp settles it.';
  return withoutRetry(
    `${summary} You can send it again; the recipient may then get it twice.`,
    errorCode === 'RESTORED' ? 'operator' : 'whatsapp',
  );
}

/** Texts for Herald's refusals at a scheduled time; the category's text alone would blame WhatsApp. */
const REFUSED_AT_ITS_TIME: Readonly<Record<string, string>> = {
  SUBSCRIPTION_REQUIRED: 'When its time came, the API was not paid for. Retry it once the subscription runs again.',
  RECIPIENT_OPTED_OUT: 'When its time came, the recipient had opted out. GET /opt-outs says who recorded it.',
  CONNECTION_NOT_READY: 'When its time came, its number was not connected. Retry it once the number is connected.',
};

function failed({ message, isErased, isCleared, now }: Explained): ExplanationResponse {
  if (message.errorCode === 'ERASED') {
    const summary = 'It was withdrawn before it was sent, because all that is known of the recipient was erased.';
    return withoutRetry(summary, 'operator');
  }
  const meaning = meaningOfFailure(message.failureCategory, codeOf(message.errorCode));
  const { responsible, retryAfterMinutes } = meaning;
  const summary = REFUSED_AT_ITS_TIME[message.errorCode ?? ''] ?? meaning.summary;
  if (message.source !== 'api')
    return withoutRetry(`${summary} It was sent in the WhatsApp Business app.`, responsible);
  if (isErased || isCleared) {
    const gone = isErased ? 'its contact was erased' : 'its content is no longer kept';
    return withoutRetry(`${summary} It cannot be retried: ${gone}.`, responsible);
  }
  if (retryAfterMinutes === null) return withoutRetry(summary, responsible);
  const from = new Date((message.failedAt ?? now).getTime() + retryAfterMinutes * 60_000);
  return { summary, responsible, retry: { advised: true, not_before: from > now ? from : null } };
}

const WAITS: Readonly<Record<WaitingReason, [summary: string, responsible: Responsible | null]>> = {
  tag_paused: ['Its tag is paused; POST /tags/{tag}/resume lets it go on.', 'you'],
  tag_pace: ['It waits for its turn at the pace of its tag (messages_per_minute).', null],
  scheduled: ['It waits for the time that you or its tag gave it.', null],
  earlier_message_to_recipient: ['It waits for an earlier message to the same recipient.', null],
  number_pace: ['It waits for its turn at the pace of its number.', null],
  pair_limit: ['WhatsApp asks for a pause between messages to this recipient.', null],
  number_paused: ['Its number rests for a while.', null],
  retry: ['The last attempt was deferred; Herald tries it again by itself.', null],
  number_disconnected: ['Its number cannot send: it is disconnected, or not connected yet.', 'operator'],
  due: ['It is due, and leaves as soon as a worker takes it.', null],
};

const HELD = 'Every number rests until the operator has confirmed the database after a restore: herald restore.';
const STALLED = 'It is due, and no worker takes messages of its number: see that one runs (herald queue status).';

function waitingOf(waiting: Waiting): ExplanationResponse {
  const { reason, until, ahead, estimatedSendAt, expiresAt, pauseReason } = waiting;
  let [summary, responsible] = WAITS[reason];
  if (reason === 'number_paused' && until === null) [summary, responsible] = [HELD, 'operator'];
  else if (reason === 'number_paused') {
    const [, category = null, code = null] = /^(\w+)(?: \((\d+)\))?$/.exec(pauseReason ?? '') ?? [];
    const cause = meaningOfFailure(category, codeOf(code));
    [summary, responsible] = [`${summary} ${cause.summary}`, cause.responsible];
  }
  if (reason === 'due' && estimatedSendAt === null) [summary, responsible] = [STALLED, 'operator'];
  const details = [
    until === null || until.getTime() === estimatedSendAt?.getTime() ? '' : `Until ${until.toISOString()}.`,
    ahead === 0 ? '' : `Ahead of it: ${ahead}.`,
    estimatedSendAt === null ? '' : `It leaves at about ${estimatedSendAt.toISOString()}.`,
    `It expires at ${expiresAt.toISOString()}.`,
  ].filter((text) => text !== '');
  return withoutRetry([summary, ...details].join(' '), responsible);
}
