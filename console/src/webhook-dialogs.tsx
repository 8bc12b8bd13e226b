import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, SelectField, TextField } from './controls.tsx';
import { Confirm, Dialog, FormDialog, useRun } from './dialog.tsx';
import { CopyButton } from './ui.tsx';

type Webhook = Schemas['WebhookSettings'];
export type WebhookEvent = NonNullable<Schemas['ConfigureWebhookRequest']['events']>[number];

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
  'destination.events_lost': true,
};
export const EVENT_KINDS = Object.keys(EVENTS) as WebhookEvent[];

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
      <SelectField
        label="Verify a call in"
        value={language}
        options={Object.keys(SNIPPETS).map((name) => [name, name])}
        onValue={setLanguage}
      />
      <pre tabIndex={0}>{SNIPPETS[language]}</pre>
      <div className="row">
        <Button primary label="I have kept it" onClick={onClose} />
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
  const form = useRun();
  const send = async (): Promise<void> =>
    setEventId((await dataOf(api.POST('/api/v1/webhook/test', { body: { type } }))).data.event_id);
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
    <FormDialog
      title="Send a test event"
      className="form-dialog"
      label="Send"
      form={form}
      submit={send}
      error={form.error ?? outcome.error}
      curl={curlOf('POST', '/api/v1/webhook/test', { type })}
      onClose={() => onClose(null)}
    >
      <SelectField
        label="Kind"
        value={type ?? ''}
        options={['webhook.test', ...EVENT_KINDS].map((kind) => [kind, kind])}
        onValue={(value) => setType(value as typeof type)}
      />
      <p className="hint">
        It takes the way of all events: signed, repeated, logged. Kinds other than <code>webhook.test</code> bear the
        example of the API description, with <code>test: true</code>.
      </p>
      {eventId !== null && (
        <p className="notice" role="status">
          {isHeld ? 'It waits until the webhook is active again.' : 'Queued; waiting for the answer of your receiver …'}
        </p>
      )}
    </FormDialog>
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
  const form = useRun();
  const isValid = !Number.isNaN(Date.parse(since));
  const body = {
    since: isValid ? new Date(since).toISOString() : '',
    ...(until !== '' && { until: new Date(until).toISOString() }),
    ...(type !== '' && { types: [type as WebhookEvent] }),
    status,
  };
  const start = async (): Promise<void> =>
    onClose((await dataOf(api.POST('/api/v1/webhook/replay', { body }))).data.id);
  return (
    <FormDialog
      title="Deliver events again"
      className="form-dialog"
      label="Replay"
      disabled={!isValid}
      form={form}
      submit={start}
      curl={curlOf('POST', '/api/v1/webhook/replay', body)}
      onClose={() => onClose(null)}
    >
      <p>
        After an outage of your receiver: events of which an attempt was made in this time are queued once more, the
        oldest first, each under the same <code>webhook-id</code>.
      </p>
      <div className="two-fields">
        <TextField label="From" type="datetime-local" value={since} onText={setSince} />
        <TextField label="Until (empty: now)" type="datetime-local" value={until} onText={setUntil} />
      </div>
      <SelectField
        label="Which"
        value={status}
        options={[
          ['failed', 'those that were not delivered'],
          ['all', 'all, delivered ones too'],
        ]}
        onValue={(value) => setStatus(value === 'all' ? 'all' : 'failed')}
      />
      <SelectField
        label="Kind"
        value={type}
        options={[['', 'all kinds'], ...EVENT_KINDS.map((kind) => [kind, kind])]}
        onValue={setType}
      />
    </FormDialog>
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
