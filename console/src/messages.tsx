import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf, type MessageRow } from './api.ts';
import { Button, ButtonLink } from './controls.tsx';
import { saveAs } from './csv.ts';
import { type Journal, useJournal } from './journal.ts';
import { useLiveState } from './live.ts';
import { MessagePanel } from './message.tsx';
import { peerOf, plusNumber } from './parts.tsx';
import { useData } from './queries.ts';
import {
  type Cursor,
  csvOfMessages,
  filterIn,
  journalPage,
  journalQueries,
  readSearch,
  SEARCH_WORDS,
  STATUSES,
  withFilter,
} from './search.ts';
import { useCan } from './session.ts';
import { Icon } from './icon.tsx';
import {
  ago,
  Choice,
  CopyButton,
  Empty,
  fullTime,
  isForPage,
  Problem,
  SEARCHING,
  Skeleton,
  Status,
  STATUS_WORDS,
  typedSoFar,
  useNow,
} from './ui.tsx';

const TYPING_MS = 250;
const ROW_PX = 46;
const NARROW_ROW_PX = 68;
const NARROW = '(max-width: 760px)';

export function useConnections() {
  const can = useCan();
  return useData(['connections'], () => api.GET('/api/v1/connections'), {
    enabled: can('connections:read'),
  });
}

export function MessagesPage({ selected }: { selected: string | null }) {
  const [, navigate] = useLocation();
  const text = new URLSearchParams(useSearch()).get('q') ?? '';
  const search = useMemo(() => readSearch(text), [text]);
  const scroller = useRef<HTMLDivElement>(null);
  const atTop = useCallback(() => (scroller.current?.scrollTop ?? 0) < ROW_PX, []);
  const isReadable = search.problem === null;
  const journal = useJournal(isReadable ? search.filters : null, atTop);
  const suffix = text === '' ? '' : `?${new URLSearchParams({ q: text })}`;
  const open = useCallback(
    (id: string | null) => navigate(`/messages${id === null ? '' : `/${id}`}${suffix}`),
    [navigate, suffix],
  );
  const setText = useCallback(
    (next: string) => {
      const { id } = readSearch(next);
      if (id !== null) {
        navigate(`/messages/${id}`);
        return;
      }
      const query = next.trim() === '' ? '' : `?${new URLSearchParams({ q: next.trim() })}`;
      // The open message stays open while the list beside it changes.
      navigate(`/messages${selected === null ? '' : `/${selected}`}${query}`, { replace: true });
    },
    [navigate, selected],
  );
  useKeys(journal.rows, selected, open);
  return (
    <div className={selected === null ? 'journal' : 'journal has-panel'}>
      <section className="list-side" aria-label="Messages">
        {selected === null && <h1 className="hidden">Messages</h1>}
        <SearchBar text={text} onText={setText} filters={isReadable ? search.filters : null} />
        {search.problem !== null && (
          <Empty title="This search cannot be read">
            <p role="status">{search.problem}</p>
            <Link href="/messages">Show all messages</Link>
          </Empty>
        )}
        {journal.waiting > 0 && (
          <button
            type="button"
            className="button primary fresh"
            onClick={() => {
              journal.showWaiting();
              scroller.current?.scrollTo({ top: 0 });
            }}
          >
            {journal.waiting} new
          </button>
        )}
        {isReadable && (
          <Rows
            journal={journal}
            selected={selected}
            suffix={suffix}
            scroller={scroller}
            isFiltered={text !== ''}
            filters={search.filters}
          />
        )}
      </section>
      {selected !== null && <MessagePanel key={selected} id={selected} onClose={() => open(null)} />}
    </div>
  );
}

/** j and k move to the next and the previous message, Escape closes it, / goes to the search box. */
function useKeys(rows: readonly MessageRow[], selected: string | null, open: (id: string | null) => void): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (!isForPage(event)) return;
      if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLInputElement>('#search')?.focus();
      } else if (event.key === 'Escape' && selected !== null) open(null);
      else if (event.key === 'j' || event.key === 'k') {
        const at = rows.findIndex(({ id }) => id === selected);
        const next = rows[at === -1 ? 0 : at + (event.key === 'j' ? 1 : -1)];
        if (next !== undefined) open(next.id);
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [rows, selected, open]);
}

