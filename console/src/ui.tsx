import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from './api.ts';
import { Button } from './controls.tsx';
import { Icon } from './icon.tsx';

export const STATUS_WORDS: Readonly<Record<string, string>> = {
  queued: 'queued',
  processing: 'sending',
  accepted: 'accepted',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'failed',
  outcome_unknown: 'unknown',
  received: 'received',
};

/** The state as WhatsApp draws it. Shape and word differ, not the colour alone. */
export function Ticks({ status }: { status: string }) {
  if (status === 'queued' || status === 'processing') return <Icon name="clock" />;
  if (status === 'received') return <Icon name="in" />;
  if (status === 'failed' || status === 'outcome_unknown') {
    return (
      <span className="mark" aria-hidden="true">
        {status === 'failed' ? '!' : '?'}
      </span>
    );
  }
  const isDouble = status === 'delivered' || status === 'read';
  return (
    <svg className="ticks" viewBox="0 0 20 12" aria-hidden="true">
      <path d={isDouble ? 'M1 6.500 5 10.500 13 1.500M8.500 10 16.500 1.500' : 'M4 6.500 8 10.500 16 1.500'} />
    </svg>
  );
}

export function Status({ status }: { status: string }) {
  return (
    <span className={`status is-${status}`}>
      <Ticks status={status} />
      <span>{STATUS_WORDS[status] ?? status}</span>
    </span>
  );
}

const UNITS: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < 5_000) return 'now';
  for (const [unit, name] of UNITS) if (ms >= unit) return `${Math.floor(ms / unit)} ${name}`;
  return `${Math.floor(ms / 1_000)} s`;
}

// Made once: a list shows hundreds of times.
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
const HOUR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export const clockTime = (at: string): string => CLOCK.format(new Date(at));

export const fullTime = (at: string): string => FULL.format(new Date(at));

/** The beginning of an hour or of a day, of which figures are. */
export const startTime = (at: string, interval: 'hour' | 'day'): string =>
  (interval === 'hour' ? HOUR : DAY).format(new Date(at));

/** A sentence of the API, its times as this browser writes them. */
export const withTimes = (sentence: string): string =>
  sentence.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z/g, fullTime);

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** State of the address: the search box takes the focus. */
export const SEARCHING = 'searching';

/** A page that is loaded for the first time may take so long. */
const TYPING_AHEAD_MS = 5_000;
let typedAhead = '';
let typingAhead: ReturnType<typeof setTimeout> | undefined;

/** Keeps what is typed from now on for the search box, which is not there yet. */
export function typeAhead(): void {
  if (typingAhead !== undefined) return;
  window.addEventListener('keydown', keepKey, true);
  typingAhead = setTimeout(typedSoFar, TYPING_AHEAD_MS);
}

/** What was typed since `typeAhead`, which ends with it. */
export function typedSoFar(): string {
  clearTimeout(typingAhead);
  typingAhead = undefined;
  window.removeEventListener('keydown', keepKey, true);
  const typed = typedAhead;
  typedAhead = '';
  return typed;
}

function keepKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Backspace') typedAhead = typedAhead.slice(0, -1);
  else if (event.key.length === 1) typedAhead += event.key;
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** A key that is no typing, no shortcut of the browser and not for a dialog. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test((event.target as HTMLElement).tagName)) return false;
  return document.querySelector('dialog[open]') === null;
}

/** Of the tab and of the browser's history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Herald`;
  }, [title]);
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

const SAID_MS = 1_600;

export function CopyButton({ text, label, quiet = false }: { text: string; label: string; quiet?: boolean }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), SAID_MS);
  };
  return (
    <button type="button" className={quiet ? 'button quiet' : 'button'} onClick={() => void copy()}>
      <Icon name="copy" />
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </button>
  );
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = error instanceof ApiError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A long form hides what stands at its end; a page is not moved.
    if (box.current?.closest('dialog') !== null) box.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  return (
    <div className="problem" role="alert" ref={box}>
      <strong>{known?.code ?? 'Something went wrong'}</strong>
      <p>{message}</p>
      <div className="row">
        {known !== null && known.docUrl !== null && <a href={known.docUrl}>What it means</a>}
        {known !== null && known.requestId !== null && (
          <CopyButton quiet text={known.requestId} label={`Request ${known.requestId}`} />
        )}
        {onRetry !== undefined && <Button label="Try again" onClick={onRetry} />}
      </div>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: readonly (readonly string[])[];
}

export function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      className={value === '' ? 'chip' : 'chip chosen'}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{label}</option>
      {children.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface ListSearchProps {
  label: string;
  value: string;
  clean?: (typed: string) => string;
  onText: (text: string) => void;
}

const TYPED_MS = 300;

/** Narrows a list down, once typing pauses. */
export function ListSearch({ label, value, clean, onText }: ListSearchProps) {
  const [typed, setTyped] = useState(value);
  // The address may change while typing pauses.
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => latest.current(typed), TYPED_MS);
    return () => clearTimeout(timer);
    // A change of the address alone starts no search.
  }, [typed]);
  return (
    <label className="search list-search">
      <Icon name="search" />
      <span className="hidden">Search by {label.toLowerCase()}</span>
      <input
        type="search"
        autoComplete="off"
        spellCheck={false}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(clean?.(event.target.value) ?? event.target.value)}
      />
    </label>
  );
}

interface EmptyProps {
  title: string;
  says?: string;
  /** It stands for the whole page. */
  isPage?: boolean;
  children?: ReactNode;
}

export function Empty({ title, says, isPage = false, children }: EmptyProps) {
  const Title = isPage ? 'h1' : 'h2';
  return (
    <div className="empty">
      <Title>{title}</Title>
      {says !== undefined && <p>{says}</p>}
      {children}
    </div>
  );
}

export function Skeleton({ lines }: { lines: number }) {
  return (
    <div className="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

interface LoadingProps {
  of: { isPending: boolean; error: unknown; refetch: () => unknown };
  /** Of the skeleton. */
  lines: number;
}

/** What stands in place of what is being read, or could not be read. */
export function Loading({ of, lines }: LoadingProps) {
  if (of.error !== null) return <Problem error={of.error} onRetry={() => void of.refetch()} />;
  return of.isPending ? <Skeleton lines={lines} /> : null;
}
