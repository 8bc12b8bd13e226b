import { ERROR_TITLES } from '../graph-error.js';
import { stepsOf } from '../messages/status-plan.js';
import type { TakenMessage } from '../messages/taken-message.js';
import type { Users } from '../users.js';

const FAILURE_DETAILS: Readonly<Record<number, string>> = {
  131026: 'The number is not on WhatsApp, runs an old version, or has not accepted the terms of service',
  131053: 'The media could not be fetched, or is not of a type that such a message can have',
  131047: 'More than 24 hours have passed since the customer last wrote to this number',
};

/** One entry of `statuses[]`, in the shape of v24 and later: no `conversation`, `pricing` with sent and with one more. */
export function statusJson(message: TakenMessage, stepIndex: number, gapMs: number, users: Users): object {
  const steps = stepsOf(message.plan);
  const step = steps[stepIndex];
  if (step === undefined) throw new Error(`plan ${message.plan} has no step ${stepIndex}`);
  const atSeconds = Math.floor((message.takenAt + step.gaps * gapMs) / 1000);
  const failed = step.status === 'failed';
  // Priced once more after `sent`: with `delivered`, or with `read` where `delivered` is skipped.
  const priced =
    step.status === 'sent' ||
    step.status === 'delivered' ||
    (step.status === 'read' && !steps.some((other) => other.status === 'delivered'));
  return {
    id: message.id,
    status: step.status,
    timestamp: String(atSeconds),
    ...(message.waId === null ? {} : { recipient_id: message.waId }),
    ...(message.waId === null
      ? { recipient_user_id: message.to }
      : failed
        ? {}
        : { recipient_user_id: users.userIdOf(message.waId) }),
    ...(message.callback === null ? {} : { biz_opaque_callback_data: message.callback }),
    ...(priced ? { pricing: pricingOf(message) } : {}),
    ...(step.errorCode === undefined ? {} : { errors: [failureJson(step.errorCode)] }),
  };
}

/**
 * The `contacts[]` entry beside a status; null for `failed`, which has none. Every third message's has no `profile`:
 * real payloads do so too, and code that expects one loses its receipts.
 */
export function statusContact(message: TakenMessage, stepIndex: number, users: Users): object | null {
  const status = stepsOf(message.plan)[stepIndex]?.status;
  if (status === 'failed') return null;
  const party = message.waId ?? message.to;
  const username = status === 'sent' ? undefined : users.usernameOf(party);
  return {
    ...(message.sequence % 3 === 0
      ? {}
      : { profile: { name: users.profileNameOf(party), ...(username === undefined ? {} : { username }) } }),
    ...(message.waId === null ? {} : { wa_id: message.waId }),
    user_id: message.waId === null ? message.to : users.userIdOf(message.waId),
  };
}

function pricingOf(message: TakenMessage): object {
  const free = message.pricing === 'service';
  return {
    billable: !free,
    pricing_model: 'PMP',
    type: free ? 'free_customer_service' : 'regular',
    category: message.pricing,
  };
}

function failureJson(code: number): object {
  const title = ERROR_TITLES[code]?.title ?? 'Unknown error';
  return {
    code,
    title,
    message: title,
    error_data: { details: FAILURE_DETAILS[code] ?? title },
    href: '/documentation/business-messaging/whatsapp/support/error-codes',
  };
}
