import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Bubble, bubbleOf } from './bubble.tsx';
import { useConnections } from './messages.tsx';
import { useCan } from './session.ts';
import { CopyButton, Empty, fullTime, Problem, Skeleton } from './ui.tsx';

const CHECK_MS = 350;
/** The first customer of the demo; elsewhere the field is empty. */
const DEMO_CUSTOMER = '+15550001234';

type Template = Schemas['TemplateResponse'];

interface Draft {
  connection: string;
  to: string;
  kind: 'text' | 'template';
  text: string;
  template: string;
  values: Record<string, string>;
}

type SendBody = Schemas['SendText'] | Schemas['SendTemplate'];

export function SendPage() {
  const connections = useConnections();
  if (connections.isPending) return <Skeleton lines={8} />;
  if (connections.error !== null)
    return <Problem error={connections.error} onRetry={() => void connections.refetch()} />;
  if (connections.data === undefined || connections.data.length === 0) {
    return (
      <Empty title="This workspace has no number yet">
        <p>
          The operator adds one with <code>herald connection add</code>.
        </p>
      </Empty>
    );
  }
  return <SendForm connections={connections.data} />;
}

function SendForm({ connections }: { connections: Schemas['ConnectionResponse'][] }) {
  const [, navigate] = useLocation();
  const given = new URLSearchParams(useSearch());
  const isDemo = ['localhost', '127.0.0.1'].includes(window.location.hostname);
  const [draft, setDraft] = useState<Draft>({
    connection: given.get('connection') ?? connections[0]?.id ?? '',
    to: given.get('to') ?? (isDemo ? DEMO_CUSTOMER : ''),
    kind: given.get('kind') === 'template' ? 'template' : 'text',
    text: isDemo ? 'Your table for two is ready.' : '',
    template: '',
    values: {},
  });
  const set = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }));
  const can = useCan();
  const templates = useQuery({
    queryKey: ['templates', draft.connection],
    queryFn: async () =>
      (
        await dataOf(
          api.GET('/api/v1/connections/{id}/templates', {
            params: { path: { id: draft.connection }, query: { status: 'approved', limit: 100 } },
          }),
        )
      ).data,
    enabled: draft.kind === 'template' && can('templates:read'),
  });
  const template = templates.data?.find(({ id }) => id === draft.template) ?? null;
  const body = bodyOf(draft, template);
  const check = useCheck(body);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    if (body === null) return;
    setBusy(true);
    setError(null);
    try {
      const header = { 'Idempotency-Key': crypto.randomUUID() };
      const { data } = await dataOf(api.POST('/api/v1/messages', { params: { header }, body }));
      navigate(`/messages/${data.id}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const rendered = check.data?.rendered;
  const closesAt = check.data?.window?.closes_at ?? null;
  return (
    <div className="send-page">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h1>Send a message</h1>
        {connections.length > 1 && (
          <label className="field">
            <span>From</span>
            <select
              value={draft.connection}
              onChange={(event) => set({ connection: event.target.value, template: '' })}
            >
              {connections.map(({ id, phone_number, verified_name }) => (
                <option key={id} value={id}>
                  {verified_name ?? ''} +{phone_number.replace('+', '')}
                </option>
              ))}
            </select>
          </label>
        )}
        <label className="field">
          <span>To</span>
          <input
            inputMode="tel"
            autoComplete="off"
            placeholder="+4915112345678"
            value={draft.to}
            onChange={(event) => set({ to: event.target.value })}
          />
        </label>
        <fieldset className="kinds">
          <legend className="hidden">Kind</legend>
          {(['text', 'template'] as const).map((kind) => (
            <label key={kind}>
              <input type="radio" name="kind" checked={draft.kind === kind} onChange={() => set({ kind })} />
              <span>{kind === 'text' ? 'Text' : 'Template'}</span>
            </label>
          ))}
        </fieldset>
        {draft.kind === 'text' ? (
          <label className="field">
            <span>Text</span>
            <textarea
              dir="auto"
              rows={4}
              maxLength={4096}
              value={draft.text}
              onChange={(event) => set({ text: event.target.value })}
            />
          </label>
        ) : (
          <TemplateFields draft={draft} set={set} templates={templates.data} template={template} />
        )}
        {templates.error !== null && <Problem error={templates.error} />}
        <CheckResult check={check.data} error={check.error} />
        {error !== null && <Problem error={error} />}
        <div className="row">
          <button
            type="submit"
            className="button primary"
            disabled={busy || body === null || check.data?.sendable === false}
          >
            Send
          </button>
          {closesAt !== null && draft.kind === 'text' && (
            <span className="hint">The window closes on {fullTime(closesAt)}</span>
          )}
        </div>
      </form>
      <section className="send-view" aria-label="Preview">
        <div className="chat">
          <Bubble
            side="mine"
            content={
              rendered === undefined
                ? bubbleOf('text', draft.kind === 'text' ? draft.text || '…' : '…', {})
                : {
                    header: rendered.header?.text ?? null,
                    file: rendered.header !== null && rendered.header.text === null ? rendered.header.format : null,
                    body: rendered.body,
                    footer: null,
                    buttons: [],
                  }
            }
          />
        </div>
        {body !== null && (
          <details open>
            <summary>The call</summary>
            <pre>{JSON.stringify(body, null, 2)}</pre>
            <CopyButton label="Copy as curl" text={curlOf('POST', '/api/v1/messages', body)} />
          </details>
        )}
      </section>
    </div>
  );
}

function bodyOf({ connection, to, kind, text, values }: Draft, template: Template | null): SendBody | null {
  const number = to.replaceAll(/[^\d+]/g, '');
  if (!/^\+?\d{8,16}$/.test(number)) return null;
  const common = { connection_id: connection, to: number };
  if (kind === 'text') return text.trim() === '' ? null : { ...common, type: 'text', text: { body: text } };
  if (template === null) return null;
  const components = ['header', 'body'].flatMap((type) => {
    const variables = template.variables.filter(({ component }) => component === type);
    if (variables.length === 0) return [];
    const isNamed = template.parameter_format === 'NAMED';
    const parameters = variables.map(({ name }) => ({
      type: 'text',
      ...(isNamed && { parameter_name: name }),
      text: values[`${type}.${name}`] ?? '',
    }));
    return [{ type, parameters }];
  });
  const { name, language } = template;
  return {
    ...common,
    type: 'template',
    template: { name, language: { code: language }, ...(components.length > 0 && { components }) },
  };
}

function useCheck(body: SendBody | null) {
  const text = JSON.stringify(body);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), CHECK_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return useQuery({
    queryKey: ['check', settled],
    queryFn: async ({ signal }) =>
      (await dataOf(api.POST('/api/v1/messages/check', { body: JSON.parse(settled) as SendBody, signal }))).data,
    enabled: settled !== 'null',
    placeholderData: (before) => before,
    retry: false,
  });
}

function CheckResult({ check, error }: { check: Schemas['MessageCheck'] | undefined; error: unknown }) {
  if (error !== null) return <Problem error={error} />;
  if (check === undefined) return null;
  return (
    <div aria-live="polite">
      {check.problems.map(({ code, message, doc_url }) => (
        <p key={code} className="check-line bad">
          <code>{code}</code> {message} <a href={`/docs/errors#${doc_url.split('#')[1] ?? ''}`}>What it means</a>
        </p>
      ))}
      {check.warnings.map(({ code, message }) => (
        <p key={code} className="check-line warn">
          <code>{code}</code> {message}
        </p>
      ))}
    </div>
  );
}

interface TemplateFieldsProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  templates: Template[] | undefined;
  template: Template | null;
}

function TemplateFields({ draft, set, templates, template }: TemplateFieldsProps) {
  const variables = (template?.variables ?? []).filter(
    ({ component }) => component === 'header' || component === 'body',
  );
  return (
    <>
      <label className="field">
        <span>Template</span>
        <select value={draft.template} onChange={(event) => set({ template: event.target.value, values: {} })}>
          <option value="">{templates === undefined ? 'Loading …' : 'Choose an approved template'}</option>
          {templates?.map(({ id, name, language, category }) => (
            <option key={id} value={id}>
              {name} · {language} · {category.toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      {variables.map(({ component, name, example }) => {
        const key = `${component}.${name}`;
        return (
          <label key={key} className="field">
            <span>
              {component} {name}
            </span>
            <input
              dir="auto"
              placeholder={example ?? ''}
              value={draft.values[key] ?? ''}
              onChange={(event) => set({ values: { ...draft.values, [key]: event.target.value } })}
            />
          </label>
        );
      })}
    </>
  );
}
