import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Confirm, Dialog, useRun } from './dialog.tsx';
import { useConnections } from './messages.tsx';
import { plusNumber } from './parts.tsx';
import { CopyButton, Icon, Problem } from './ui.tsx';

type Webhook = Schemas['WebhookSettings'];
type Changed = Schemas['WebhookSettingsWithSecret'];
type Settings = Schemas['ConfigureWebhookRequest'];
type WebhookEvent = NonNullable<Settings['events']>[number];

/** All of them, as the type of the description demands. */
const EVENTS: Readonly<Record<WebhookEvent, true>> = {
  'message.received': true,
  'message.status.updated': true,
  'message.standby.received': true,
  'message.sent_elsewhere': true,
  'conversation.control.updated': true,
  'conversation.updated': true,
  'template.status.updated': true,
  'template.category.updated': true,
  'media.ready': true,
  'media.failed': true,
  'connection.updated': true,
  'contact.opt_out.updated': true,
  'workspace.limit.reached': true,
  'payment.updated': true,
  'call.missed': true,
  'call.ended': true,
  'platform.error': true,
};
export const EVENT_KINDS = Object.keys(EVENTS) as WebhookEvent[];

/** Those of the specification: always chosen from here. */
const BOTH: readonly WebhookEvent[] = ['message.received', 'message.status.updated'];

interface FormProps {
  label: string;
  busy: boolean;
  error: unknown;
  curl: string;
  onSubmit: () => void;
  onBack: () => void;
  children: ReactNode;
}

function DialogForm({ label, busy, error, curl, onSubmit, onBack, children }: FormProps) {
  return (
    <form
      className="dialog-form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error !== null && <Problem error={error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={busy}>
          {label}
        </button>
        <button type="button" className="button" onClick={onBack}>
          Back
        </button>
        <CopyButton quiet label="curl" text={curl} />
      </div>
    </form>
  );
}

interface Header {
  name: string;
  value: string;
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
  const { busy, error, run } = useRun();
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
  const save = (): Promise<void> => run(async () => onClose((await dataOf(api.PUT('/api/v1/webhook', { body }))).data));
  // The values of headers are secrets: the copy has their names only.
  const shown =
    headers === null ? body : { ...body, headers: Object.fromEntries(headers.map(({ name }) => [name, '…'])) };
  const title = webhook === null ? 'Set the webhook' : 'Settings of the webhook';
  return (
    <Dialog title={title} className="form-dialog" onClose={() => onClose(null)}>
      <DialogForm
        label="Save"
        busy={busy || url.trim() === ''}
        error={error}
        curl={curlOf('PUT', '/api/v1/webhook', shown)}
        onSubmit={() => void save()}
        onBack={() => onClose(null)}
      >
        <label className="field">
          <span>Address</span>
          <input
            type="url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://example.com/webhooks"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        {webhook !== null && webhook.disabled_reason !== null && (
          <p className="notice">Saving delivers again what waits.</p>
        )}
        <EventChoice events={events} onChange={setEvents} />
        <NumberChoice chosen={numbers} onChange={setNumbers} />
        <HeaderFields names={webhook?.header_names ?? []} headers={headers} onChange={setHeaders} />
      </DialogForm>
    </Dialog>
  );
}

interface EventChoiceProps {
  events: readonly WebhookEvent[];
  onChange: (events: readonly WebhookEvent[]) => void;
}

const toggled = <T,>(list: readonly T[], one: T): T[] =>
  list.includes(one) ? list.filter((other) => other !== one) : [...list, one];

function EventChoice({ events, onChange }: EventChoiceProps) {
  const missing = BOTH.filter((kind) => !events.includes(kind));
  return (
    <fieldset className="entries">
      <legend>Kinds of events</legend>
      <p className="hint">
        <code>message.received</code> and <code>message.status.updated</code> are always sent; one alone is chosen with
        the API.
      </p>
      {missing.length > 0 && (
        <p className="notice">
          Chosen with the API: without {missing.join(' and ')}. It stays so.{' '}
          <button type="button" className="button" onClick={() => onChange([...events, ...missing])}>
            Enable both
          </button>
        </p>
      )}
      {EVENT_KINDS.filter((kind) => !BOTH.includes(kind)).map((kind) => (
        <label key={kind} className="check">
          <input type="checkbox" checked={events.includes(kind)} onChange={() => onChange(toggled(events, kind))} />
          <span>{kind}</span>
        </label>
      ))}
    </fieldset>
  );
}

