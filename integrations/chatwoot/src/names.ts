import { createHash } from 'node:crypto';
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
