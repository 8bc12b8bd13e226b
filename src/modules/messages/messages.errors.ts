import type { PreviousNames } from '../conversations/conversations.types.js';
import type { ErrorDetail } from '../../common/app-error.js';
import { defineErrors, error } from '../../common/define-errors.js';
import { idempotencyErrors } from '../../common/common.errors.js';
import type { OptOutFound } from '../opt-outs/opt-outs.types.js';

/** Why one message of a batch cannot be sent: the error of POST /messages, with the message's index. */
export interface BatchError extends Record<string, unknown> {
  index: number;
  code: string;
  message: string;
  /** Empty where the code has none. */
  details: readonly ErrorDetail[];
}

const ownErrors = defineErrors('messages', {
  MESSAGE_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such message in this workspace.',
    when: "The id names no message of this key's workspace.",
    fix: 'Take the id from the answer of POST /messages or from GET /messages.',
  }),
  MESSAGE_NOT_RETRYABLE: error<{ status: string; cleared?: boolean; erased?: boolean; isOfApp?: boolean }>({
    kind: 'conflict',
    message: ({ status, cleared, erased, isOfApp }) =>
      isOfApp === true
        ? 'This message was sent in the WhatsApp Business app, not by this API; send a new one instead of a retry.'
        : cleared === true
          ? 'What this message said was cleared when its time was over; send it as a new one.'
          : erased === true
            ? 'The contact of this message was erased; it can no longer be sent.'
            : `A message that is ${status} cannot be retried; only failed ones can.`,
    when: 'A retry was asked for a message that has not failed, that was sent in the WhatsApp Business app, or whose content was cleared when its time was over.',
    fix: 'Wait for its outcome and retry it when it is failed; send a new message where the content was removed.',
    extra: ({ status }) => ({ status }),
    sample: { status: 'delivered' },
  }),
  MESSAGE_NOT_RECEIVED: error<{ erased?: boolean }>({
    kind: 'conflict',
    message: ({ erased }) =>
      erased === true
        ? 'The contact of this message was erased; it can no longer be marked as read.'
        : 'This message was sent by you; only messages that you received can be marked as read.',
    when: 'A message that you sent, or whose contact was erased, was to be marked as read.',
    fix: 'Take the id of a message with `direction: inbound`, from a message.received event or GET /messages?status=received.',
    sample: {},
  }),
  OUTCOME_UNKNOWN_NOT_CONFIRMED: error<{ status: string }>({
    kind: 'conflict',
    message:
      'It is unknown whether this message was sent; set confirm_outcome_unknown: true to send it again, possibly twice.',
    when: 'A retry was asked for a message whose outcome is unknown, without the confirmation; or for one that failed, of which WhatsApp has accepted an earlier attempt.',
    fix: 'Wait for a notification to resolve it, or confirm that a second copy is acceptable.',
    extra: ({ status }) => ({ status }),
    sample: { status: 'outcome_unknown' },
  }),
  RECIPIENT_NEEDS_PHONE: error({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message:
      'WhatsApp sends authentication templates to phone numbers only; give the number in to instead of recipient.',
    when: 'An authentication template is addressed to a user id.',
    fix: 'Send it with `to`, or send a template of another category.',
  }),
  REPLY_TARGET_NOT_FOUND: error({
    kind: 'unprocessable',
    message: 'reply_to_message_id names no message of this conversation that can be answered.',
    when: 'The message to answer is unknown, failed, or belongs to another conversation.',
    fix: 'Take the id of a message of the same conversation.',
  }),
  RECIPIENT_OPTED_OUT: error<OptOutFound>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: ({ source, since }) =>
      source === 'platform'
        ? `The recipient opted out of marketing messages in WhatsApp at ${since}; only they can take it back.`
        : `The recipient opted out at ${since}, as this workspace recorded.`,
    when: 'A marketing template goes to a person who opted out, or any message to one who wants none.',
    fix: 'Send nothing of this kind to them. `source` says who recorded it: an entry of your own ends with DELETE /opt-outs/{id}, one of `platform` when the person opts in again in WhatsApp.',
    extra: ({ source, since }) => ({ source, since }),
    sample: { source: 'platform', since: '2026-11-20T17:42:00.000Z' },
  }),
  RECIPIENT_REPLACED: error<PreviousNames>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: 'The contact has another number or user id now, and WhatsApp did not say which.',
    when: 'WhatsApp reported that a contact gave up this number or user id, and neither a new number nor a new user id is known. Where one is, the message goes there.',
    fix: 'Wait until the contact writes again, or ask for the new number in another way; `contact.previous` has the names that are not valid any more.',
    extra: (previous) => ({ contact: { previous } }),
    sample: { phones: ['15550100001'], user_ids: ['DE.1795'] },
  }),
  SEND_AT_PASSED: error<{ earliest: string }>({
    kind: 'unprocessable',
    message: ({ earliest }) =>
      `send_at has passed, or is less than 10 seconds ahead; the earliest time was ${earliest} when this was answered. Leave it out to send at once.`,
    when: 'The `send_at` of a message lies in the past, or less than 10 seconds ahead, by the time of Herald.',
    fix: 'Give a `send_at` of at least `earliest_send_at`, the last messages of a long run with some minutes to spare, or none.',
    extra: ({ earliest }) => ({ earliest_send_at: earliest }),
    sample: { earliest: '2026-11-24T09:00:10.000Z' },
  }),
  MESSAGE_NOT_CANCELABLE: error<{ status: string; isOfApp?: boolean }>({
    kind: 'conflict',
    message: ({ status, isOfApp }) =>
      isOfApp === true
        ? 'This message was sent in the WhatsApp Business app, not by this API; it cannot be canceled here.'
        : `A message that is ${status} cannot be canceled; only what still waits can.`,
    when: 'A message was to be canceled that was taken for sending already, has an outcome, or was received.',
    fix: 'It cannot be canceled any more; GET /messages/{id} has its status.',
    extra: ({ status }) => ({ status }),
    sample: { status: 'processing' },
  }),
  BATCH_REFUSED: error<{ errors: BatchError[]; count: number }>({
    kind: 'unprocessable',
    message: ({ errors, count }) =>
      `${errors.length} of ${count} messages cannot be sent, so none was taken; errors says why for each.`,
    when: 'A message of a strict batch cannot be sent. Nothing was stored.',
    fix: 'Fix or leave out the messages that `errors` names by their `index`, or send the batch with `validation: "permissive"`.',
    extra: ({ errors }) => ({ errors }),
    sample: {
      count: 2,
      errors: [
        {
          index: 1,
          code: 'SERVICE_WINDOW_CLOSED',
          message:
            'The 24-hour window with this contact is closed; send an approved template, or wait for their message.',
          details: [],
          window_expired_at: '2026-11-20T17:42:00.000Z',
        },
      ],
    },
  }),
  BACKLOG_LIMIT_REACHED: error<{ retryAfterSeconds: number; scheduled?: boolean }>({
    kind: 'rate_limited',
    message: ({ scheduled }) =>
      `Too many messages of this workspace are ${scheduled === true ? 'scheduled' : 'queued'}; wait until some have gone out.`,
    when: 'The workspace has as many messages queued, or as many scheduled, as it may have.',
    fix: 'Wait for `Retry-After` seconds; the limit is the setting BACKLOG_LIMIT.',
    extra: ({ retryAfterSeconds }) => ({ retry_after_seconds: retryAfterSeconds }),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
    sample: { retryAfterSeconds: 60 },
  }),
});

export const messagesErrors = { ...idempotencyErrors, ...ownErrors };