function NumberChoice({ chosen, onChange }: { chosen: readonly string[]; onChange: (ids: readonly string[]) => void }) {
  const { data: connections } = useConnections();
  if (connections === undefined || connections.length < 2) return null;
  return (
    <fieldset className="entries">
      <legend>Numbers whose events it gets; none chosen: all</legend>
      {connections.map(({ id, phone_number, verified_name }) => (
        <label key={id} className="check">
          <input type="checkbox" checked={chosen.includes(id)} onChange={() => onChange(toggled(chosen, id))} />
          <span>
            <bdi>{verified_name ?? ''}</bdi> {plusNumber(phone_number)}
          </span>
        </label>
      ))}
    </fieldset>
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
          <button
            type="button"
            className="button"
            onClick={() =>
              onChange(names.length === 0 ? [{ name: 'X-', value: '' }] : names.map((name) => ({ name, value: '' })))
            }
          >
            {names.length === 0 ? 'Add' : 'Replace them'}
          </button>
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
              <button
                type="button"
                className="button quiet"
                aria-label={`Remove header ${at + 1}`}
                onClick={() => onChange(headers.filter((_, index) => index !== at))}
              >
                <Icon name="close" />
              </button>
            </div>
          ))}
          <button type="button" className="button" onClick={() => onChange([...headers, { name: 'X-', value: '' }])}>
            <Icon name="plus" />
            Add a header
          </button>
        </>
      )}
    </fieldset>
  );
}

const SNIPPETS: Readonly<Record<string, string>> = {
  'Node.js': `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// body: the text as it came, not parsed and written again. Throws where the signature is wrong.
const event = webhook.verify(body, headers);`,
  Python: `import os
from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# body: the bytes as they came, not parsed and written again. Raises where the signature is wrong.
event = webhook.verify(body, headers)`,
  Go: `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
// body: the bytes as they came, not parsed and written again.
err = webhook.Verify(body, request.Header)`,
};

