import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type DragEvent, Fragment, useCallback, useEffect, type UIEvent, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOf, type MessageRow } from './api.ts';
import { Assignee, type AssigneeChange, type Member } from './assignees.tsx';
import { Bubble, bubbleOfRow } from './bubble.tsx';
import { Composer } from './composer.tsx';
import { BackLink, Button } from './controls.tsx';
import { useSending } from './send.tsx';
import { type Conversation, excerptOf, nameOf, numberOf, windowLeft } from './conversation.ts';
import { useEvents } from './live.ts';
import { mediaOf } from './message-file.tsx';
import { useData } from './queries.ts';
import { EMOJIS, withReactions } from './reactions.ts';
import { type Cursor, journalPage } from './search.ts';
import { useCan } from './session.ts';
import { Icon } from './icon.tsx';
import { clockTime, Problem, Skeleton, STATUS_WORDS, Ticks, useNow, withTimes } from './ui.tsx';

const PAGE = 50;
const CLOCK_MS = 15_000;
const NEAR_END_PX = 160;

interface ThreadProps {
  id: string;
  /** The filters of the list, for the address. */
  suffix: string;
  /** Who can be chosen to look after it. */
  members: readonly Member[];
  /** Other names that were given. */
  texts: readonly string[];
}

/** One conversation: what was written in both directions, and the answer to it. */
export function Thread({ id, suffix, members, texts }: ThreadProps) {
  const conversation = useData(['conversation', id], (signal) =>
    api.GET('/api/v1/conversations/{id}', { params: { path: { id } }, signal }),
  );
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
  const [quoted, setQuoted] = useState<MessageRow | null>(null);
  const [dropped, setDropped] = useState<File | null>(null);
  const [isOver, setOver] = useState(false);
  const rows = (messages.data?.pages.flatMap((page) => page.rows) ?? []).toReversed();
  const error = conversation.error ?? messages.error;
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    setDropped(event.dataTransfer.files[0] ?? null);
  };
  return (
    <section
      className={isOver ? 'pane-detail thread is-over' : 'pane-detail thread'}
      aria-label="Thread"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <header className="panel-bar">
        <BackLink href={`/conversations${suffix}`} />
        {conversation.data !== undefined && (
          <h1 className="detail-name thread-name">
            <bdi>{nameOf(conversation.data)}</bdi>
            {conversation.data.contact.name !== null && <small>{numberOf(conversation.data.contact)}</small>}
          </h1>
        )}
        <span className="grow" />
        {conversation.data !== undefined && conversation.data.unread_count > 0 && (
          <MarkRead rows={rows} onDone={refresh} />
        )}
        <Link className="button quiet wide" href={`/messages?q=conversation:${id}`}>
          As a list
        </Link>
      </header>
      {conversation.data !== undefined && (
        <Keeping
          key={`${conversation.data.assignee} ${conversation.data.assignee_id}`}
          conversation={conversation.data}
          members={members}
          texts={texts}
          onDone={refresh}
        />
      )}
      {error !== null && <Problem error={error} onRetry={refresh} />}
      <Chat
        rows={rows}
        conversation={conversation.data}
        isPending={messages.isPending}
        onEarlier={messages.hasNextPage ? () => void messages.fetchNextPage() : null}
        onQuote={setQuoted}
        onSent={refresh}
      />
      {conversation.data !== undefined && (
        <Composer
          conversation={conversation.data}
          rows={rows}
          quoted={quoted}
          onQuote={setQuoted}
          dropped={dropped}
          onDropTaken={() => setDropped(null)}
          onSent={refresh}
        />
      )}
    </section>
  );
}

interface ChatProps {
  /** The oldest first. */
  rows: readonly MessageRow[];
  conversation: Conversation | undefined;
  isPending: boolean;
  /** Shows earlier ones; null: there are none. */
  onEarlier: (() => void) | null;
  onQuote: (row: MessageRow) => void;
  onSent: () => void;
}

