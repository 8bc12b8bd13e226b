import { keepPreviousData, useInfiniteQuery, useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { dataOf } from './api.ts';
import { type Cursor, nextCursor } from './search.ts';

/** The `data` of what a call answers. */
export function useData<T>(
  queryKey: readonly unknown[],
  call: (signal: AbortSignal) => Promise<{ data?: { data: T } }>,
  options: Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn'> = {},
) {
  return useQuery<T>({ queryKey, queryFn: async ({ signal }) => (await dataOf(call(signal))).data, ...options });
}

interface Page {
  data: unknown[];
  pagination: Parameters<typeof nextCursor>[0];
}

interface ListOptions {
  enabled?: boolean;
  /** While no more than one page is shown. */
  everyMs?: number;
}

/** A list of the API, page by page, and its rows so far. */
export function useList<P extends Page>(
  queryKey: readonly unknown[],
  call: (cursor: Cursor | null, signal: AbortSignal) => Promise<{ data?: P }>,
  { enabled = true, everyMs }: ListOptions = {},
) {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => dataOf(call(pageParam, signal)),
    initialPageParam: null as Cursor | null,
    getNextPageParam: ({ pagination }) => nextCursor(pagination),
    enabled,
    placeholderData: everyMs === undefined ? undefined : keepPreviousData,
    refetchInterval: ({ state }) => (everyMs === undefined || (state.data?.pages.length ?? 0) > 1 ? false : everyMs),
  });
  const rows: P['data'][number][] = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return { list, rows };
}
