import type { ReactNode } from 'react';
import type { MessageRow, Schemas } from './api.ts';
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

export const QUALITY_WORDS: Readonly<Record<string, string>> = { GREEN: 'high', YELLOW: 'medium', RED: 'low' };

/** WhatsApp's rating of a number or a template. */
export function Quality({ rating }: { rating: string | null }) {
  const tones: Readonly<Record<string, Tone>> = { GREEN: 'good', YELLOW: 'warn', RED: 'bad' };
  if (rating === null || QUALITY_WORDS[rating] === undefined) return <State tone="none">not rated yet</State>;
  return <State tone={tones[rating] ?? 'none'}>{QUALITY_WORDS[rating]}</State>;
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

/** A share that is small, or nearly all, is neither nothing nor all. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  if (percent > 99.9 && percent < 100) return '> 99.9 %';
  return `${percent < 1 || percent > 99 ? Number(percent.toFixed(1)) : Math.round(percent)} %`;
}

/** An amount of the API, a decimal as text. */
export const money = ({ amount, currency }: Schemas['CostResponse']): string =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(Number(amount));

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

/** A number as people write it, with +, with 00 or with neither; null where it is not whole. No country code begins with 0. */
export function wholeNumber(text: string): string | null {
  const digits = text.replaceAll(/\D/g, '').replace(/^00/, '');
  return /^[+\d\s()./-]+$/.test(text.trim()) && /^[1-9]\d{7,15}$/.test(digits) ? `+${digits}` : null;
}

/** What a search says of a number that is not whole. */
export const WRITE_WHOLE_NUMBER = 'Write the whole number with its country code, such as +4915112345678';

/** The address's filters, and one that is changed in it; '' takes it away. */
export function withParameter(search: string, name: string, value: string): string {
  const parameters = new URLSearchParams(search);
  if (value === '') parameters.delete(name);
  else parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

interface TableBoxProps {
  label: string;
  columns: readonly string[];
  /** Further columns, of numbers. */
  figures?: readonly string[];
  /** It is no card by itself. */
  isBare?: boolean;
  /** The row at the end. */
  foot?: ReactNode;
  /** Rows. */
  children: ReactNode;
}

export function TableBox({ label, columns, figures = [], isBare = false, foot, children }: TableBoxProps) {
  return (
    <div className={isBare ? 'table-box' : 'table-box card'} tabIndex={0} role="region" aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            {[...columns, ...figures].map((name, index) => (
              <th key={name} scope="col" className={index < columns.length ? undefined : 'number'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
        {foot !== undefined && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  );
}