interface SearchBarProps {
  text: string;
  onText: (text: string) => void;
  /** Null: the search cannot be read. */
  filters: Record<string, string> | null;
}

function SearchBar({ text, onText, filters }: SearchBarProps) {
  const [typed, setTyped] = useState(text);
  const applied = useRef(text);
  if (applied.current !== text) {
    applied.current = text;
    if (typed.trim() !== text) setTyped(text);
  }
  useEffect(() => {
    if (typed.trim() === text) return undefined;
    const timer = setTimeout(() => onText(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, onText]);
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (window.history.state !== SEARCHING) return;
    box.current?.focus();
    setTyped((before) => before + typedSoFar());
  }, []);
  const { data: connections } = useConnections();
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') onText(typed);
  };
  const choose = (name: string, value: string): void => onText(withFilter(text, name, value));
  const curlOfSearch = (search: Record<string, string>): string =>
    journalQueries(search)
      .map((query) => curlOf('GET', `/api/v1/messages?${new URLSearchParams({ ...query, limit: '50' })}`))
      .join('\n');
  return (
    <div className="search-bar" role="search">
      <label className="search">
        <Icon name="search" />
        <span className="hidden">Search messages</span>
        <input
          id="search"
          ref={box}
          type="search"
          list="search-words"
          autoComplete="off"
          spellCheck={false}
          placeholder="A number, an id, or status:failed"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKey}
        />
        <datalist id="search-words">
          {completions(typed).map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <kbd className="wide">/</kbd>
      </label>
      <div className="filters">
        <Choice label="Direction" value={filterIn(text, 'direction')} onChange={(value) => choose('direction', value)}>
          {[
            ['out', 'Sent'],
            ['in', 'Received'],
          ]}
        </Choice>
        <Choice label="Status" value={filterIn(text, 'status')} onChange={(value) => choose('status', value)}>
          {STATUSES.map((status) => [status, STATUS_WORDS[status] ?? status])}
        </Choice>
        {connections !== undefined && connections.length > 1 && (
          <Choice label="Number" value={filterIn(text, 'connection')} onChange={(value) => choose('connection', value)}>
            {connections.map(({ id, phone_number, verified_name }) => [
              id,
              `${verified_name ?? ''} ${plusNumber(phone_number)}`,
            ])}
          </Choice>
        )}
        {filters !== null && (
          <span className="list-actions">
            <CopyButton quiet label="curl" text={curlOfSearch(filters)} />
            <CsvButton filters={filters} />
          </span>
        )}
      </div>
    </div>
  );
}

/** What the word at the end of the box may become. */
function completions(typed: string): string[] {
  const at = typed.lastIndexOf(' ') + 1;
  const [before, word] = [typed.slice(0, at), typed.slice(at)];
  const all = [
    ...SEARCH_WORDS.map((name) => `${name}:`),
    ...STATUSES.map((status) => `status:${status}`),
    'direction:in',
    'direction:out',
  ];
  return all.filter((one) => one.startsWith(word) && one !== word).map((one) => before + one);
}

const CSV_PAGE = 100;
const CSV_MOST = 10_000;

function CsvButton({ filters }: { filters: Record<string, string> }) {
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (): Promise<void> => {
    const ending = new AbortController();
    running.current = ending;
    setError(null);
    setCount(0);
    try {
      const rows: MessageRow[] = [];
      let cursor: Cursor | null = null;
      do {
        const page: { rows: MessageRow[]; next: Cursor | null } = await journalPage(
          filters,
          cursor,
          CSV_PAGE,
          ending.signal,
        );
        rows.push(...page.rows);
        cursor = page.next;
        setCount(rows.length);
      } while (cursor !== null && rows.length < CSV_MOST);
      saveAs(csvOfMessages(rows), 'messages.csv');
    } catch (failure) {
      if (!ending.signal.aborted) setError(failure);
    }
    setCount(null);
  };
  if (count !== null) {
    return <Button label={`${count} rows · Cancel`} onClick={() => running.current?.abort()} />;
  }
  return (
    <Button
      quiet
      icon="down"
      label={error === null ? 'CSV' : 'CSV: try again'}
      title="At most 10,000 rows of what is filtered"
      onClick={() => void run()}
    />
  );
}

