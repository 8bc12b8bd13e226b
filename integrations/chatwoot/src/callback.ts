import { createHmac, timingSafeEqual } from 'node:crypto';
import { heraldConversationOf, heraldMessageOf } from './names.js';
import type { Answer } from './state.js';

/** As Chatwoot's documentation advises; each of its repeats is signed anew. */
const LONGEST_AGE_SECONDS = 300;
/** Chatwoot allows 15 to a message. */
const MOST_FILES = 15;

/** Whether the callback is Chatwoot's, and not one of long ago. */
export function isSigned(
  rawBody: Uint8Array,
  { signature, timestamp }: { signature: string | undefined; timestamp: string | undefined },
  secret: string,
  nowSeconds: number,
): boolean {
  if (signature === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowSeconds - Number(timestamp)) > LONGEST_AGE_SECONDS) return false;
  const expected = `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex')}`;
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
}

interface Callback {
  event?: unknown;
  id?: unknown;
  content?: unknown;
  message_type?: unknown;
  private?: unknown;
  source_id?: unknown;
  content_attributes?: { in_reply_to_external_id?: unknown; deleted?: unknown } | null;
  attachments?: { data_url?: unknown; file_type?: unknown; extension?: unknown }[] | null;
  account?: { id?: unknown } | null;
  inbox?: { id?: unknown } | null;
  conversation?: {
    id?: unknown;
    contact_inbox?: { source_id?: unknown } | null;
    meta?: { sender?: { phone_number?: unknown } | null } | null;
  } | null;
}

/**
 * What an agent answered, or changed (`isRetry`). Null for all else: what customers write, private notes, what the bridge
 * itself wrote, and other accounts and inboxes.
 */
export function answerOf(
  body: unknown,
  { accountId, inboxId, now }: { accountId: number; inboxId: number; now: number },
): Answer | null {
  if (typeof body !== 'object' || body === null) return null;
  const { event, id, content, private: isPrivate, conversation, attachments, ...rest } = body as Callback;
  if (event !== 'message_created' && event !== 'message_updated') return null;
  if (rest.message_type !== 'outgoing' || isPrivate === true) return null;
  if (rest.account?.id !== accountId || rest.inbox?.id !== inboxId) return null;
  if (typeof id !== 'number' || typeof conversation?.id !== 'number') return null;
  if (heraldMessageOf(rest.source_id) !== null || rest.content_attributes?.deleted === true) return null;
  const sourceId = conversation.contact_inbox?.source_id;
  const phone = conversation.meta?.sender?.phone_number;
  return {
    id,
    conversation: conversation.id,
    heraldConversation: typeof sourceId === 'string' && sourceId !== '' ? heraldConversationOf(sourceId) : null,
    phone: typeof phone === 'string' && phone !== '' ? phone : null,
    content: typeof content === 'string' ? content : '',
    files: (attachments ?? [])
      .slice(0, MOST_FILES)
      .filter(({ data_url: url }) => typeof url === 'string')
      .map(({ data_url: url }) => ({ url: String(url), name: fileNameOf(String(url)) })),
    replyTo: heraldMessageOf(rest.content_attributes?.in_reply_to_external_id),
    attempt: 0,
    isRetry: event === 'message_updated',
    acceptedAt: now,
    requests: null,
    failure: null,
  };
}

/** The last part of the address, which is the name that the agent's file had. */
function fileNameOf(url: string): string {
  const last = URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '';
  try {
    return decodeURIComponent(last).slice(0, 200) || 'file';
  } catch {
    return last.slice(0, 200) || 'file';
  }
}
