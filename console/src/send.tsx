import { useQuery } from '@tanstack/react-query';
import { useContext, useEffect, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import { api, ApiError, curlOf, dataOf, isAway, type Message as Sent, type Schemas, sendFailure } from './api.ts';
import { useAttempt } from './attempt.ts';
import { Bubble, type BubbleContent, bubbleOf } from './bubble.tsx';
import { Button, Radios, SelectField } from './controls.tsx';
import { useGo } from './go.ts';
import { type MediaFile, MediaThumb } from './media-file.tsx';
import { useConnections } from './messages.tsx';
import {
  BLANK,
  ContentFields,
  contentOf,
  type Draft,
  Field,
  headerFormat,
  isOf,
  keyOf,
  type Kind,
  KINDS,
  labelOf,
  type Message,
  type Note,
  otherNotes,
  type Template,
  variablesOf,
} from './send-content.tsx';
import { money, NoNumber, peerOf, plusNumber, wholeNumber } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { chooseCustomer, customerOf, CUSTOMERS, HasSimulator, useCustomer } from './simulated.ts';
import { CopyButton, Empty, fullTime, Problem, Skeleton } from './ui.tsx';

const CHECK_MS = 350;
const AWAY_MS = 3_000;

type Check = Schemas['MessageCheck'];

export function SendPage() {
  const connections = useConnections();
  const like = new URLSearchParams(useSearch()).get('like') ?? '';
  const sent = useData(
    ['send', 'like', like],
    (signal) => api.GET('/api/v1/messages/{id}', { params: { path: { id: like } }, signal }),
    {
      enabled: like !== '',
    },
  );
  const isPending = [connections, sent].some((one) => one.isPending && one.fetchStatus !== 'idle');
  if (isPending) return <Skeleton lines={8} />;
  if (connections.error !== null)
    return <Problem error={connections.error} onRetry={() => void connections.refetch()} />;
  if (connections.data === undefined) {
    return (
      <Empty title="This key may not list the numbers">
        <p>
          To send from here it needs the scope <code>connections:read</code> too.
        </p>
      </Empty>
    );
  }
  if (connections.data.length === 0) {
    return <NoNumber />;
  }
  return <SendForm connections={connections.data} sent={sent.data} />;
}

const isKind = (text: string | null): text is Kind => text !== null && Object.hasOwn(KINDS, text);

/** A message that is changed and sent anew. Of other types than text the content is chosen again. */
function draftLike(sent: Sent, blank: Draft): Draft {
  const to = sent.contact.phone === null && sent.to === null ? '' : peerOf(sent);
  const like = { ...blank, connection: sent.connection_id, to };
  if (sent.type === 'text') return { ...like, text: sent.body ?? '' };
  return { ...like, text: '', kind: sent.type === 'template' || sent.type === 'location' ? sent.type : 'text' };
}

export function useTemplates({ connection, kind }: Draft) {
  const can = useCan();
  return useQuery({
    queryKey: ['templates', connection, 'approved'],
    queryFn: async () => {
      const params = { path: { id: connection }, query: { status: 'approved' as const, limit: 100 } };
      return (await dataOf(api.GET('/api/v1/connections/{id}/templates', { params }))).data;
    },
    enabled: kind === 'template' && can('templates:read'),
  });
}

interface SendFormProps {
  connections: Schemas['ConnectionResponse'][];
  sent: Sent | undefined;
}

/** Begins with what the address gives, such as the number that is answered. In the demo the phone shows who is written to. */
function useDraft({ connections, sent }: SendFormProps): [Draft, (changes: Partial<Draft>) => void] {
  const given = new URLSearchParams(useSearch());
  const isDemo = useContext(HasSimulator);
  const customer = useCustomer();
  const [draft, setDraft] = useState<Draft>(() => {
    const kind = given.get('kind');
    const blank = {
      ...BLANK,
      connection: given.get('connection') ?? connections[0]?.id ?? '',
      to: given.get('to') ?? (isDemo ? customer : ''),
      kind: isKind(kind) ? kind : ('text' as const),
      text: isDemo ? 'Your table for two is ready.' : '',
      template: given.get('template') ?? '',
    };
    return sent === undefined ? blank : draftLike(sent, blank);
  });
  const set = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }));
  const { to } = draft;
  useEffect(() => chooseCustomer(to), [to]);
  const shown = useRef(customer);
  useEffect(() => {
    if (shown.current === customer) return;
    shown.current = customer;
    setDraft((before) => {
      const written = customerOf(before.to);
      return written !== null && written !== customer ? { ...before, to: customer } : before;
    });
  }, [customer]);
  return [draft, set];
}

