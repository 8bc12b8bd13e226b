import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import { type AdminSchemas, curlOf } from './api.ts';
import { useEvents } from './live.ts';
import { State, type Tone } from './parts.tsx';
import { type Cursor, nextCursor } from './search.ts';
import { CopyButton, Icon, Problem, Skeleton } from './ui.tsx';

export const PAGE = 50;

interface Page<Row> {
  data: Row[];
  pagination: Parameters<typeof nextCursor>[0];
}

/** A list of the admin API, page by page, and its rows so far. */
export function useList<Row>(
  key: readonly unknown[],
  read: (cursor: Cursor | null, signal: AbortSignal) => Promise<Page<Row>>,
) {
  const list = useInfiniteQuery({
    queryKey: ['operator', ...key],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: null as Cursor | null,
    getNextPageParam: ({ pagination }) => nextCursor(pagination),
  });
  return { list, rows: list.data?.pages.flatMap(({ data }) => data) ?? [] };
}

/** Headings of columns, for a row of a table's head. */
export function Headings({ names }: { names: readonly string[] }) {
  return names.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ));
}

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
    <label className="field">
      <span>Ends after</span>
      <select value={String(days)} onChange={(event) => onChange(Number(event.target.value))}>
        {DAYS.map((count) => (
          <option key={count} value={String(count)}>
            {count === 1 ? '1 day' : `${count} days`}
          </option>
        ))}
      </select>
    </label>
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
        <button type="button" className="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

/** A list is read again every ten seconds. */
export function useFresh(refetch: () => unknown): void {
  useEvents(
    useCallback(() => {
      void refetch();
    }, [refetch]),
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

interface MoreProps {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

export function More({ list }: MoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <button
      type="button"
      className="button more"
      disabled={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      <Icon name="down" />
      Show earlier ones
    </button>
  );
}

/** Whether it may send. */
export function Payment({ workspace, now }: { workspace: AdminSchemas['WorkspaceResponse']; now: number }) {
  const { state, api_paid_until: until, effective } = workspace;
  if (state === 'deleting') return <State tone="bad">being deleted</State>;
  if (!effective.needs_subscription) return <State tone="good">may send</State>;
  if (until === null) return <State tone="warn">not paid</State>;
  return Date.parse(until) > now ? <State tone="good">paid</State> : <State tone="bad">paid no longer</State>;
}
