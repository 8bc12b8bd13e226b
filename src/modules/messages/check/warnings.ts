import { databaseClock } from '../../../common/clock.js';
import type { ErrorDetail } from '../../../common/app-error.js';
import { accountOf, countryOf, isPossibleNumber } from '../../../infrastructure/whatsapp/account-number.js';
import { ownText } from '../../../infrastructure/whatsapp/json-access.js';
import { MEDIA_FIELDS } from '../../../infrastructure/whatsapp/message-body.js';
import type { Connection } from '../../connections/connections.types.js';
import type { ShownTemplate } from '../../templates/templates.service.js';
import { changeFiles, isMediaType } from '../../message-state/file-references.types.js';
import type { MessageInput } from '../accept/message-input.js';
import { LIST, REPLY_BUTTONS } from '../accept/variants/interactive-variants.js';
import { isUserId } from '../../conversations/contacts/recipient.types.js';
import type { Owner } from '../../conversations/control/owner.types.js';
import type { CheckWarningResponse } from '../dto/check-message.js';
import type { LastFailure } from '../messages.repository.js';
import type { QueueEstimate } from '../../sending/sending.types.js';

export interface WarningFacts {
  input: MessageInput;
  connection: Connection;
  template: ShownTemplate | null;
  window: { open: boolean; closesAt: Date | null };
  owner: Owner;
  queue: QueueEstimate;
  lastFailure: LastFailure | null;
}

/** Failures that concern the recipient, not just that message. */
const OF_THE_RECIPIENT: ReadonlySet<string> = new Set([
  'invalid_recipient',
  'recipient_unreachable',
  'recipient_limit',
  'opted_out',
]);
/** Ratings of a number or a template; WhatsApp pauses or limits those that stay RED. */
const LOW_QUALITY: ReadonlySet<string | null> = new Set<string | null>(['YELLOW', 'RED']);

const OF_THE_CONVERSATION: ReadonlySet<string> = new Set(['WINDOW_CLOSES_BEFORE_SEND', 'NOT_CONVERSATION_OWNER']);

/** @param mayRead the caller may read messages; without it, no warning says when the contact last wrote. */
export function warningsOf(facts: WarningFacts, mayRead: boolean): CheckWarningResponse[] {
  const warnings = [ofNumber, ofRecipient, ofOwner, ofTemplate, ofTime, ofFiles, ofFields, ofAction].flatMap((part) => [
    ...part(facts),
  ]);
  return mayRead ? warnings : warnings.filter(({ code }) => !OF_THE_CONVERSATION.has(code));
}

function* ofNumber({ connection }: WarningFacts): Generator<CheckWarningResponse> {
  const field = 'connection_id';
  if (connection.status === 'restricted') {
    const until = connection.restrictedUntil === null ? '' : ` until ${connection.restrictedUntil.toISOString()}`;
    const message = `WhatsApp restricts this number${until}: answers to customers mostly pass, messages that write first may be refused.`;
    yield { code: 'NUMBER_RESTRICTED', message, field };
  }
  if (LOW_QUALITY.has(connection.qualityRating)) {
    const message = `WhatsApp rates the quality of this number ${connection.qualityRating}: recipients block or report it. Write to fewer people who did not ask for it.`;
    yield { code: 'NUMBER_QUALITY_LOW', message, field };
  }
}

function* ofRecipient({
  input: { recipient },
  connection,
  lastFailure,
}: WarningFacts): Generator<CheckWarningResponse> {
  const field = isUserId(recipient) ? 'recipient' : 'to';
  if (field === 'to') {
    if (accountOf(recipient) === accountOf(connection.phoneNumber)) {
      const message = 'This is the number that sends; WhatsApp refuses a message to itself.';
      yield { code: 'RECIPIENT_IS_SENDER', message, field };
    } else if (!isPossibleNumber(recipient)) {
      const message = recipient.startsWith('0')
        ? 'No country code begins with 0, so WhatsApp knows no such number: write it as 49151..., not as 0151....'
        : 'No country has numbers of this form; check the country code and the number of digits.';
      yield { code: 'RECIPIENT_DOUBTFUL', message, field };
    }
  }
  if (lastFailure !== null && OF_THE_RECIPIENT.has(lastFailure.category)) {
    const message = `The last message to this recipient failed with ${lastFailure.category} at ${lastFailure.at.toISOString()}; GET /messages/${lastFailure.messageId} says why.`;
    yield { code: 'RECIPIENT_FAILED_BEFORE', message, field };
  }
}