function SendForm(props: SendFormProps) {
  const { connections } = props;
  const navigate = useGo();
  const [draft, set] = useDraft(props);
  const isDemo = useContext(HasSimulator);
  const can = useCan();
  const templates = useTemplates(draft);
  const template = templates.data?.find(({ id }) => id === draft.template) ?? null;
  const body = bodyOf(draft, contentOf(draft, template));
  const check = useCheck(body);
  const missing = missingIn(draft, template);
  const notes = body === null ? [] : notesOf(check.data, check.error, missing !== null);
  const { busy, error, send } = useSending(({ id }) => navigate(`/messages/${id}`));
  return (
    <div className="send-page">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (body !== null) void send(body);
        }}
      >
        <h1>Send a message</h1>
        {connections.length > 1 && (
          <SelectField
            label="From"
            value={draft.connection}
            options={connections.map(({ id, phone_number, verified_name }) => [
              id,
              `${verified_name ?? ''} ${plusNumber(phone_number)}`,
            ])}
            onValue={(value) => set({ connection: value, template: '', file: null })}
          />
        )}
        <Field label="To" path="to" notes={notes}>
          <input
            inputMode="tel"
            autoComplete="off"
            placeholder="+4915112345678"
            value={draft.to}
            onChange={(event) => set({ to: event.target.value })}
          />
        </Field>
        {isDemo && (
          <label className="field">
            <span>In the demo, the number decides how it ends</span>
            <select value={customerOf(draft.to) ?? ''} onChange={(event) => set({ to: event.target.value })}>
              <option value="" disabled>
                another number
              </option>
              {CUSTOMERS.map(([phone, what]) => (
                <option key={phone} value={phone}>
                  {what}: {phone}
                </option>
              ))}
            </select>
          </label>
        )}
        <Radios label="Kind" value={draft.kind} options={Object.entries(KINDS)} onValue={(kind) => set({ kind })} />
        {draft.kind === 'template' && !can('templates:read') && (
          <p className="hint">
            This key needs the scope <code>templates:read</code> to choose a template.
          </p>
        )}
        <ContentFields draft={draft} set={set} notes={notes} templates={templates.data} template={template} />
        {templates.error !== null && <Problem error={templates.error} />}
        {body !== null && (
          <CheckResult
            check={check.data}
            // What the sending says of it is enough, and what is not written yet is no fault.
            error={error === null && (missing === null || isAway(check.error)) ? check.error : null}
            notes={otherNotes(notes, draft)}
            kind={draft.kind}
            onTemplate={() => set({ kind: 'template' })}
          />
        )}
        {error !== null && <Problem error={error} />}
        <div className="row">
          <Button submit primary label="Send" disabled={busy || missing !== null || notes.some(({ isBad }) => isBad)} />
          {missing !== null && <span className="hint">{missing}</span>}
        </div>
      </form>
      <section className="send-view" aria-label="Preview">
        <div className="chat">
          <Bubble
            side="mine"
            content={previewOf(draft, body === null ? undefined : check.data)}
            picture={
              pictureOf(draft, headerFormat(template)) && draft.file !== null && <MediaThumb file={draft.file} />
            }
          />
        </div>
        {body !== null && (
          <details open>
            <summary>The call</summary>
            <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>
            <CopyButton label="Copy as curl" text={curlOf('POST', '/api/v1/messages', body)} />
          </details>
        )}
      </section>
    </div>
  );
}

function bodyOf({ connection, to }: Draft, content: Record<string, unknown> | null): Message | null {
  const number = wholeNumber(to);
  if (number === null || content === null) return null;
  return { connection_id: connection, to: number, ...content } as Message;
}

const MISSING: Readonly<Record<Kind, string>> = {
  text: 'Write the text first.',
  buttons: 'Write the text first.',
  list: 'Write the text first.',
  template: 'Choose a template first, and its file where it has one.',
  file: 'Choose a file first.',
  location: 'Give latitude and longitude first.',
};

interface Sending {
  busy: boolean;
  error: unknown;
  /** Whether the message was taken. */
  send: (body: object) => Promise<boolean>;
}

/** Sends messages one at a time. */
export function useSending(onSent: (sent: { id: string }) => void): Sending {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const attempt = useAttempt();
  const send = async (body: object): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      const header = attempt.headerFor(body);
      const { data } = await dataOf(api.POST('/api/v1/messages', { params: { header }, body: body as Message }));
      attempt.end();
      onSent(data);
      return true;
    } catch (failure) {
      setError(sendFailure(failure));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, send };
}

/** What is still to be written; null: nothing. */
function missingIn(draft: Draft, template: Template | null): string | null {
  const { to, kind, values, buttons, opener, rows } = draft;
  if (wholeNumber(to) === null) return 'Give the whole number, with its country code.';
  if (contentOf(draft, template) === null) return MISSING[kind];
  const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === '';
  if (kind === 'template') {
    const variable = variablesOf(template).find((one) => isBlank(values[keyOf(one)]));
    return variable === undefined ? null : `Fill in ${labelOf(variable)} first.`;
  }
  if (kind === 'buttons') {
    const at = buttons.findIndex(isBlank);
    return at === -1 ? null : `Write on button ${at + 1} first, or remove it.`;
  }
  if (kind !== 'list') return null;
  if (isBlank(opener)) return 'Write on the button that opens the list first.';
  const at = rows.findIndex(({ title }) => isBlank(title));
  return at === -1 ? null : `Give choice ${at + 1} a title first, or remove it.`;
}

