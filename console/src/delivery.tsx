import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, ButtonLink } from './controls.tsx';
import { AskButton } from './dialog.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { Icon } from './icon.tsx';
import { CopyButton, duration, fullTime, Loading, Problem, Skeleton } from './ui.tsx';

type Delivery = Schemas['DeliveryWithEvent'];

const LOOK_MS = 3_000;
const MOST_ATTEMPTS = 50;

const NOT_ALLOWED = 'Herald may not call this address any more: set one with https://, a host name and no port.';

/** By the beginning of the error. */
const MEANINGS: readonly (readonly [string, string])[] = [
  ['http_410', 'Your receiver answered 410: Herald turns the webhook off.'],
  ['http_3', 'Your receiver answered with a redirect. Herald follows none: set the final address.'],
  ['http_401', 'Your receiver refused the call. Does it need a header of its own? The settings have a place for it.'],
  ['http_403', 'Your receiver refused the call. Does it need a header of its own? The settings have a place for it.'],
  ['http_', 'Your receiver answered with something other than 2xx.'],
  ['timeout', 'Your receiver did not answer within ten seconds. Answer first, and do the work afterwards.'],
  ['unresolvable', 'The name of the host has no address now.'],
  ['dns_', 'The name servers of the host did not answer, or failed.'],
  ['too_many_addresses', 'The name of the host has more than 32 addresses.'],
  ['private_address', 'The host leads to an address that is not public.'],
  ['not_https', NOT_ALLOWED],
  ['port', NOT_ALLOWED],
  ['ip_literal', NOT_ALLOWED],
  ['connect', 'No server accepted the connection, or it ended before the answer.'],
  ['unreachable', 'No server accepted the connection.'],
  ['answer_', 'The answer could not be read as HTTP.'],
  ['tls: certificate', 'The certificate of your receiver is not valid for this host, or not valid now.'],
  ['tls', 'The TLS handshake failed.'],
  ['interrupted', 'Herald’s own process ended before the answer was noted; the event came again.'],
  [
    'secret_unreadable',
    'Herald lacks the key that opens the signing secret. The operator must give it back; or replace the secret.',
  ],
];

interface DeliveryPanelProps {
  id: string;
  onClose: () => void;
  onEvent: (eventId: string) => void;
}

/** What was sent, what came back, and what else was tried. */
export function DeliveryPanel({ id, onClose, onEvent }: DeliveryPanelProps) {
  const path = `/api/v1/webhook/deliveries/${id}`;
  const delivery = useData(['delivery', id], (signal) =>
    api.GET('/api/v1/webhook/deliveries/{id}', { params: { path: { id } }, signal }),
  );
  return (
    <aside className="panel" aria-label="Delivery">
      <header className="panel-bar">
        <h1>Delivery</h1>
        <CopyButton quiet text={id} label="id" />
        <CopyButton quiet text={curlOf('GET', path)} label="curl" />
        <span className="grow" />
        <Button quiet icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <Loading of={delivery} lines={10} />
      {delivery.data !== undefined && <Details delivery={delivery.data} onEvent={onEvent} />}
    </aside>
  );
}