function* ofOwner({ input, owner }: WarningFacts): Generator<CheckWarningResponse> {
  if (owner !== 'other' || input.type === 'template') return;
  const message =
    'Another app owns the conversation, so WhatsApp refuses this message: take control of it, wait until it is passed to you, or send a template.';
  yield { code: 'NOT_CONVERSATION_OWNER', message };
}

function* ofTemplate({ input, template }: WarningFacts): Generator<CheckWarningResponse> {
  if (template === null) return;
  if (LOW_QUALITY.has(template.quality)) {
    const message = `WhatsApp rates the quality of this template ${template.quality}; it pauses templates whose quality stays low, and then refuses them.`;
    yield { code: 'TEMPLATE_QUALITY_LOW', message, field: 'template.name' };
  }
  const { unused } = template.preview;
  if (unused.length > 0) {
    const message = `The template has no variable for ${unused.slice(0, 5).join(', ')}; leave the values out.`;
    yield { code: 'TEMPLATE_VALUES_UNUSED', message, field: 'template.components' };
  }
  // WhatsApp stopped them in April 2025: it accepts such a message and reports it as failed.
  if (template.category === 'MARKETING' && !isUserId(input.recipient) && countryOf(input.recipient) === 'US') {
    const message = 'WhatsApp mostly does not deliver marketing templates to numbers of the United States.';
    yield { code: 'MARKETING_TO_UNITED_STATES', message, field: 'to' };
  }
}

function* ofTime({ input, window, queue }: WarningFacts): Generator<CheckWarningResponse> {
  const at = queue.estimatedSendAt ?? (input.sendAt === undefined ? null : new Date(input.sendAt));
  if (at === null) return;
  const field = input.sendAt === undefined ? undefined : 'send_at';
  if (input.type !== 'template' && window.open && window.closesAt !== null && at >= window.closesAt) {
    const message = `The window closes at ${window.closesAt.toISOString()}, before the message leaves; send an approved template.`;
    yield { code: 'WINDOW_CLOSES_BEFORE_SEND', message, ...(field !== undefined && { field }) };
  }
  const from = input.sendAt === undefined ? databaseClock.now() : Date.parse(input.sendAt);
  if (input.ttlSeconds !== undefined && at.getTime() >= from + input.ttlSeconds * 1_000) {
    const message = 'So many messages of the number wait that this one expires before its turn; give it more time.';
    yield { code: 'EXPIRES_BEFORE_SEND', message, field: 'ttl_seconds' };
  }
}

function* ofFiles({ input }: WarningFacts): Generator<CheckWarningResponse> {
  const links = new Set<string>();
  changeFiles(input.type, input.content, (file) => {
    const link = ownText(file, 'link');
    if (link !== null) links.add(link);
    return file;
  });
  if (links.size === 0) return;
  const message =
    'WhatsApp fetches the file by its link only when the message is sent; upload it with POST /media to know before.';
  const field = input.type === 'template' || input.type === 'interactive' ? input.type : 'media.link';
  yield { code: 'MEDIA_LINK_NOT_CHECKED', message, field };
}

/** Errors in the action of buttons and lists that WhatsApp refuses. POST /messages passes the action on unchecked. */
function* ofAction({ input: { type, content } }: WarningFacts): Generator<CheckWarningResponse> {
  const kind = type === 'interactive' ? content.type : null;
  const shape = kind === 'button' ? REPLY_BUTTONS : kind === 'list' ? LIST : null;
  const found: ErrorDetail[] = [];
  shape?.check(content.action, 'interactive.action', found);
  for (const { field, message } of found)
    yield { code: 'ACTION_REFUSED', message: `WhatsApp refuses this: ${message}`, field };
}

function* ofFields({ input: { type, content } }: WarningFacts): Generator<CheckWarningResponse> {
  if (!isMediaType(type)) return;
  for (const name of ['caption', 'filename', 'voice']) {
    if (content[name] === undefined || MEDIA_FIELDS[type]?.includes(name) === true) continue;
    const message = `WhatsApp has no ${name} for a message of type ${type}: it is kept here and not sent.`;
    yield { code: 'MEDIA_FIELD_NOT_SENT', message, field: `media.${name}` };
  }
}
