import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf } from './api.ts';
import { type AssigneeFilter, useAssignees, useMembers } from './assignees.tsx';
import { type Conversation, excerptOf, nameOf, numberOf, windowLeft } from './conversation.ts';
import { useFresh } from './live.ts';
import { Bar, More } from './panes.tsx';
import { useList } from './queries.ts';
import { Thread } from './thread.tsx';
import { ago, Choice, duration, Empty, ListSearch, Problem, Skeleton, Ticks, useNow } from './ui.tsx';

const PAGE = 50;
const CLOCK_MS = 15_000;

const TABS = {
  open: { label: 'Open', filters: { waiting: 'true', closed: 'false' } },
  all: { label: 'All', filters: {} },
  unread: { label: 'Unread', filters: { unread: 'true' } },
} as const;
type Tab = keyof typeof TABS;
const isTab = (text: string | null): text is Tab => text !== null && Object.hasOwn(TABS, text);

const EMPTY: Readonly<Record<Tab, readonly [title: string, text: string]>> = {
  open: ['No customer waits for an answer', 'Who wrote last and is not closed appears here.'],
  all: ['No conversations yet', 'One begins when a customer writes, or when you send a message.'],
  unread: ['Nothing is unread', 'What a customer wrote is unread until it is marked as read.'],
};

/** What the address says of the list. A search looks at all conversations, unless a tab is chosen beside it. */
function listOf(search: string) {
  const given = new URLSearchParams(search);
  const [text, shown] = [given.get('search') ?? '', given.get('show')];
  const [assignee, personId] = [given.get('assignee'), given.get('assignee_id')];
  const chosen: AssigneeFilter = {
    ...(assignee !== null && { assignee }),
    ...(personId !== null && { assignee_id: personId }),
  };
  const tab: Tab = isTab(shown) ? shown : text === '' ? 'open' : 'all';
  const isSearchable = text === '' || /[\p{L}\p{N}]/u.test(text);
  const filters = {
    ...TABS[tab].filters,
    ...(text !== '' && { search: text }),
    ...chosen,
  };
  return { tab, text, chosen, isSearchable, filters };
}

function withParameters(search: string, changes: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

export function ConversationsPage({ selected }: { selected: string | null }) {
  const [, navigate] = useLocation();
  const search = useSearch();
  const { tab, text, chosen, isSearchable, filters } = listOf(search);
  const path = selected === null ? '/conversations' : `/conversations/${selected}`;
  const choose = (changes: Record<string, string>): void =>
    navigate(path + withParameters(search, changes), { replace: true });
  // A tab takes the search away; the field begins anew.
  const [cleared, setCleared] = useState(0);
  const suffix = search === '' ? '' : `?${search}`;
  const { list, rows: found } = useList(
    ['conversations', filters],
    (cursor, signal) =>
      api.GET('/api/v1/conversations', { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
    { enabled: isSearchable },
  );
  const { refetch } = list;
  // `refetch` asks even where the query is not enabled.
  useFresh(refetch, () => isSearchable);
  const now = useNow(CLOCK_MS);
  const rows = isSearchable ? found : [];
  const members = useMembers();
  const { people, texts } = useAssignees(rows, members, chosen);
  const ofOne = chosen.assignee_id === undefined ? chosen.assignee : PERSON + chosen.assignee_id;
  const query = Object.entries({ ...filters, limit: PAGE }).map(([name, value]) => [name, String(value)]);
  const [title, says] = text === '' && ofOne === undefined ? EMPTY[tab] : ['No conversation matches', ''];
  return (
    <div className={selected === null ? 'panes conversations' : 'panes conversations has-detail'}>
      <section className="pane-list" aria-label="Conversations">
        <Bar inPane title="Conversations" curl={curlOf('GET', `/api/v1/conversations?${new URLSearchParams(query)}`)} />
        <nav className="tabs conversation-tabs" aria-label="Which conversations">
          {Object.entries(TABS).map(([name, { label }]) => (
            <Link
              key={name}
              href={path + withParameters(search, { show: name, search: '' })}
              replace
              onClick={() => setCleared((count) => count + 1)}
              aria-current={name === tab ? 'page' : undefined}
            >
              {label}
            </Link>
          ))}
        </nav>
        <div className="filters pane-filters">
          <ListSearch
            key={cleared}
            label="Name or number"
            value={text}
            onText={(typed) => choose({ search: typed, show: '' })}
          />
          {people.length + texts.length > 0 && (
            <Choice label="Anyone" value={ofOne ?? ''} onChange={(one) => choose(filterOf(one))}>
              {[
                ...people.map(({ id, name }): [string, string] => [PERSON + id, name]),
                ...texts.map((name): [string, string] => [name, name]),
              ]}
            </Choice>
          )}
        </div>
        {!isSearchable && <p className="hint warn">Write the beginning of a name, or digits of a number.</p>}
        <div className="pane-rows" tabIndex={-1}>
          {list.isLoading && <Skeleton lines={10} />}
          {isSearchable && list.error !== null && <Problem error={list.error} onRetry={() => void refetch()} />}
          {isSearchable && list.isSuccess && rows.length === 0 && !list.hasNextPage && (
            <Empty title={title} says={says} />
          )}
          {rows.map((row) => (
            <ConversationRow key={row.id} row={row} suffix={suffix} isSelected={row.id === selected} now={now} />
          ))}
          {isSearchable && <More list={list} />}
        </div>
      </section>
      {selected === null ? (
        <section className="pane-detail pane-place">
          <Empty title="Choose a conversation" says="What was written, in both directions, appears here." />
        </section>
      ) : (
        <Thread key={selected} id={selected} suffix={suffix} members={members} texts={texts} />
      )}
    </div>
  );
}

/** Before the id of a person, in a choice that has other names too: a name begins with no space. */
const PERSON = ' ';

function filterOf(chosen: string): Record<'assignee' | 'assignee_id', string> {
  const isPerson = chosen.startsWith(PERSON);
  return { assignee: isPerson ? '' : chosen, assignee_id: isPerson ? chosen.slice(PERSON.length) : '' };
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
      className="pane-row conversation-row"
      aria-current={isSelected ? 'true' : undefined}
    >
      <span className={row.unread_count > 0 ? 'name unread' : 'name'}>
        <bdi>{nameOf(row)}</bdi>
        {row.contact.name !== null && <small>{numberOf(row.contact)}</small>}
      </span>
      <time dateTime={row.updated_at}>{ago(last?.created_at ?? row.updated_at, now)}</time>
      <span className="last">
        {last?.direction === 'outbound' && <Ticks status={last.status} />}
        <bdi>{last === null ? '' : excerptOf(last)}</bdi>
      </span>
      <span className="marks">
        {row.closed && <small>closed</small>}
        {left > 0 && <small title="What is left of the customer-service window">{duration(left)}</small>}
        {row.unread_count > 0 && (
          <b>
            {row.unread_count}
            <span className="hidden"> unread</span>
          </b>
        )}
      </span>
      {row.assignee !== null && (
        <small className="assignee">
          <span className="hidden">Assigned to </span>
          <bdi>{row.assignee}</bdi>
        </small>
      )}
    </Link>
  );
}