function Details({ delivery, onEvent }: { delivery: Delivery; onEvent: (eventId: string) => void }) {
  const can = useCan();
  const queries = useQueryClient();
  const [queued, setQueued] = useState(false);
  const { id, error, event, event_id: eventId } = delivery;
  const meaning = MEANINGS.find(([start]) => error?.startsWith(start))?.[1];
  const messageId = messageOf(event);
  const params = { path: { id } };
  return (
    <div className="panel-body">
      <div className="headline">
        <Outcome delivery={delivery} />
        <b>{delivery.event_type}</b>
        <time dateTime={delivery.created_at}>{fullTime(delivery.created_at)}</time>
      </div>
      {delivery.status === 'failed' && (
        <section className="explanation bad" aria-label="Explanation">
          <p>{meaning ?? 'The attempt failed.'}</p>
          <p className="code">
            <code>
              <bdi>{error}</bdi>
            </code>
          </p>
          <p>
            {delivery.next_attempt_at === null
              ? 'No further attempt was planned.'
              : `The next attempt was planned for ${fullTime(delivery.next_attempt_at)}.`}
          </p>
        </section>
      )}
      <div className="row actions">
        {can('webhooks:write') && (
          <AskButton
            button={queued ? 'Queued again' : 'Deliver again'}
            disabled={queued}
            title="Deliver this event again?"
            says="Herald queues the event once more, under the same webhook-id and with all its attempts. A receiver that keeps ids ignores what it has seen."
            label="Deliver again"
            curl={curlOf('POST', `/api/v1/webhook/deliveries/${id}/replay`)}
            run={() => api.POST('/api/v1/webhook/deliveries/{id}/replay', { params })}
            onDone={() => {
              setQueued(true);
              void queries.invalidateQueries({ queryKey: ['attempts', eventId] });
            }}
          />
        )}
        {messageId !== null && can('messages:read') && (
          <ButtonLink quiet label="Message" href={`/messages/${messageId}`} />
        )}
        <Button quiet label="Only this event" onClick={() => onEvent(eventId)} />
      </div>
      <Attempts delivery={delivery} />
      <Request delivery={delivery} />
      <section aria-label="Answer">
        <h2>Answer</h2>
        <dl className="facts">
          <div>
            <dt>Status</dt>
            <dd>{delivery.http_status ?? 'no answer'}</dd>
          </div>
          {delivery.duration_ms !== null && (
            <div>
              <dt>Took</dt>
              <dd>{duration(delivery.duration_ms)}</dd>
            </div>
          )}
        </dl>
        <p className="hint">Herald keeps nothing else of what your receiver answers.</p>
      </section>
    </div>
  );
}

/** The message that the event is about. */
function messageOf(event: Delivery['event']): string | null {
  const data = (event?.data ?? {}) as { message_id?: unknown; message?: { id?: unknown } | null; test?: unknown };
  const id = data.message_id ?? data.message?.id;
  return typeof id === 'string' && data.test !== true ? id : null;
}

function Attempts({ delivery: { id, event_id: eventId } }: { delivery: Delivery }) {
  const { data, error } = useQuery({
    queryKey: ['attempts', eventId],
    queryFn: async ({ signal }) => {
      const query = { event_id: eventId, limit: MOST_ATTEMPTS };
      return (await dataOf(api.GET('/api/v1/webhook/deliveries', { params: { query }, signal }))).data;
    },
    refetchInterval: LOOK_MS,
  });
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <Skeleton lines={2} />;
  return (
    <section aria-label="Attempts">
      <h2>
        Attempts <small>of this event</small>
      </h2>
      <ol className="attempts">
        {data.toReversed().map((one) => (
          <li key={one.id}>
            <Link href={`/webhook/${one.id}`} aria-current={one.id === id ? 'true' : undefined}>
              <span>{one.attempt}</span>
              <time dateTime={one.created_at}>{fullTime(one.created_at)}</time>
              <Outcome delivery={one} />
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Request({ delivery: { event, event_id: id, event_type: type } }: { delivery: Delivery }) {
  const can = useCan();
  const body = JSON.stringify(event, null, 2);
  return (
    <section aria-label="Request">
      <h2>Request</h2>
      <dl className="facts">
        <div>
          <dt>webhook-id</dt>
          <dd>{id}</dd>
        </div>
      </dl>
      {event === null ? (
        <p className="hint">
          {can('messages:read') || !type.startsWith('message.')
            ? 'The event is no longer kept.'
            : 'This key needs the scope messages:read to see what was sent.'}
        </p>
      ) : (
        <>
          <pre tabIndex={0}>{body}</pre>
          <CopyButton label="Copy the body" text={JSON.stringify(event)} />
        </>
      )}
    </section>
  );
}

export function Outcome({ delivery: { status, http_status: code, error } }: { delivery: Schemas['DeliveryResponse'] }) {
  return (
    <span className={status === 'failed' ? 'status is-failed' : 'status is-delivered'}>
      {status === 'failed' ? (
        <span className="mark" aria-hidden="true">
          !
        </span>
      ) : (
        <Icon name="check" />
      )}
      <bdi>{code ?? error?.replaceAll('_', ' ') ?? status}</bdi>
    </span>
  );
}
