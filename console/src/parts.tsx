import type { ReactNode } from 'react';
import type { MessageRow } from './api.ts';
import { Empty, fullTime } from './ui.tsx';

export type Tone = 'good' | 'warn' | 'bad' | 'none';

/** A state with a mark, whose shape differs as its colour does. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`state is-${tone}`}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}

/** WhatsApp's rating of a number or a template. */
export function Quality({ rating }: { rating: string | null }) {
  const tones: Readonly<Record<string, Tone>> = { GREEN: 'good', YELLOW: 'warn', RED: 'bad' };
  const words: Readonly<Record<string, string>> = { GREEN: 'high', YELLOW: 'medium', RED: 'low' };
  if (rating === null || words[rating] === undefined) return <State tone="none">not rated yet</State>;
  return <State tone={tones[rating] ?? 'none'}>{words[rating]}</State>;
}

/** Names and values; those that are null are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{fullTime(at)}</time>;
}

export function NoNumber() {
  return (
    <Empty title="This workspace has no number yet">
      <p>
        The operator adds one with <code>herald connection add</code>.
      </p>
    </Empty>
  );
}

/** Who wrote, or was written to. */
export function peerOf(row: MessageRow): string {
  const number = row.contact.phone ?? (row.direction === 'outbound' ? row.to : row.from);
  if (number !== null) return plusNumber(number);
  return row.contact.user_id ?? row.recipient ?? 'unknown';
}

export const plusNumber = (digits: string): string => `+${digits.replace('+', '')}`;

/** The address's filters, and one that is changed in it; '' takes it away. */
export function withParameter(search: string, name: string, value: string): string {
  const parameters = new URLSearchParams(search);
  if (value === '') parameters.delete(name);
  else parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
