import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { api, dataOf } from './api.ts';
import { Button } from './controls.tsx';
import type { Conversation } from './conversation.ts';
import { useSession } from './session.ts';

/** As many as one page of the API has; the newest ones of more. */
const MOST = 100;
const FRESH_MS = 60_000;

export interface Member {
  id: string;
  name: string;
}

const byName = (a: Member, b: Member): number => a.name.localeCompare(b.name);

/** The people of the workspace by name; none where it has no issuer, or until they are known. */
export function useMembers(): Member[] {
  const { data } = useQuery({
    queryKey: ['members'],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/members', { params: { query: { limit: MOST } }, signal })),
    staleTime: FRESH_MS,
  });
  return data?.data.toSorted(byName) ?? [];
}

/** Whom a list is narrowed to, as the address of the page has it. */
export interface AssigneeFilter {
  assignee?: string;
  assignee_id?: string;
}

/** All who can be chosen: the members, and everyone who was seen as an assignee since the page opened. */
export function useAssignees(rows: readonly Conversation[], members: readonly Member[], chosen: AssigneeFilter) {
  const seen = useRef({ people: new Map<string, string>(), texts: new Set<string>() });
  const { people, texts } = seen.current;
  for (const { assignee, assignee_id: id } of rows) {
    if (assignee === null) continue;
    if (id === null || id === undefined) texts.add(assignee);
    else people.set(id, assignee);
  }
  for (const { id, name } of members) people.set(id, name);
  const { assignee, assignee_id: personId } = chosen;
  if (assignee !== undefined) texts.add(assignee);
  if (personId !== undefined && !people.has(personId)) people.set(personId, 'One person');
  return {
    people: [...people].map(([id, name]) => ({ id, name })).sort(byName),
    texts: [...texts].sort((a, b) => a.localeCompare(b)),
  };
}

const OTHER = 'other';
const KEPT = 'kept';

interface AssigneeProps {
  conversation: Conversation;
  members: readonly Member[];
  /** Texts that were given before. */
  texts: readonly string[];
  busy: boolean;
  onChange: (body: AssigneeChange) => void;
}

export type AssigneeChange = { assignee: string | null } | { assignee_id: string };

/** Who looks after a conversation: one of the members, or any text. */
export function Assignee({ conversation, members, texts, busy, onChange }: AssigneeProps) {
  const own = useSession().person?.person.id;
  const [isText, setIsText] = useState(false);
  const { assignee, assignee_id: personId } = conversation;
  if (isText || members.length === 0) {
    return <AssigneeText before={assignee ?? ''} texts={texts} busy={busy} isOpened={isText} onChange={onChange} />;
  }
  const member = members.find(({ id }) => id === personId);
  const choose = (value: string): void => {
    if (value === OTHER) setIsText(true);
    else if (value !== KEPT) onChange(value === '' ? { assignee: null } : { assignee_id: value });
  };
  const nameOf = ({ id, name }: Member): string => (id === own ? `${name} (you)` : name);
  const ordered = members.toSorted((a, b) => Number(b.id === own) - Number(a.id === own));
  return (
    <label>
      <span>Assigned to</span>
      <select
        value={member?.id ?? (assignee === null ? '' : KEPT)}
        disabled={busy}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">no one</option>
        {member === undefined && assignee !== null && <option value={KEPT}>{assignee}</option>}
        {ordered.map((each) => (
          <option key={each.id} value={each.id}>
            {each.id === member?.id && assignee !== null && assignee !== each.name ? assignee : nameOf(each)}
          </option>
        ))}
        <option value={OTHER}>another name …</option>
      </select>
    </label>
  );
}

interface AssigneeTextProps extends Pick<AssigneeProps, 'texts' | 'busy' | 'onChange'> {
  before: string;
  /** It was asked for: the field has the focus. */
  isOpened: boolean;
}

function AssigneeText({ before, texts, busy, isOpened, onChange }: AssigneeTextProps) {
  const [assignee, setAssignee] = useState(before);
  const names = useId();
  const given = assignee.trim();
  const assign = (event: FormEvent): void => {
    event.preventDefault();
    if (given !== before) onChange({ assignee: given === '' ? null : given });
  };
  return (
    <form className="assign" onSubmit={assign}>
      <label>
        <span>Assigned to</span>
        <input
          list={names}
          dir="auto"
          autoComplete="off"
          autoFocus={isOpened}
          maxLength={100}
          placeholder="a name"
          value={assignee}
          onChange={(event) => setAssignee(event.target.value)}
        />
        <datalist id={names}>
          {texts.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {given !== before && <Button submit label={given === '' ? 'Unassign' : 'Assign'} disabled={busy} />}
    </form>
  );
}
