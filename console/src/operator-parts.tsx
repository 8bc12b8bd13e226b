import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { AdminSchemas } from './api.ts';
import { useEvents } from './live.ts';
import { State, type Tone } from './parts.tsx';
import { type Cursor, nextCursor } from './search.ts';
import { Icon } from './ui.tsx';

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