export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const [language, setLanguage] = useState('Node.js');
  return (
    <Dialog title="The signing secret" className="form-dialog" onClose={onClose}>
      <p>It is shown only once. Give it to your receiver, which verifies with it that a call is from Herald.</p>
      <pre className="secret">{secret}</pre>
      <CopyButton label="Copy the secret" text={secret} />
      <label className="field">
        <span>Verify a call in</span>
        <select value={language} onChange={(event) => setLanguage(event.target.value)}>
          {Object.keys(SNIPPETS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <pre tabIndex={0}>{SNIPPETS[language]}</pre>
      <div className="row">
        <button type="button" className="button primary" onClick={onClose}>
          I have kept it
        </button>
        <CopyButton quiet label="Copy the code" text={SNIPPETS[language] ?? ''} />
      </div>
    </Dialog>
  );
}

const TEST_LOOK_MS = 700;

interface TestDialogProps {
  /** The webhook is paused: nothing arrives now. */
  isHeld: boolean;
  /** With the delivery that the test made. */
  onClose: (deliveryId: string | null) => void;
}

export function TestDialog({ isHeld, onClose }: TestDialogProps) {
  const [type, setType] = useState<Schemas['TestWebhookRequest']['type']>('webhook.test');
  const [eventId, setEventId] = useState<string | null>(null);
  const { busy, error, run } = useRun();
  const send = (): Promise<void> =>
    run(async () => setEventId((await dataOf(api.POST('/api/v1/webhook/test', { body: { type } }))).data.event_id));
  const outcome = useQuery({
    queryKey: ['test-event', eventId],
    queryFn: async ({ signal }) => {
      const query = { event_id: eventId ?? '', limit: 1 };
      return (await dataOf(api.GET('/api/v1/webhook/deliveries', { params: { query }, signal }))).data;
    },
    enabled: eventId !== null && !isHeld,
    refetchInterval: TEST_LOOK_MS,
  });
  const delivery = outcome.data?.[0]?.id;
  useEffect(() => {
    if (delivery !== undefined) onClose(delivery);
  }, [delivery, onClose]);
  return (
    <Dialog title="Send a test event" className="form-dialog" onClose={() => onClose(null)}>
      <DialogForm
        label="Send"
        busy={busy}
        error={error ?? outcome.error}
        curl={curlOf('POST', '/api/v1/webhook/test', { type })}
        onSubmit={() => void send()}
        onBack={() => onClose(null)}
      >
        <label className="field">
          <span>Kind</span>
          <select value={type} onChange={(event) => setType(event.target.value as typeof type)}>
            {['webhook.test', ...EVENT_KINDS].map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        <p className="hint">
          It takes the way of all events: signed, repeated, logged. Kinds other than <code>webhook.test</code> bear the
          example of the API description, with <code>test: true</code>.
        </p>
        {eventId !== null && (
          <p className="notice" role="status">
            {isHeld
              ? 'It waits until the webhook is active again.'
              : 'Queued; waiting for the answer of your receiver …'}
          </p>
        )}
      </DialogForm>
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;
/** As the field takes it: local, to the minute. */
const localTime = (at: number): string => {
  const offset = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offset).toISOString().slice(0, 16);
};

export function ReplayDialog({ onClose }: { onClose: (id: string | null) => void }) {
  const [since, setSince] = useState(() => localTime(Date.now() - HOUR_MS));
  const [until, setUntil] = useState('');
  const [type, setType] = useState('');
  const [status, setStatus] = useState<'failed' | 'all'>('failed');
  const { busy, error, run } = useRun();
  const isValid = !Number.isNaN(Date.parse(since));
  const body = {
    since: isValid ? new Date(since).toISOString() : '',
    ...(until !== '' && { until: new Date(until).toISOString() }),
    ...(type !== '' && { types: [type as WebhookEvent] }),
    status,
  };
  const start = (): Promise<void> =>
    run(async () => onClose((await dataOf(api.POST('/api/v1/webhook/replay', { body }))).data.id));
  return (
    <Dialog title="Deliver events again" className="form-dialog" onClose={() => onClose(null)}>
      <DialogForm
        label="Replay"
        busy={busy || !isValid}
        error={error}
        curl={curlOf('POST', '/api/v1/webhook/replay', body)}
        onSubmit={() => void start()}
        onBack={() => onClose(null)}
      >
        <p>
          After an outage of your receiver: events of which an attempt was made in this time are queued once more, the
          oldest first, each under the same <code>webhook-id</code>.
        </p>
        <div className="two-fields">
          <label className="field">
            <span>From</span>
            <input type="datetime-local" value={since} onChange={(event) => setSince(event.target.value)} />
          </label>
          <label className="field">
            <span>Until (empty: now)</span>
            <input type="datetime-local" value={until} onChange={(event) => setUntil(event.target.value)} />
          </label>
        </div>
        <label className="field">
          <span>Which</span>
          <select value={status} onChange={(event) => setStatus(event.target.value === 'all' ? 'all' : 'failed')}>
            <option value="failed">those that were not delivered</option>
            <option value="all">all, delivered ones too</option>
          </select>
        </label>
        <label className="field">
          <span>Kind</span>
          <select value={type} onChange={(event) => setType(event.target.value)}>
            <option value="">all kinds</option>
            {EVENT_KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
      </DialogForm>
    </Dialog>
  );
}

const CHANGES = {
  rotate: {
    title: 'Replace the signing secret?',
    says: 'The new secret is shown only once. For 24 hours every delivery is signed with both, so that your receiver can change over without losing one.',
    label: 'Replace the secret',
  },
  pause: {
    title: 'Pause the webhook?',
    says: 'Events wait, three days at the most, and go out once it is active again.',
    label: 'Pause',
  },
  resume: { title: 'Deliver again?', says: 'What waits goes out now.', label: 'Deliver again' },
  remove: {
    title: 'Delete the webhook?',
    says: 'Events that wait are dropped. A webhook that is set later has a new secret. This cannot be undone.',
    label: 'Delete',
  },
} as const;

interface ChangeDialogProps {
  what: keyof typeof CHANGES;
  webhook: Webhook;
  onClose: (changed: { secret?: string } | null) => void;
}

/** A change that is one call. */
export function ChangeDialog({ what, webhook, onClose }: ChangeDialogProps) {
  const changed = useRef<{ secret?: string }>({});
  const body = { url: webhook.url, active: what === 'resume' };
  const run = async (): Promise<void> => {
    if (what === 'remove') await api.DELETE('/api/v1/webhook');
    else if (what === 'rotate') changed.current = (await dataOf(api.POST('/api/v1/webhook/rotate-secret'))).data;
    else await api.PUT('/api/v1/webhook', { body });
  };
  const curl =
    what === 'remove'
      ? curlOf('DELETE', '/api/v1/webhook')
      : what === 'rotate'
        ? curlOf('POST', '/api/v1/webhook/rotate-secret')
        : curlOf('PUT', '/api/v1/webhook', body);
  return (
    <Confirm {...CHANGES[what]} curl={curl} run={run} onClose={(done) => onClose(done ? changed.current : null)} />
  );
}