export function useCheck(body: Message | null) {
  const text = JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), CHECK_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return useData(
    ['check', settled],
    (signal) => api.POST('/api/v1/messages/check', { body: JSON.parse(settled) as Message, signal }),
    {
      enabled: settled !== 'null',
      placeholderData: (before) => before,
      retry: false,
      refetchInterval: ({ state }) => (state.error instanceof ApiError && state.error.status === 0 ? AWAY_MS : false),
    },
  );
}

/** @param isUnfinished something is still to be written: what the check says of the content is not said yet */
export function notesOf(check: Check | undefined, error: unknown, isUnfinished = false): Note[] {
  const notes = allNotes(check, error);
  return isUnfinished ? notes.filter((note) => !note.isBad || isOf('to', note) || !OF_CONTENT.has(note.code)) : notes;
}

/** Refusals of what is written. */
const OF_CONTENT = new Set(['INVALID_REQUEST', 'TEMPLATE_PARAMETERS_MISMATCH']);

function allNotes(check: Check | undefined, error: unknown): Note[] {
  if (error instanceof ApiError) {
    return error.details.map(({ field, message }) => ({
      isBad: true,
      code: error.code,
      message,
      field,
      docUrl: error.docUrl,
    }));
  }
  const problems = (check?.problems ?? []).flatMap(({ code, message, doc_url, details }) => {
    const note = { isBad: true, code, message, field: '', docUrl: `/docs/errors#${doc_url.split('#')[1] ?? ''}` };
    if (details === undefined || details.length === 0) return [note];
    return details.map((detail) => ({ ...note, field: detail.field, message: detail.message }));
  });
  const warnings = (check?.warnings ?? []).map(({ code, message, field }) => ({
    isBad: false,
    code,
    message,
    field: field ?? '',
    docUrl: null,
  }));
  return [...problems, ...warnings];
}

interface CheckResultProps {
  check: Check | undefined;
  error: unknown;
  notes: readonly Note[];
  kind: Kind;
  onTemplate: () => void;
}

/** What belongs to no field, and when the message would go. */
export function CheckResult({ check, error, notes, kind, onTemplate }: CheckResultProps) {
  // A refusal with details is shown at its fields.
  if (error !== null && !(error instanceof ApiError && error.details.length > 0)) return <Problem error={error} />;
  return (
    <div className="check-result" aria-live="polite">
      {notes.map(({ code, message, isBad, docUrl }) => (
        <p key={code + message} className={isBad ? 'check-line bad' : 'check-line warn'}>
          <code>{code}</code> {message} {docUrl !== null && <a href={docUrl}>What it means</a>}
          {code === 'SERVICE_WINDOW_CLOSED' && kind !== 'template' && (
            <Button label="Choose a template" onClick={onTemplate} />
          )}
        </p>
      ))}
      {check !== undefined && error === null && <CheckFacts check={check} kind={kind} />}
    </div>
  );
}

function CheckFacts({ check, kind }: { check: Check; kind: Kind }) {
  const { queue, window, limits } = check;
  const closesAt = window?.closes_at ?? null;
  return (
    <p className="hint">
      {queue.ahead > 0 && `${queue.ahead} ahead of it in the queue. `}
      {closesAt !== null &&
        kind !== 'template' &&
        `You may write until ${fullTime(closesAt)}: 24 hours after the customer wrote. `}
      {limits.map(
        ({ kind: what, remaining, limit, currency }) =>
          `${amountOf(remaining, currency)} of ${amountOf(limit, currency)} left (${what.replaceAll('_', ' ')}). `,
      )}
    </p>
  );
}

/** Messages, or money. */
const amountOf = (amount: number | string, currency?: string): string =>
  currency === undefined ? amount.toLocaleString() : money({ amount: String(amount), currency });

const pictureOf = (draft: Draft, header: string | null): boolean =>
  draft.kind === 'file' ? draft.file?.type !== 'audio' : draft.kind === 'template' && header !== null;

/** A picture bears no name. */
const nameOf = ({ type, filename }: MediaFile): string =>
  type === 'image' || type === 'sticker' ? '' : (filename ?? type);

/** As the phone shows it: what the check rendered, else what is typed. */
export function previewOf(draft: Draft, check: Check | undefined): BubbleContent {
  const { kind, text, file, place } = draft;
  const rendered = check?.rendered;
  const typed = kind === 'file' ? draft.caption || null : kind === 'template' ? '…' : text || '…';
  const content = bubbleOf('text', rendered?.body ?? typed, {});
  if (kind === 'location') {
    return { ...content, file: 'Location', body: [place.name, place.address].filter(Boolean).join('\n') || null };
  }
  if (kind === 'file') return { ...content, file: file === null ? 'File' : nameOf(file) };
  if (rendered === undefined || kind === 'text') return content;
  return {
    ...content,
    header: rendered.header?.text ?? null,
    file:
      rendered.header !== null && rendered.header.text === null
        ? file === null
          ? rendered.header.format
          : nameOf(file)
        : null,
    footer: rendered.footer,
    buttons: rendered.buttons.map(({ text: title }) => ({ id: null, title })),
  };
}
