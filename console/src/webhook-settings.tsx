import { useEffect, useRef, useState } from 'react';
import { api, ApiError, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, Checks } from './controls.tsx';
import { FormDialog, useRun } from './dialog.tsx';
import { useConnections } from './messages.tsx';
import { plusNumber } from './parts.tsx';
import { EVENT_KINDS, type WebhookEvent } from './webhook-dialogs.tsx';

type Webhook = Schemas['WebhookSettings'];
type Changed = Schemas['WebhookSettingsWithSecret'];
type Settings = Schemas['ConfigureWebhookRequest'];

/** Those of the specification: always chosen from here. */
const BOTH: readonly WebhookEvent[] = ['message.received', 'message.status.updated'];

interface Header {
  name: string;
  value: string;
}

interface FieldProblem {
  field: string;
  message: string;
}

/** What is wrong with which field; empty where the refusal is of no field of this form. */
function problemsOf(error: unknown): FieldProblem[] {
  if (!(error instanceof ApiError)) return [];
  if (error.code === 'WEBHOOK_URL_NOT_ALLOWED') return [{ field: 'url', message: error.message }];
  const known = error.details.filter(({ field }) =>
    ['url', 'headers', 'connection_ids'].some((one) => isOf(one, field)),
  );
  return known.length === error.details.length ? known : [];
}

const isOf = (name: string, field: string): boolean =>
  field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);

function FieldProblems({ name, problems, error }: { name: string; problems: readonly FieldProblem[]; error: unknown }) {
  const docUrl = error instanceof ApiError ? error.docUrl : null;
  return problems
    .filter(({ field }) => isOf(name, field))
    .map(({ field, message }) => (
      <p key={field} id={`problem-${name}`} className="note bad" role="alert">
        {message} {docUrl !== null && <a href={docUrl}>What it means</a>}
      </p>
    ));
}

interface SettingsDialogProps {
  /** Null: there is none yet. */
  webhook: Webhook | null;
  onClose: (changed: Changed | null) => void;
}

export function SettingsDialog({ webhook, onClose }: SettingsDialogProps) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [events, setEvents] = useState<readonly WebhookEvent[]>(webhook?.events ?? BOTH);
  const [numbers, setNumbers] = useState<readonly string[]>(webhook?.connection_ids ?? []);
  /** Null: those that it has stay. */
  const [headers, setHeaders] = useState<readonly Header[] | null>(webhook === null ? [] : null);
  const form = useRun();
  const { error } = form;
  const body: Settings = {
    url: url.trim(),
    events: EVENT_KINDS.filter((kind) => events.includes(kind)),
    connection_ids: [...numbers],
    ...(headers !== null && {
      headers: Object.fromEntries(
        headers.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
      ),
    }),
    // A change of the settings of a paused webhook does not resume it.
    ...(webhook !== null && { active: webhook.active || webhook.disabled_reason !== null }),
  };
  const save = async (): Promise<void> => onClose((await dataOf(api.PUT('/api/v1/webhook', { body }))).data);
  // The values of headers are secrets: the copy has their names only.
  const shown =
    headers === null ? body : { ...body, headers: Object.fromEntries(headers.map(({ name }) => [name, '…'])) };
  const title = webhook === null ? 'Set the webhook' : 'Settings of the webhook';
  const problems = problemsOf(error);
  const isOfAddress = problems.some(({ field }) => field === 'url');
  const address = useRef<HTMLInputElement>(null);
  // The form is longer than the window.
  useEffect(() => {
    if (isOfAddress) address.current?.focus();
  }, [error, isOfAddress]);
  return (
    <FormDialog
      title={title}
      className="form-dialog"
      label="Save"
      disabled={url.trim() === ''}
      form={form}
      submit={save}
      error={problems.length > 0 ? null : error}
      curl={curlOf('PUT', '/api/v1/webhook', shown)}
      onClose={() => onClose(null)}
    >
      <div className="field-with-notes">
        <label className="field">
          <span>Address</span>
          <input
            ref={address}
            type="url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://example.com/webhooks"
            aria-invalid={isOfAddress}
            aria-describedby={isOfAddress ? 'problem-url' : undefined}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        <FieldProblems name="url" problems={problems} error={error} />
      </div>
      {webhook !== null && webhook.disabled_reason !== null && (
        <p className="notice">Saving delivers again what waits.</p>
      )}
      <EventChoice events={events} onChange={setEvents} />
      <NumberChoice chosen={numbers} onChange={setNumbers} />
      <FieldProblems name="connection_ids" problems={problems} error={error} />
      <HeaderFields names={webhook?.header_names ?? []} headers={headers} onChange={setHeaders} />
      <FieldProblems name="headers" problems={problems} error={error} />
    </FormDialog>
  );
}

