import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type FormEvent, Fragment, type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf, type MessageRow, type Schemas, sendFailure } from './api.ts';
import { Bubble, bubbleOfRow } from './bubble.tsx';
import { useEvents } from './live.ts';
import { withReactions } from './reactions.ts';
import { type Cursor, journalPage, nextCursor } from './search.ts';
import { plusNumber, wholeNumber, withParameter, WRITE_WHOLE_NUMBER } from './parts.tsx';
import { useCan } from './session.ts';
import {
  ago,
  Choice,
  clockTime,
  CopyButton,
  duration,
  Empty,
  Icon,
  ListSearch,
  Problem,
  Skeleton,
  STATUS_WORDS,
  Ticks,
  useNow,
  withTimes,
} from './ui.tsx';

type Conversation = Schemas['ConversationResponse'];

const PAGE = 50;
const CLOCK_MS = 15_000;
const NEAR_END_PX = 160;

export function ConversationsPage({ selected }: { selected: string | null }) {
  const [, navigate] = useLocation();
  const search = useSearch();
  const given = new URLSearchParams(search);
  const number = given.get('number') ?? '';
  const to = wholeNumber(number);
  const filters = { ...(to !== null && { to }), ...(given.has('unread') && { unread: 'true' as const }) };
  const choose = (name: string) => (value: string) =>
    navigate(
      (selected === null ? '/conversations' : `/conversations/${selected}`) + withParameter(search, name, value),
      {
        replace: true,
      },
    );
  const suffix = search === '' ? '' : `?${search}`;
  const list = useInfiniteQuery({
    queryKey: ['conversations', filters],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/api/v1/conversations', { params: { query: { ...filters, ...pageParam, limit: PAGE } }, signal }),
      ),
    initialPageParam: null as Cursor | null,
    getNextPageParam: ({ pagination }) => nextCursor(pagination),
  });
  const { refetch } = list;
  useEvents(useCallback(() => void refetch(), [refetch]));
  const now = useNow(CLOCK_MS);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const query = Object.entries({ ...filters, limit: PAGE }).map(([name, value]) => [name, String(value)]);
  return (
    <div className={selected === null ? 'conversations' : 'conversations has-thread'}>
      <section className="conversation-list" aria-label="Conversations">
        <header className="panel-bar">
          <h1>Conversations</h1>
          <span className="grow" />
          <CopyButton quiet label="curl" text={curlOf('GET', `/api/v1/conversations?${new URLSearchParams(query)}`)} />
        </header>
        <div className="filters pane-filters">
          <ListSearch label="Number" value={number} onText={choose('number')} />
          <Choice label="All" value={given.get('unread') ?? ''} onChange={choose('unread')}>
            {[['1', 'Unread']]}
          </Choice>
        </div>
        {number !== '' && to === null && <p className="hint warn">{WRITE_WHOLE_NUMBER}</p>}
        <div className="conversation-rows" tabIndex={-1}>
          {list.isPending && <Skeleton lines={10} />}
          {list.error !== null && <Problem error={list.error} onRetry={() => void refetch()} />}
          {list.isSuccess && rows.length === 0 && (
            <Empty title={search === '' ? 'No conversations yet' : 'No conversation matches'}>
              <p>One begins when a customer writes, or when you send a message.</p>
            </Empty>
          )}
          {rows.map((row) => (
            <ConversationRow key={row.id} row={row} suffix={suffix} isSelected={row.id === selected} now={now} />
          ))}
          {list.hasNextPage && (
            <button type="button" className="button more" onClick={() => void list.fetchNextPage()}>
              Show earlier ones
            </button>
          )}
        </div>
      </section>
      {selected === null ? (
        <section className="thread-place">
          <Empty title="Choose a conversation">
            <p>What was written, in both directions, appears here.</p>
          </Empty>
        </section>
      ) : (
        <Thread key={selected} id={selected} suffix={suffix} />
      )}
    </div>
  );
}

const nameOf = ({ contact }: Conversation): string => contact.name ?? numberOf(contact);
const numberOf = ({ phone, user_id: id }: Conversation['contact']): string =>
  phone === null ? (id ?? 'unknown') : plusNumber(phone);

