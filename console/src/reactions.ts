import type { MessageRow } from './api.ts';

/** Those that are offered. */
export const EMOJIS = ['👍', '❤️', '😂', '😮', '😢', '🙏'];

const emojiOf = ({ content, body }: MessageRow): string => {
  const { emoji } = (content ?? {}) as { emoji?: unknown };
  return typeof emoji === 'string' ? emoji : (body ?? '');
};

/**
 * Reactions stand at the message that they are about: the last one of each side counts, and an empty one takes it back. An edit
 * or a revoke is no line of its own where its message is shown, which says it.
 * @param rows the oldest first
 */
export function withReactions(rows: readonly MessageRow[]): { row: MessageRow; reactions: string[] }[] {
  const shown = new Set(rows.filter(({ type }) => type !== 'reaction').map(({ id }) => id));
  const found = new Map<string, Map<string, string>>();
  const others: MessageRow[] = [];
  for (const row of rows) {
    if (shown.has(row.edits_message_id ?? row.revokes_message_id ?? '')) continue;
    const about = row.type === 'reaction' ? row.reply_to_message_id : null;
    // One about a message that is further up is a line of its own.
    if (about === null || !shown.has(about)) others.push(row);
    else found.set(about, (found.get(about) ?? new Map<string, string>()).set(row.direction, emojiOf(row)));
  }
  return others.map((row) => ({ row, reactions: [...(found.get(row.id)?.values() ?? [])].filter(Boolean) }));
}