function useMatches(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const onChange = (): void => setMatches(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, [query]);
  return matches;
}

interface RowsProps {
  journal: Journal;
  selected: string | null;
  suffix: string;
  scroller: React.RefObject<HTMLDivElement | null>;
  isFiltered: boolean;
  filters: Record<string, string>;
}

const NEAR_END = 12;
const MINUTE_MS = 15_000;

function Rows({ journal, selected, suffix, scroller, isFiltered, filters }: RowsProps) {
  const { rows, hasMore, loading, loadMore, error, showWaiting } = journal;
  const now = useNow(MINUTE_MS);
  const narrow = useMatches(NARROW);
  const height = narrow ? NARROW_ROW_PX : ROW_PX;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 10,
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !loading && rows.length > 0 && last >= rows.length - NEAR_END) loadMore();
  }, [hasMore, loading, last, rows.length, loadMore]);
  const selectedAt = rows.findIndex(({ id }) => id === selected);
  useEffect(() => {
    if (selectedAt !== -1) virtual.scrollToIndex(selectedAt, { align: 'auto' });
  }, [selectedAt, virtual]);
  const live = useLiveState();
  const isStale = live !== 'live' && live !== 'connecting' && journal.loadedAt > 0;
  return (
    <>
      {isStale && (
        <p className="hint age">
          As of {ago(journal.loadedAt > 0 ? new Date(journal.loadedAt).toISOString() : '', now)} ago
        </p>
      )}
      {error !== null && <Problem error={error} onRetry={journal.retry} />}
      <div
        className="rows"
        ref={scroller}
        tabIndex={-1}
        onScroll={(event) => {
          if (event.currentTarget.scrollTop < ROW_PX) showWaiting();
        }}
      >
        {rows.length === 0 && loading && <Skeleton lines={12} />}
        {rows.length === 0 && !loading && error === null && <NoMessages isFiltered={isFiltered} filters={filters} />}
        <div role="list" className="rows-inner" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <div key={key} role="listitem" style={{ transform: `translateY(${start}px)`, height }}>
                <Row row={row} isSelected={row.id === selected} href={`/messages/${row.id}${suffix}`} now={now} />
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

function NoMessages({ isFiltered, filters }: Pick<RowsProps, 'isFiltered' | 'filters'>) {
  const can = useCan();
  const { number, ...others } = filters;
  if (number !== undefined && Object.keys(others).length === 0) {
    return (
      <Empty title={`No message to or from ${number}`}>
        <p>Does the number begin with its country code?</p>
        <Link href="/messages">Show all messages</Link>
      </Empty>
    );
  }
  if (isFiltered) {
    return (
      <Empty title="No message matches">
        <Link href="/messages">Show all messages</Link>
      </Empty>
    );
  }
  return (
    <Empty title="No messages yet">
      <p>What is sent and received appears here at once.</p>
      {can('messages:write') && <ButtonLink primary label="Send the first one" href="/send" />}
    </Empty>
  );
}

interface RowProps {
  row: MessageRow;
  isSelected: boolean;
  href: string;
  now: number;
}

/** Drawn once: while one scrolls, only rows that come into view are. */
const Row = memo(function Row({ row, isSelected, href, now }: RowProps) {
  const { contact, direction, type, body, status, failure_category: category } = row;
  return (
    <Link href={href} className="message-row" aria-current={isSelected ? 'true' : undefined}>
      <time dateTime={row.created_at} title={fullTime(row.created_at)}>
        {ago(row.created_at, now)}
      </time>
      <span className={`direction is-${direction}`} title={direction === 'outbound' ? 'sent' : 'received'}>
        <Icon name={direction === 'outbound' ? 'out' : 'in'} />
        <span className="hidden">{direction === 'outbound' ? 'to' : 'from'}</span>
      </span>
      <span className="peer">
        <bdi>{contact.name ?? peerOf(row)}</bdi>
        {contact.name !== null && <small>{peerOf(row)}</small>}
      </span>
      <span className="excerpt">
        {type !== 'text' && <em>{type.replaceAll('_', ' ')}</em>}
        <bdi>{body ?? ''}</bdi>
      </span>
      <span className="category">{category?.replaceAll('_', ' ')}</span>
      <Status status={status} />
    </Link>
  );
});