/** Milliseconds until only templates may be sent; 0 where that is so already. */
function windowLeft({ service_window_closes_at: at }: Conversation, now: number): number {
  return at === null ? 0 : Math.max(Date.parse(at) - now, 0);
}

interface ConversationRowProps {
  row: Conversation;
  /** The filters of the list, for the address. */
  suffix: string;
  isSelected: boolean;
  now: number;
}

function ConversationRow({ row, suffix, isSelected, now }: ConversationRowProps) {
  const left = windowLeft(row, now);
  const last = row.last_message;
  return (
    <Link
      href={`/conversations/${row.id}${suffix}`}
      className="conversation-row"
      aria-current={isSelected ? 'true' : undefined}
    >
      <span className={row.unread_count > 0 ? 'name unread' : 'name'}>
        <bdi>{nameOf(row)}</bdi>
        {row.contact.name !== null && <small>{numberOf(row.contact)}</small>}
      </span>
      <time dateTime={row.updated_at}>{ago(last?.created_at ?? row.updated_at, now)}</time>
      <span className="last">
        {last?.direction === 'outbound' && <Ticks status={last.status} />}
        <bdi>{last === null ? '' : (last.body ?? last.type)}</bdi>
      </span>
      <span className="marks">
        {left > 0 && <small title="What is left of the customer-service window">{duration(left)}</small>}
        {row.unread_count > 0 && (
          <b>
            {row.unread_count}
            <span className="hidden"> unread</span>
          </b>
        )}
      </span>
    </Link>
  );
}

function Thread({ id, suffix }: { id: string; suffix: string }) {
  const conversation = useQuery({
    queryKey: ['conversation', id],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET('/api/v1/conversations/{id}', { params: { path: { id } }, signal }))).data,
  });
  const messages = useInfiniteQuery({
    queryKey: ['thread', id],
    queryFn: ({ pageParam, signal }) => journalPage({ conversation_id: id }, pageParam, PAGE, signal),
    initialPageParam: null as Cursor | null,
    getNextPageParam: ({ next }) => next,
  });
  const [refetchOne, refetchAll] = [conversation.refetch, messages.refetch];
  const refresh = useCallback(() => {
    void refetchOne();
    void refetchAll();
  }, [refetchOne, refetchAll]);
  useEvents(refresh);
  const rows = (messages.data?.pages.flatMap((page) => page.rows) ?? []).toReversed();
  const shown = withReactions(rows);
  const box = useRef<HTMLDivElement>(null);
  const newest = rows.at(-1)?.id;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [newest]);
  // What comes later, below a message that was at the end already, is seen too.
  const stayAtEnd = useCallback(() => {
    const chat = box.current;
    if (chat === null || chat.scrollHeight - chat.clientHeight - chat.scrollTop > NEAR_END_PX) return;
    chat.scrollTop = chat.scrollHeight;
  }, []);
  const error = conversation.error ?? messages.error;
  return (
    <section className="thread" aria-label="Thread">
      <header className="panel-bar">
        <Link href={`/conversations${suffix}`} className="button quiet back" aria-label="Back to the list">
          <Icon name="close" />
        </Link>
        {conversation.data !== undefined && (
          <span className="thread-name">
            <bdi>{nameOf(conversation.data)}</bdi>
            {conversation.data.contact.name !== null && <small>{numberOf(conversation.data.contact)}</small>}
          </span>
        )}
        <span className="grow" />
        {conversation.data !== undefined && conversation.data.unread_count > 0 && (
          <MarkRead rows={rows} onDone={refresh} />
        )}
        <Link className="button quiet wide" href={`/messages?q=conversation:${id}`}>
          As a list
        </Link>
      </header>
      {error !== null && <Problem error={error} onRetry={refresh} />}
      <div className="chat thread-chat" ref={box} tabIndex={0} role="log" aria-label="Messages of this conversation">
        {messages.isPending && <Skeleton lines={6} />}
        {messages.hasNextPage && (
          <button type="button" className="button more" onClick={() => void messages.fetchNextPage()}>
            Show earlier ones
          </button>
        )}
        {shown.map(({ row, reactions }, index) => (
          <Fragment key={row.id}>
            {dayOf(shown[index - 1]?.row) !== dayOf(row) && <p className="day">{dayOf(row)}</p>}
            <Bubble
              side={row.direction === 'outbound' ? 'mine' : 'theirs'}
              content={bubbleOfRow(row)}
              reactions={reactions}
              meta={
                <Link href={`/messages/${row.id}`} className="meta-link">
                  {hasProblem(row) && `${STATUS_WORDS[row.status]} `}
                  {clockTime(row.created_at)} {row.direction === 'outbound' && <Ticks status={row.status} />}
                </Link>
              }
              note={hasProblem(row) && <Reason id={row.id} onShown={stayAtEnd} />}
            />
          </Fragment>
        ))}
      </div>
      {conversation.data !== undefined && <Answer conversation={conversation.data} onSent={refresh} />}
    </section>
  );
}

