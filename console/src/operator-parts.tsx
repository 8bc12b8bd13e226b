import type { ReactNode } from 'react';
import { type AdminSchemas, curlOf } from './api.ts';
import { Button, SelectField } from './controls.tsx';
import { State, type Tone } from './parts.tsx';
import { CopyButton, Problem, Skeleton } from './ui.tsx';

export const PAGE = 50;

interface SectionBarProps {
  title: string;
  /** Of the list below, for its curl. */
  path: string;
  /** Buttons. */
  children?: ReactNode;
}

export function SectionBar({ title, path, children }: SectionBarProps) {
  return (
    <div className="row section-bar">
      <h2>{title}</h2>
      <span className="grow" />
      <CopyButton quiet label="curl" text={curlOf('GET', path)} />
      {children}
    </div>
  );
}

interface ListStateProps {
  list: { isPending: boolean; error: unknown; refetch: () => unknown };
  /** Of its skeleton. */
  lines: number;
  /** What is said of a list that was read and has no rows. */
  empty?: string | false;
}

/** What stands in place of a list's rows: it is being read, it could not be read, there are none. */
export function ListState({ list, lines, empty = false }: ListStateProps) {
  return (
    <>
      {list.isPending && <Skeleton lines={lines} />}
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {empty !== false && <p className="hint">{empty}</p>}
    </>
  );
}

export const SECONDS_A_DAY = 86_400;
const DAYS = [1, 7, 30] as const;

/** In how many days something ends. */
export function EndsAfter({ days, onChange }: { days: number; onChange: (days: number) => void }) {
  return (
    <SelectField
      label="Ends after"
      value={String(days)}
      options={DAYS.map((count) => [String(count), count === 1 ? '1 day' : `${count} days`])}
      onValue={(value) => onChange(Number(value))}
    />
  );
}

interface ToCopyProps {
  /** Null: there is none, only the button that closes. */
  text: string | null;
  /** On the button that copies it. */
  label: string;
  onClose: () => void;
}

/** The end of a dialog that shows a text once, to be copied. */
export function ToCopy({ text, label, onClose }: ToCopyProps) {
  return (
    <>
      {text !== null && (
        <pre className="secret" tabIndex={0}>
          {text}
        </pre>
      )}
      <div className="row">
        {text !== null && <CopyButton text={text} label={label} />}
        <Button primary label="Close" onClick={onClose} />
      </div>
    </>
  );
}

export const NUMBER_TONES: Readonly<Record<string, Tone>> = {
  connected: 'good',
  pending: 'warn',
  restricted: 'warn',
  disconnected: 'bad',
};

/** The query of a list as its curl has it; what is undefined is left out. */
export function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

/** Whether it may send. */
export function Payment({ workspace, now }: { workspace: AdminSchemas['WorkspaceResponse']; now: number }) {
  const { state, api_paid_until: until, effective } = workspace;
  if (state === 'deleting') return <State tone="bad">being deleted</State>;
  if (!effective.needs_subscription) return <State tone="good">may send</State>;
  if (until === null) return <State tone="warn">not paid</State>;
  return Date.parse(until) > now ? <State tone="good">paid</State> : <State tone="bad">paid no longer</State>;
}
