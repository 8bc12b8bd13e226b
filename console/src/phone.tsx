import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { api, dataOf, type MessageRow, type Schemas } from './api.ts';
import { Bubble, type BubbleButton, type BubbleContent, bubbleOfRow } from './bubble.tsx';
import { Button, Select } from './controls.tsx';
import { useEvents } from './live.ts';
import { useConnections } from './messages.tsx';
import { useData } from './queries.ts';
import { EMOJIS, withReactions } from './reactions.ts';
import { type Control, Reviewer } from './reviewer.tsx';
import { useCan } from './session.ts';
import { chooseCustomer, CUSTOMERS, useCustomer } from './simulated.ts';
import { Icon } from './icon.tsx';
import { clockTime, Problem, Ticks } from './ui.tsx';

const SHOWN = 40;
const LOOK_MS = 1_000;

interface SimulatorNumber {
  phone_number_id: string;
  waba_id: string;
  display_phone_number: string;
}
interface InboundFact {
  id: string;
  read_at: string | null;
  typing_until: string | null;
  from: string;
}

async function control<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`/console/simulator/${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const json = (await answer.json()) as T & { error?: { message?: string } };
  if (!answer.ok) throw new Error(json.error?.message ?? `The simulator answered ${answer.status}.`);
  return json;
}

const digits = (text: string): string => text.replaceAll(/\D/g, '');
const isShown = (row: MessageRow): boolean =>
  row.direction === 'inbound' || ['sent', 'delivered', 'read'].includes(row.status);

/** The telephone of a simulated customer: what arrived there, and what they write. */
export function PhoneDock({ onClose }: { onClose: () => void }) {
  const { data: connections } = useConnections();
  const numbers = useQuery({
    queryKey: ['simulator', 'numbers'],
    queryFn: async () => (await control<{ data: SimulatorNumber[] }>('numbers')).data,
  });
  const customer = useCustomer();
  const [chosen, setChosen] = useState<string | null>(null);
  const connection = connections?.find(({ id }) => id === chosen) ?? connections?.[0];
  const number = numbers.data?.find(
    ({ display_phone_number: shown }) => digits(shown) === digits(connection?.phone_number ?? ''),
  );
  const chat = useChat(connection?.id ?? null, customer);
  const reads = useQuery({
    queryKey: ['simulator', 'inbound'],
    queryFn: async () => (await control<{ data: InboundFact[] }>('inbound?limit=100')).data,
    refetchInterval: LOOK_MS,
  });
  const [problem, setProblem] = useState<unknown>(null);
  const [isReviewing, setReviewing] = useState(false);
  const [editing, setEditing] = useState<MessageRow | null>(null);
  const write = async (message: object): Promise<void> => {
    setProblem(null);
    try {
      await control('inbound', { phone_number_id: number?.phone_number_id, from: customer, message });
    } catch (error) {
      setProblem(error);
    }
  };
  const read = new Set((reads.data ?? []).filter(({ read_at: at }) => at !== null).map(({ id }) => id));
  const isTyping = (reads.data ?? []).some(
    ({ from, typing_until: until }) => from === digits(customer) && until !== null && Date.parse(until) > Date.now(),
  );
  return (
    <aside className="phone" aria-label="Simulated phone">
      <header>
        <div className="row">
          <button
            type="button"
            className={isReviewing ? 'button quiet' : 'button pressed'}
            aria-pressed={!isReviewing}
            onClick={() => setReviewing(false)}
          >
            Simulated phone
          </button>
          <button
            type="button"
            className={isReviewing ? 'button pressed' : 'button quiet'}
            aria-pressed={isReviewing}
            onClick={() => setReviewing(true)}
          >
            Reviewer
          </button>
        </div>
        <Button quiet icon="close" aria-label="Close the phone" onClick={onClose} />
        {!isReviewing && (
          <label>
            <span className="hidden">Customer</span>
            <Select
              value={customer}
              options={CUSTOMERS.map(([phone, what]) => [phone, `${phone}: ${what}`])}
              onValue={chooseCustomer}
            />
          </label>
        )}
        {!isReviewing && <NextMessage customer={customer} control={control} />}
        {connections !== undefined && connections.length > 1 && (
          <label>
            <span className="hidden">Chat with</span>
            <Select
              value={connection?.id ?? ''}
              options={connections.map(({ id, verified_name, phone_number }) => [
                id,
                `${isReviewing ? 'templates of' : 'chat with'} ${verified_name ?? `+${digits(phone_number)}`}`,
              ])}
              onValue={setChosen}
            />
          </label>
        )}
      </header>
      {isReviewing ? (
        <Reviewer control={control} account={number?.waba_id ?? null} />
      ) : (
        <>
          <Chat
            rows={chat}
            connectionId={connection?.id ?? null}
            read={read}
            isTyping={isTyping}
            write={write}
            onEdit={setEditing}
          />
          {problem !== null && <Problem error={problem} />}
          <Writer
            key={editing?.id}
            disabled={number === undefined}
            editing={editing}
            write={write}
            onEdited={() => setEditing(null)}
          />
        </>
      )}
    </aside>
  );
}

function useChat(connectionId: string | null, customer: string): readonly MessageRow[] | null {
  const list = async (filter: { to: string } | { from: string }): Promise<MessageRow[]> => {
    const query = { ...filter, connection_id: connectionId ?? '', limit: SHOWN };
    return (await dataOf(api.GET('/api/v1/messages', { params: { query } }))).data;
  };
  const { data, refetch } = useQuery({
    queryKey: ['phone', connectionId, customer],
    queryFn: async () => {
      const both = (await Promise.all([list({ to: customer }), list({ from: customer })])).flat();
      return both.filter(isShown).sort((a, b) => a.created_at.localeCompare(b.created_at));
    },
    enabled: connectionId !== null,
    placeholderData: (before) => before,
  });
  // `refetch` asks even where the query is not enabled.
  const onEvents = useCallback(() => {
    if (connectionId !== null) void refetch();
  }, [connectionId, refetch]);
  useEvents(onEvents);
  return data ?? null;
}

interface ChatProps {
  /** Null until they are read. */
  rows: readonly MessageRow[] | null;
  connectionId: string | null;
  read: ReadonlySet<string>;
  isTyping: boolean;
  write: (message: object) => Promise<void>;
  onEdit: (row: MessageRow) => void;
}

/** The templates of those that were sent, for their buttons. */
function useTemplatesOf(
  rows: readonly MessageRow[],
  connectionId: string | null,
): readonly Schemas['TemplateResponse'][] {
  const can = useCan();
  const { data } = useData(
    ['phone', 'templates', connectionId],
    () => api.GET('/api/v1/connections/{id}/templates', { params: { path: { id: connectionId ?? '' } } }),
    {
      enabled: connectionId !== null && can('templates:read') && rows.some(({ type }) => type === 'template'),
    },
  );
  return data ?? [];
}

interface TemplateContent {
  name?: string;
  language?: { code?: string };
  components?: { type?: string; index?: string | number; parameters?: { payload?: string }[] }[];
}
interface TemplateButton {
  type?: string;
  text?: string;
}

/** What the phone shows: of a template also its footer and its buttons, which the message itself does not have. */
function shownOf(row: MessageRow, templates: readonly Schemas['TemplateResponse'][]): BubbleContent {
  const shown = bubbleOfRow(row);
  if (row.type !== 'template') return shown;
  const sent = (row.content ?? {}) as TemplateContent;
  const template = templates.find(({ name, language }) => name === sent.name && language === sent.language?.code);
  const part = (type: string) =>
    template?.components.find((one) => one.type === type) as { text?: string; buttons?: TemplateButton[] } | undefined;
  const payloadOf = (at: number): string | undefined =>
    sent.components?.find(({ type, index }) => type === 'button' && Number(index) === at)?.parameters?.[0]?.payload;
  const buttons = (part('BUTTONS')?.buttons ?? []).map(({ type, text = '' }, at): BubbleButton => ({
    id: type === 'QUICK_REPLY' ? (payloadOf(at) ?? text) : null,
    title: text,
  }));
  return { ...shown, footer: part('FOOTER')?.text ?? null, buttons };
}

/** What the customer's application sends for a button, or a line of a list. */
function pressed({ type, content }: MessageRow, { id, title }: BubbleButton): object {
  if (type === 'template') return { type: 'button', button: { payload: id, text: title } };
  const { interactive, type: own } = (content ?? {}) as { interactive?: { type?: unknown }; type?: unknown };
  const kind = (interactive?.type ?? own) === 'list' ? 'list_reply' : 'button_reply';
  return { type: 'interactive', interactive: { type: kind, [kind]: { id, title } } };
}

function Chat({ rows: found, connectionId, read, isTyping, write, onEdit }: ChatProps) {
  const rows = found ?? [];
  const box = useRef<HTMLDivElement>(null);
  const [reactingTo, setReactingTo] = useState<string | null>(null);
  const templates = useTemplatesOf(rows, connectionId);
  const newest = rows.at(-1)?.id;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [newest, isTyping]);
  const react = (row: MessageRow, emoji: string): void => {
    setReactingTo(null);
    void write({ type: 'reaction', reaction: { message_id: row.meta_message_id, emoji } });
  };
  return (
    <div className="chat phone-chat" ref={box} tabIndex={0} role="log" aria-label="Chat">
      {found?.length === 0 && <p className="hint">Nothing has arrived yet. Send a message, or write one here.</p>}
      {withReactions(rows).map(({ row, reactions }) => {
        const isOwn = row.direction === 'inbound';
        return (
          <div key={row.id} className={isOwn ? 'said is-mine' : 'said'}>
            <Bubble
              side={isOwn ? 'mine' : 'theirs'}
              content={shownOf(row, templates)}
              reactions={reactions}
              meta={
                <>
                  {clockTime(row.created_at)}
                  {isOwn && <Ticks status={read.has(row.meta_message_id ?? '') ? 'read' : 'delivered'} />}
                </>
              }
              onButton={(button) => void write({ ...pressed(row, button), context: { id: row.meta_message_id } })}
            />
            {isOwn && isChangeable(row) && (
              <span className="row changes">
                {row.type === 'text' && <Button quiet label="Reword" onClick={() => onEdit(row)} />}
                <Button
                  quiet
                  label="Withdraw"
                  onClick={() => void write({ type: 'revoke', revoke: { original_message_id: row.meta_message_id } })}
                />
              </span>
            )}
            {!isOwn && row.meta_message_id !== null && (
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
            {reactingTo === row.id && (
              <div className="emojis" role="group" aria-label="Reactions">
                {EMOJIS.map((emoji) => (
                  <button
                    key={emoji}
                    type="button"
                    aria-label={`React with ${emoji}`}
                    onClick={() => react(row, emoji)}
                  >
                    {emoji}
                  </button>
                ))}
                {reactions.length > 0 && (
                  <button type="button" aria-label="Take the reaction back" onClick={() => react(row, '')}>
                    ×
                  </button>
                )}
              </div>
            )}
          </div>
        );
      })}
      {isTyping && <p className="hint">typing …</p>}
    </div>
  );
}

/** What the customer may still edit or delete. */
const isChangeable = ({ type, meta_message_id: id, revoked_at: revokedAt }: MessageRow): boolean =>
  id !== null && typeof revokedAt !== 'string' && !['reaction', 'system', 'edit', 'revoke'].includes(type);

/** Codes of WhatsApp that the next message to the customer may fail with. */
const FAILURES: readonly (readonly [code: number, what: string])[] = [
  [131026, 'not on WhatsApp'],
  [131049, 'too much marketing'],
  [130472, 'in an experiment'],
  [131047, 'window closed'],
  [131030, 'number not allowed'],
  [131031, 'account locked'],
  [131045, 'wrong certificate'],
  [131057, 'maintenance'],
  [133004, 'WhatsApp unavailable'],
];

interface Failure {
  code: number;
  to: string | null;
}

function NextMessage({ customer, control }: { customer: string; control: Control }) {
  const { data = [], refetch } = useQuery({
    queryKey: ['simulator', 'failures'],
    queryFn: async () => (await control<{ data: Failure[] }>('failures')).data,
    refetchInterval: LOOK_MS,
  });
  const code = data.find(({ to }) => to === digits(customer))?.code ?? 0;
  const choose = async (chosen: number): Promise<void> => {
    const asked = chosen === 0 ? { code: 1, times: 0 } : { code: chosen, times: 1 };
    await control('failures', { to: customer, ...asked });
    await refetch();
  };
  return (
    <label>
      <span className="hidden">The next message</span>
      <Select
        value={String(code)}
        options={[
          ['0', 'next message: as usual'],
          ...FAILURES.map(([value, what]) => [String(value), `next message: ${value}, ${what}`]),
        ]}
        onValue={(value) => void choose(Number(value))}
      />
    </label>
  );
}

interface WriterProps {
  disabled: boolean;
  /** The message of the customer that gets other words. */
  editing: MessageRow | null;
  write: (message: object) => Promise<void>;
  onEdited: () => void;
}

function Writer({ disabled, editing, write, onEdited }: WriterProps) {
  const [text, setText] = useState(editing?.current?.body ?? editing?.body ?? '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    const message = { type: 'text', text: { body: text } };
    if (editing === null) void write(message);
    else void write({ type: 'edit', edit: { original_message_id: editing.meta_message_id, message } });
    setText('');
    onEdited();
  };
  return (
    <form className="writer" onSubmit={submit}>
      <input
        aria-label={editing === null ? 'Write as the customer' : 'New words of the customer'}
        placeholder="Write as the customer"
        autoFocus={editing !== null}
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button
        label="+"
        disabled={disabled}
        aria-label="Send a picture"
        title="Send a picture"
        onClick={() => void write({ type: 'image', image: {} })}
      />
      <Button submit primary icon="send" disabled={disabled || text.trim() === ''} aria-label="Send as the customer" />
    </form>
  );
}