const hasProblem = ({ status }: MessageRow): boolean => status === 'failed' || status === 'outcome_unknown';

/** Why a message did not arrive, or may not have: the sentence that its own page begins with. */
function Reason({ id, onShown }: { id: string; onShown: () => void }) {
  const { data } = useQuery({
    queryKey: ['explanation', id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/messages/{id}/timeline', { params: { path: { id } }, signal })),
  });
  const summary = data?.explanation.summary;
  useEffect(() => {
    if (summary !== undefined) onShown();
  }, [summary, onShown]);
  return summary === undefined ? null : <p className="reason">{withTimes(summary)}</p>;
}

const dayOf = (row: MessageRow | undefined): string =>
  row === undefined ? '' : new Date(row.created_at).toLocaleDateString(undefined, { dateStyle: 'full' });

function MarkRead({ rows, onDone }: { rows: readonly MessageRow[]; onDone: () => void }) {
  const can = useCan();
  const [busy, setBusy] = useState(false);
  const last = rows.findLast(({ direction }) => direction === 'inbound');
  if (last === undefined || !can('messages:write')) return null;
  const mark = async (): Promise<void> => {
    setBusy(true);
    await api
      .POST('/api/v1/messages/{id}/read', { params: { path: { id: last.id } }, body: {} })
      .catch(() => undefined);
    setBusy(false);
    onDone();
  };
  return (
    <button type="button" className="button" disabled={busy} onClick={() => void mark()}>
      Mark as read
    </button>
  );
}

function Answer({ conversation, onSent }: { conversation: Conversation; onSent: () => void }) {
  const can = useCan();
  const now = useNow(CLOCK_MS);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // Kept while the same text is tried again: it is not sent twice where an answer was lost.
  const key = useRef(crypto.randomUUID());
  const left = windowLeft(conversation, now);
  const { contact, connection_id: connection } = conversation;
  if (!can('messages:write')) return null;
  if (left === 0) {
    const to = contact.phone === null ? '' : numberOf(contact);
    return (
      <div className="writer closed">
        <p>The customer has not written in the last 24 hours. Only a template can be sent.</p>
        <Link className="button" href={`/send?kind=template&to=${encodeURIComponent(to)}&connection=${connection}`}>
          Send a template
        </Link>
      </div>
    );
  }
  const send = async (): Promise<void> => {
    if (text.trim() === '' || busy) return;
    setBusy(true);
    setError(null);
    const address = contact.phone === null ? { recipient: contact.user_id ?? '' } : { to: numberOf(contact) };
    const body = { connection_id: connection, ...address, type: 'text' as const, text: { body: text } };
    try {
      const header = { 'Idempotency-Key': key.current };
      await api.POST('/api/v1/messages', { params: { header }, body });
      setText('');
      key.current = crypto.randomUUID();
      onSent();
    } catch (failure) {
      setError(sendFailure(failure));
    }
    setBusy(false);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const change = (next: string): void => {
    setText(next);
    key.current = crypto.randomUUID();
  };
  return (
    <>
      {error !== null && <Problem error={error} />}
      <form
        className="writer"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void send();
        }}
      >
        <textarea
          aria-label="Answer"
          placeholder="Answer"
          dir="auto"
          rows={2}
          maxLength={4096}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKey}
        />
        <span className="send-side">
          <small title="After that only a template can be sent">{duration(left)} left</small>
          <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
            Answer
          </button>
        </span>
      </form>
    </>
  );
}