interface EventChoiceProps {
  events: readonly WebhookEvent[];
  onChange: (events: readonly WebhookEvent[]) => void;
}

function EventChoice({ events, onChange }: EventChoiceProps) {
  const missing = BOTH.filter((kind) => !events.includes(kind));
  return (
    <Checks
      label="Kinds of events"
      all={EVENT_KINDS.filter((kind) => !BOTH.includes(kind))}
      chosen={events}
      onChange={onChange}
    >
      <p className="hint">
        <code>message.received</code> and <code>message.status.updated</code> are always sent; one alone is chosen with
        the API.
      </p>
      {missing.length > 0 && (
        <p className="notice">
          Chosen with the API: without {missing.join(' and ')}. It stays so.{' '}
          <Button label="Enable both" onClick={() => onChange([...events, ...missing])} />
        </p>
      )}
    </Checks>
  );
}

function NumberChoice({ chosen, onChange }: { chosen: readonly string[]; onChange: (ids: readonly string[]) => void }) {
  const { data: connections } = useConnections();
  if (connections === undefined || connections.length < 2) return null;
  const wordsOf = new Map(
    connections.map(({ id, phone_number: number, verified_name: name }) => [id, `${name ?? ''} ${plusNumber(number)}`]),
  );
  return (
    <Checks
      label="Numbers whose events it gets; none chosen: all"
      all={connections.map(({ id }) => id)}
      chosen={chosen}
      wordsOf={(id) => wordsOf.get(id) ?? id}
      onChange={onChange}
    />
  );
}

interface HeaderFieldsProps {
  names: readonly string[];
  headers: readonly Header[] | null;
  onChange: (headers: readonly Header[]) => void;
}

function HeaderFields({ names, headers, onChange }: HeaderFieldsProps) {
  const change = (at: number, part: Partial<Header>): void =>
    onChange((headers ?? []).map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <fieldset className="entries">
      <legend>Headers of your own, such as a key of your gateway</legend>
      {headers === null ? (
        <p className="hint">
          {names.length === 0 ? 'None.' : `${names.join(', ')}: kept, and never shown.`}{' '}
          <Button
            label={names.length === 0 ? 'Add' : 'Replace them'}
            onClick={() =>
              onChange(names.length === 0 ? [{ name: 'X-', value: '' }] : names.map((name) => ({ name, value: '' })))
            }
          />
        </p>
      ) : (
        <>
          {headers.map(({ name, value }, at) => (
            <div key={at} className="entry">
              <div className="two-fields">
                <input
                  aria-label={`Header ${at + 1}`}
                  placeholder="X-Environment"
                  value={name}
                  onChange={(event) => change(at, { name: event.target.value })}
                />
                <input
                  type="password"
                  aria-label={`Value ${at + 1}`}
                  placeholder="Value"
                  autoComplete="off"
                  value={value}
                  onChange={(event) => change(at, { value: event.target.value })}
                />
              </div>
              <Button
                quiet
                icon="close"
                aria-label={`Remove header ${at + 1}`}
                onClick={() => onChange(headers.filter((_, index) => index !== at))}
              />
            </div>
          ))}
          <Button icon="plus" label="Add a header" onClick={() => onChange([...headers, { name: 'X-', value: '' }])} />
        </>
      )}
    </fieldset>
  );
}
