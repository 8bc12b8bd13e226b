import { createHash, randomUUID } from 'node:crypto';
import type { Installed, Settings } from './settings.js';
import type { Answer } from './state.js';

/** How the two services name each other's messages, so that no map of ids is stored. */

const PREFIX = 'herald:';

/** `source_id` in Chatwoot of what Herald has. */
export function sourceIdOf(heraldMessage: string): string {
  return PREFIX + heraldMessage;
}

/** Null where the `source_id` is not of the bridge. */
export function heraldMessageOf(sourceId: unknown): string | null {
  if (typeof sourceId !== 'string' || !sourceId.startsWith(PREFIX)) return null;
  return sourceId.slice(PREFIX.length);
}

const PERSON = 'whatsapp:';

/**
 * `identifier` in Chatwoot of a person, made of WhatsApp's user id. Chatwoot searches it in lower case: capitals are written
 * as `_` and the small letter, so that different ids stay different.
 */
export function identifierOf(userId: string): string {
  return PERSON + userId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether it is of a person in WhatsApp, not of another system of the team. */
export function isIdentifier(identifier: string | null | undefined): boolean {
  return identifier?.startsWith(PERSON) === true;
}

/** A contact's name in the inbox is the id of Herald's conversation. Where that is taken, it has an addition. */
export function furtherPlaceOf(heraldConversation: string): string {
  return `${heraldConversation}~${randomUUID().slice(0, 8)}`;
}

export function heraldConversationOf(sourceId: string): string {
  return sourceId.replace(/~.*$/, '');
}

export function isPlaceOf(sourceId: string, heraldConversation: string): boolean {
  return heraldConversationOf(sourceId) === heraldConversation;
}

type Account = Pick<Settings, 'accountId' | 'chatwootUrl'>;

/** `metadata` in Herald of an answer; each event about it has it. */
export function metadataOf(
  answer: Answer,
  part: number,
  parts: number,
  { accountId }: Account,
  { inboxId }: Installed,
) {
  return {
    chatwoot_inbox: `${accountId}/${inboxId}`,
    chatwoot_conversation: String(answer.conversation),
    chatwoot_message: String(answer.id),
    chatwoot_attempt: String(answer.attempt),
    chatwoot_part: `${part + 1}/${parts}`,
  };
}

export interface Target {
  conversation: number;
  message: number;
  attempt: number;
  part: number;
  /** Of the messages that one answer became. */
  isLast: boolean;
}

/** Null where the message is no answer of this inbox. */
export function targetOf(
  metadata: Readonly<Record<string, string>> | null,
  { accountId }: Account,
  { inboxId }: Installed,
): Target | null {
  if (metadata?.chatwoot_inbox !== `${accountId}/${inboxId}`) return null;
  const conversation = Number(metadata.chatwoot_conversation);
  const message = Number(metadata.chatwoot_message);
  const attempt = Number(metadata.chatwoot_attempt);
  const [part, parts] = (metadata.chatwoot_part ?? '').split('/').map(Number);
  if (part === undefined || ![conversation, message, attempt, part].every(Number.isSafeInteger)) return null;
  return { conversation, message, attempt, part, isLast: part === parts };
}

/** The same for each try of one message, also after a restart; a UUID, as Herald wants it. */
export function keyOf(answer: Answer, part: number, { accountId, chatwootUrl }: Account): string {
  const name = `${chatwootUrl}/${accountId}/${answer.id}/${answer.attempt}/${part}`;
  const hash = createHash('sha1').update(name).digest('hex');
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
}
