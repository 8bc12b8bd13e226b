import type { ReactNode } from 'react';
import type { MessageRow } from './api.ts';

interface Words {
  text?: unknown;
  title?: unknown;
  body?: unknown;
  caption?: unknown;
  filename?: unknown;
  emoji?: unknown;
  name?: unknown;
  address?: unknown;
}

export interface BubbleButton {
  id: string | null;
  title: string;
}

export interface BubbleContent {
  header: string | null;
  file: string | null;
  body: string | null;
  footer: string | null;
  buttons: BubbleButton[];
  /** What its author did with it later. */
  mark?: string;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const FILES = ['image', 'video', 'audio', 'document', 'sticker'];

/** What a person sees of a message, of the content that the platform got or gave. */
export function bubbleOf(type: string, body: string | null, content: unknown): BubbleContent {
  const all = objectOf(content);
  const part = objectOf(all[type] ?? all);
  const words = part as Words;
  const made: BubbleContent = { header: null, file: null, body, footer: null, buttons: [] };
  if (FILES.includes(type)) {
    made.file = textOf(words.filename) ?? type;
    made.body = textOf(words.caption) ?? (body === type ? null : body);
  } else if (type === 'interactive') {
    made.header = textOf(objectOf(part.header).text);
    made.body = textOf(objectOf(part.body).text) ?? body;
    made.footer = textOf(objectOf(part.footer).text);
    made.buttons = interactiveButtons(objectOf(part.action));
  } else if (type === 'location') {
    made.file = 'location';
    made.body = textOf(words.name) ?? textOf(words.address) ?? body;
  } else if (type === 'template' && body === null) made.body = `Template ${textOf(words.name) ?? ''}`;
  return made;
}

/** A message as it stands by now: edited, withdrawn, or one that changes another. */
export function bubbleOfRow({ type, body, content, current, revoked_at: revokedAt }: MessageRow): BubbleContent {
  if (type === 'edit') return { ...bubbleOf('text', body, {}), mark: 'edits an earlier message' };
  if (type === 'revoke') return { ...bubbleOf('text', null, {}), mark: 'withdraws an earlier message' };
  if (typeof revokedAt === 'string') return { ...bubbleOf('text', null, {}), mark: 'withdrawn' };
  if (!current) return bubbleOf(type, body, content);
  return { ...bubbleOf(type, current.body, { ...content, ...current.content }), mark: 'edited' };
}

function interactiveButtons(action: Record<string, unknown>): BubbleButton[] {
  const replies = listOf(action.buttons).map((button) => objectOf(objectOf(button).reply));
  const rows = listOf(action.sections).flatMap((section) => listOf(objectOf(section).rows).map(objectOf));
  const link = textOf(objectOf(action.parameters).display_text);
  return [
    ...[...replies, ...rows].map((one) => ({ id: textOf(one.id), title: textOf(one.title) ?? '' })),
    ...(link === null ? [] : [{ id: null, title: link }]),
  ];
}

interface BubbleProps {
  content: BubbleContent;
  side: 'mine' | 'theirs';
  meta?: ReactNode;
  /** What the console says of it, which is no part of the message. */
  note?: ReactNode;
  /** The file itself. */
  picture?: ReactNode;
  /** In place of the file's name: the file with its name. */
  media?: ReactNode;
  /** What it answers. */
  quoted?: ReactNode;
  /** Emojis that stand at the message. */
  reactions?: readonly string[];
  onButton?: (button: BubbleButton) => void;
}

export function Bubble({ content, side, meta, note, picture, media, quoted, reactions = [], onButton }: BubbleProps) {
  const { header, file, body, footer, buttons, mark } = content;
  return (
    <div className={`bubble is-${side}`}>
      {quoted}
      {header !== null && (
        <strong dir="auto" className="words">
          {header}
        </strong>
      )}
      {media}
      {!media && file !== null && (
        <span className="file">
          {picture}
          <bdi>{file}</bdi>
        </span>
      )}
      {body !== null && (
        <span dir="auto" className="words">
          {body}
        </span>
      )}
      {mark !== undefined && <small>{mark}</small>}
      {footer !== null && <small dir="auto">{footer}</small>}
      {reactions.length > 0 && (
        <span className="reactions">
          <span className="hidden">Reactions: </span>
          {reactions.join(' ')}
        </span>
      )}
      {meta !== undefined && <span className="meta">{meta}</span>}
      {note}
      {buttons.map((button, at) => (
        <button
          key={at}
          type="button"
          disabled={onButton === undefined || button.id === null}
          onClick={() => onButton?.(button)}
        >
          <bdi>{button.title}</bdi>
        </button>
      ))}
    </div>
  );
}