function Chat({ rows, conversation, isPending, onEarlier, onQuote, onSent }: ChatProps) {
  const can = useCan();
  const now = useNow(CLOCK_MS);
  const [reactingTo, setReactingTo] = useState<string | null>(null);
  const { send, error } = useSending(onSent);
  const shown = withReactions(rows);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const box = useRef<HTMLDivElement>(null);
  const newest = rows.at(-1)?.id;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [newest]);
  // What grows while the end is in view, as files do that are being loaded, leaves it there.
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const onScroll = ({ currentTarget: { scrollHeight, clientHeight, scrollTop } }: UIEvent<HTMLDivElement>): void => {
    isAtEnd.current = scrollHeight - clientHeight - scrollTop < NEAR_END_PX;
  };
  useEffect(() => {
    if (content.current === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  const mayAnswer = can('messages:write') && conversation !== undefined && windowLeft(conversation, now) > 0;
  const react = (row: MessageRow, emoji: string): void => {
    setReactingTo(null);
    if (conversation === undefined) return;
    void send({ conversation_id: conversation.id, type: 'reaction', reaction: { emoji }, reply_to_message_id: row.id });
  };
  return (
    <div
      className="chat thread-chat"
      ref={box}
      tabIndex={0}
      role="log"
      aria-label="Messages of this conversation"
      onScroll={onScroll}
    >
      <div className="thread-content" ref={content}>
        {isPending && <Skeleton lines={6} />}
        {onEarlier !== null && <Button className="more" label="Show earlier ones" onClick={onEarlier} />}
        {shown.map(({ row, reactions }, index) => {
          const isMine = row.direction === 'outbound';
          const answered = row.reply_to_message_id;
          return (
            <Fragment key={row.id}>
              {dayOf(shown[index - 1]?.row) !== dayOf(row) && <p className="day">{dayOf(row)}</p>}
              <div className={isMine ? 'said in-thread is-mine' : 'said in-thread'}>
                <Bubble
                  side={isMine ? 'mine' : 'theirs'}
                  content={bubbleOfRow(row)}
                  reactions={reactions}
                  quoted={
                    answered !== null && row.type !== 'reaction' && <Quoted row={byId.get(answered)} id={answered} />
                  }
                  media={mediaOf(row)}
                  meta={
                    <Link href={`/messages/${row.id}`} className="meta-link">
                      {hasProblem(row) && `${STATUS_WORDS[row.status]} `}
                      {clockTime(row.created_at)} {isMine && <Ticks status={row.status} />}
                    </Link>
                  }
                  note={hasProblem(row) && <Reason id={row.id} />}
                />
                {mayAnswer && isAnswerable(row) && (
                  <span className="said-tools">
                    <button
                      type="button"
                      className="button quiet react"
                      aria-label="Reply"
                      title="Reply"
                      onClick={() => onQuote(row)}
                    >
                      <Icon name="reply" />
                    </button>
                    {!isMine && (
                      <button
                        type="button"
                        className="button quiet react"
                        aria-label="React"
                        title="React"
                        aria-expanded={reactingTo === row.id}
                        onClick={() => setReactingTo(reactingTo === row.id ? null : row.id)}
                      >
                        <Icon name="smile" />
                      </button>
                    )}
                  </span>
                )}
                {mayAnswer && reactingTo === row.id && (
                  <div className="emojis" role="group" aria-label="Reactions">
                    {[...EMOJIS, ''].map((emoji) => (
                      <button
                        key={emoji}
                        type="button"
                        aria-label={emoji === '' ? 'Take the reaction back' : `React with ${emoji}`}
                        onClick={() => react(row, emoji)}
                      >
                        {emoji === '' ? '×' : emoji}
                      </button>
                    ))}
                  </div>
                )}
              </div>
            </Fragment>
          );
        })}
        {error !== null && <Problem error={error} />}
      </div>
    </div>
  );
}

const hasProblem = ({ status }: MessageRow): boolean => status === 'failed' || status === 'outcome_unknown';

/** What a quote or a reaction can be about. */
const isAnswerable = ({ type, status, revoked_at: revokedAt }: MessageRow): boolean =>
  typeof revokedAt !== 'string' &&
  !['failed', 'queued', 'processing'].includes(status) &&
  !['reaction', 'system', 'edit', 'revoke'].includes(type);

/** The message that is answered; one that is further up is a link. */
function Quoted({ row, id }: { row: MessageRow | undefined; id: string }) {
  return (
    <Link href={`/messages/${id}`} className="quoted">
      {row === undefined ? 'An earlier message' : <b>{row.direction === 'outbound' ? 'You' : 'Customer'}</b>}
      {row !== undefined && <bdi>{excerptOf(row)}</bdi>}
    </Link>
  );
}

/** Why a message did not arrive, or may not have: the sentence that its own page begins with. */
function Reason({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['explanation', id],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/messages/{id}/timeline', { params: { path: { id } }, signal })),
  });
  const summary = data?.explanation.summary;
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
  return <Button label="Mark as read" disabled={busy} onClick={() => void mark()} />;
}

interface KeepingProps extends Pick<ThreadProps, 'members' | 'texts'> {
  conversation: Conversation;
  onDone: () => void;
}

/** Who looks after it, and whether anything is left to do. */
function Keeping({ conversation, members, texts, onDone }: KeepingProps) {
  const can = useCan();
  const { id, closed, assignee } = conversation;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (!can('messages:write')) {
    if (assignee === null && !closed) return null;
    return (
      <p className="keeping">
        {assignee !== null && <bdi>Assigned to {assignee}</bdi>} {closed && 'Closed'}
      </p>
    );
  }
  const change = async (body: { closed: boolean } | AssigneeChange): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await api.PATCH('/api/v1/conversations/{id}', { params: { path: { id } }, body });
      onDone();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <>
      <div className="keeping">
        <Assignee
          conversation={conversation}
          members={members}
          texts={texts}
          busy={busy}
          onChange={(body) => void change(body)}
        />
        <span className="grow" />
        {closed && <span className="hint">Closed</span>}
        <Button
          label={closed ? 'Open again' : 'Close conversation'}
          disabled={busy}
          onClick={() => void change({ closed: !closed })}
        />
      </div>
      {error !== null && <Problem error={error} />}
    </>
  );
}
