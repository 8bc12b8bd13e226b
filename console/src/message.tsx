import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api, curlOf, dataOf, type Message, type Schemas } from './api.ts';
import { Bubble, bubbleOfRow } from './bubble.tsx';
import { Button, ButtonLink } from './controls.tsx';
import { Confirm } from './dialog.tsx';
import { mediaOf } from './message-file.tsx';
import { type HeraldEvent, useEvents } from './live.ts';
import { peerOf } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import {
  clockTime,
  CopyButton,
  duration,
  fullTime,
  Problem,
  Skeleton,
  Status,
  Ticks,
  useNow,
  withTimes,
} from './ui.tsx';

type Timeline = Schemas['TimelineResponse'];

const WAITS: Readonly<Record<string, string>> = {
  scheduled: 'It is scheduled.',
  earlier_message_to_recipient: 'An earlier message to this recipient is still on its way.',
  number_pace: 'The number sends at its pace.',
  pair_limit: 'WhatsApp limits how fast one recipient may be written to.',
  number_paused: 'The number is paused.',
  retry: 'An attempt failed for a while; Herald tries again.',
  number_disconnected: 'The number is disconnected.',
  due: 'It is next.',
};

const RESPONSIBLE: Readonly<Record<string, string>> = {
  you: 'You can fix this.',
  recipient: 'The recipient can fix this.',
  operator: 'The operator must fix this.',
  whatsapp: 'WhatsApp must fix this.',
};

const OPEN_STATES = new Set(['queued', 'processing', 'accepted', 'sent']);
const LOOK_MS = 1_500;

/** Also what changes the message is a message. */
function isAbout({ data }: HeraldEvent, id: string): boolean {
  if ('message_id' in data) return data.message_id === id;
  if (!('message' in data)) return false;
  const { edits_message_id: edited, revokes_message_id: revoked } = data.message;
  return edited === id || revoked === id;
}

export function MessagePanel({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient();
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: ['message', id] }), [queries, id]);
  const message = useQuery({
    queryKey: ['message', id],
    queryFn: async ({ signal }) => {
      const [one, timeline] = await Promise.all([
        dataOf(api.GET('/api/v1/messages/{id}', { params: { path: { id } }, signal })),
        dataOf(api.GET('/api/v1/messages/{id}/timeline', { params: { path: { id } }, signal })),
      ]);
      return { message: one.data, timeline };
    },
    // What waits has a place in a queue, which no event reports.
    refetchInterval: ({ state }) =>
      ['queued', 'processing'].includes(state.data?.message.status ?? '') ? LOOK_MS : false,
  });
  const onEvents = useCallback(
    (events: readonly HeraldEvent[] | null) => {
      if (events === null || events.some((event) => isAbout(event, id))) refresh();
    },
    [id, refresh],
  );
  useEvents(onEvents);
  const panel = useRef<HTMLElement>(null);
  // After sending, what had the focus is gone.
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true });
  }, []);
  return (
    <aside className="panel" aria-label="Message" ref={panel} tabIndex={-1}>
      <header className="panel-bar">
        <h1>Message</h1>
        <CopyButton quiet text={id} label="id" />
        <CopyButton quiet text={curlOf('GET', `/api/v1/messages/${id}`)} label="curl" />
        <span className="grow" />
        <Button quiet icon="close" aria-label="Close" onClick={onClose} />
      </header>
      {message.isPending && <Skeleton lines={10} />}
      {message.error !== null && <Problem error={message.error} onRetry={refresh} />}
      {message.data !== undefined && <Details {...message.data} onChanged={refresh} />}
    </aside>
  );
}

function Details({ message, timeline, onChanged }: { message: Message; timeline: Timeline; onChanged: () => void }) {
  const isOut = message.direction === 'outbound';
  const { summary, responsible, retry } = timeline.explanation;
  return (
    <div className="panel-body">
      <div className="headline">
        <Status status={message.status} />
        <span>
          {isOut ? 'to' : 'from'} <bdi>{message.contact.name ?? ''}</bdi> <b>{peerOf(message)}</b>
        </span>
        <time dateTime={message.created_at}>{fullTime(message.created_at)}</time>
      </div>
      <section className={message.status === 'failed' ? 'explanation bad' : 'explanation'} aria-label="Explanation">
        <p>{withTimes(summary)}</p>
        {responsible !== null && <p>{RESPONSIBLE[responsible]}</p>}
        {message.status === 'failed' && (
          <p>{retry.advised ? 'It can be sent again.' : 'The same message would fail again.'}</p>
        )}
        {message.error !== null && (
          <p className="code">
            <code>{message.error.code}</code> <bdi>{message.error.message}</bdi>
          </p>
        )}
      </section>
      <Waiting message={message} />
      <Actions message={message} timeline={timeline} onChanged={onChanged} />
      <section className="chat" aria-label="As the recipient sees it">
        <Bubble
          content={bubbleOfRow(message)}
          side={isOut ? 'mine' : 'theirs'}
          media={mediaOf(message)}
          meta={
            <>
              {clockTime(message.created_at)} {isOut && <Ticks status={message.status} />}
            </>
          }
        />
      </section>
      <Waterfall timeline={timeline} isOpen={OPEN_STATES.has(message.status)} />
      <Attempts attempts={message.attempts ?? []} />
      <Facts message={message} />
    </div>
  );
}

function Waiting({ message }: { message: Message }) {
  const { waiting, estimated_send_at: estimate } = message;
  if (waiting === undefined || message.status !== 'queued') return null;
  return (
    <p className="notice">
      {WAITS[waiting.reason] ?? waiting.reason.replaceAll('_', ' ')}
      {waiting.ahead > 0 && ` ${waiting.ahead} ahead of it.`}
      {typeof estimate === 'string' && ` Expected at ${fullTime(estimate)}.`}
    </p>
  );
}

function Actions({ message, timeline, onChanged }: { message: Message; timeline: Timeline; onChanged: () => void }) {
  const can = useCan();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<'retry' | 'cancel' | null>(null);
  const { id, status } = message;
  const support = [
    `message ${id}`,
    `status ${status}`,
    ...(message.failure_category === null ? [] : [`category ${message.failure_category}`]),
    ...(message.meta_message_id === null ? [] : [`WhatsApp id ${message.meta_message_id}`]),
    ...timeline.data.map(
      ({ at, event, platform_code: code }) => `${at} ${event}${code === undefined ? '' : ` ${code}`}`,
    ),
    ...(message.attempts ?? []).map(({ number, trace_id: trace }) => `attempt ${number} trace ${trace ?? '-'}`),
  ].join('\n');
  const mayRetry = can('messages:write') && (status === 'failed' || status === 'outcome_unknown');
  const { responsible, retry } = timeline.explanation;
  const wouldFailAgain = status === 'failed' && !retry.advised;
  // The recipient may get it twice.
  const isUnknown = status === 'outcome_unknown';
  const mayCancel = can('messages:write') && status === 'queued';
  const changed = message.edits_message_id ?? message.revokes_message_id;
  return (
    <div className="row actions">
      {mayRetry && wouldFailAgain && responsible === 'you' && (
        <ButtonLink primary label="Change and send" href={`/send?like=${id}`} />
      )}
      {mayRetry && (
        <Button primary={!(wouldFailAgain || isUnknown)} label="Send again" onClick={() => setAsked('retry')} />
      )}
      {mayCancel && <Button label="Cancel message" onClick={() => setAsked('cancel')} />}
      {message.direction === 'inbound' && message.from !== null && can('messages:write') && (
        <Button
          label="Answer"
          onClick={() =>
            navigate(`/send?to=${encodeURIComponent(peerOf(message))}&connection=${message.connection_id}`)
          }
        />
      )}
      {message.conversation_id !== null && (
        <ButtonLink quiet label="Conversation" href={`/conversations/${message.conversation_id}`} />
      )}
      {typeof changed === 'string' && <ButtonLink quiet label="The message it changes" href={`/messages/${changed}`} />}
      <CopyButton quiet text={support} label="Copy for support" />
      {asked !== null && (
        <ConfirmChange
          what={asked}
          message={message}
          onDone={() => {
            setAsked(null);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

const SAYS = {
  retry: 'Herald queues the same message again. The recipient gets it once, if this attempt succeeds.',
  unknown:
    'It is not known whether WhatsApp took this message. If it did, the recipient gets it a second time. Check with the recipient first.',
  cancel: 'The message is not sent. This cannot be undone.',
};

function ConfirmChange({ what, message, onDone }: { what: 'retry' | 'cancel'; message: Message; onDone: () => void }) {
  // One key for as long as the dialog is open: a second press makes no second attempt.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const isTwice = what === 'retry' && message.status === 'outcome_unknown';
  const path = `/api/v1/messages/${message.id}/${what}`;
  const body = isTwice ? { confirm_outcome_unknown: true } : undefined;
  const params = { path: { id: message.id } };
  const run = async (): Promise<unknown> => {
    if (what === 'cancel') return api.POST('/api/v1/messages/{id}/cancel', { params });
    const header = { 'Idempotency-Key': idempotencyKey };
    return api.POST('/api/v1/messages/{id}/retry', { params: { ...params, header }, body: body ?? {} });
  };
  return (
    <Confirm
      title={what === 'retry' ? 'Send this message again?' : 'Cancel this message?'}
      says={SAYS[isTwice ? 'unknown' : what]}
      label={isTwice ? 'Send again, perhaps twice' : what === 'retry' ? 'Send again' : 'Cancel message'}
      isRisky={isTwice}
      curl={curlOf('POST', path, body)}
      run={run}
      onClose={onDone}
    />
  );
}

const WORDS: Readonly<Record<string, string>> = {
  attempt_started: 'sending',
  attempt_accepted: 'WhatsApp accepts',
  attempt_rejected: 'WhatsApp refuses',
  attempt_deferred: 'try again later',
  attempt_unknown: 'no clear answer',
  outcome_unknown: 'outcome unknown',
};

/** WhatsApp's times are whole seconds. */
function stepTime({ source }: Timeline['data'][number], ms: number): string {
  return source === 'whatsapp' && ms === 0 ? '< 1 s' : `+${duration(ms)}`;
}

/** How long each step took: its bar ends where it happened. */
function Waterfall({ timeline, isOpen }: { timeline: Timeline; isOpen: boolean }) {
  const now = useNow(isOpen ? 1_000 : 60_000);
  const entries = timeline.data;
  const first = Date.parse(entries[0]?.at ?? new Date(now).toISOString());
  const last = Math.max(Date.parse(entries.at(-1)?.at ?? ''), isOpen ? now : 0);
  const whole = Math.max(last - first, 1);
  return (
    <section aria-label="Timeline">
      <h2>
        Timeline <small>{duration(last - first)}</small>
      </h2>
      <ol className="waterfall">
        {entries.map((entry, index) => {
          const at = Date.parse(entry.at);
          const from = Date.parse(entries[index - 1]?.at ?? entry.at);
          const left = ((from - first) / whole) * 100;
          const isBad = ['failed', 'attempt_rejected', 'attempt_unknown', 'outcome_unknown', 'expired'].includes(
            entry.event,
          );
          return (
            <li key={`${entry.at}-${entry.event}-${index}`}>
              <span className="step">{WORDS[entry.event] ?? entry.event}</span>
              <span className="track" aria-hidden="true">
                <i
                  className={isBad ? 'bad' : ''}
                  style={{ left: `${left}%`, width: `${((at - from) / whole) * 100}%` }}
                />
              </span>
              <time dateTime={entry.at} title={fullTime(entry.at)}>
                {index === 0 ? clockTime(entry.at) : stepTime(entry, at - from)}
              </time>
              <small>
                <bdi>{withTimes(entry.summary)}</bdi>
                {entry.platform_code !== undefined && ` (${entry.platform_code})`}
              </small>
              {entry.delivery_ids !== undefined && entry.delivery_ids.length > 0 && (
                <Deliveries ids={entry.delivery_ids} />
              )}
            </li>
          );
        })}
      </ol>
      {timeline.not_kept.length > 0 && <p className="hint">Not kept any more: {timeline.not_kept.join(', ')}.</p>}
    </section>
  );
}

function Deliveries({ ids }: { ids: readonly string[] }) {
  const can = useCan();
  const [isOpen, setOpen] = useState(false);
  if (!can('webhooks:read')) return null;
  return (
    <details className="deliveries" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{ids.length === 1 ? '1 webhook delivery' : `${ids.length} webhook deliveries`}</summary>
      {isOpen && ids.map((id) => <Delivery key={id} id={id} />)}
    </details>
  );
}

function Delivery({ id }: { id: string }) {
  const can = useCan();
  const [replayed, setReplayed] = useState<'no' | 'asked' | 'done'>('no');
  const [error, setError] = useState<unknown>(null);
  const params = { path: { id } };
  const { data, error: failure } = useData(['delivery', id], (signal) =>
    api.GET('/api/v1/webhook/deliveries/{id}', { params, signal }),
  );
  const replay = async (): Promise<void> => {
    setReplayed('asked');
    try {
      await api.POST('/api/v1/webhook/deliveries/{id}/replay', { params });
      setReplayed('done');
    } catch (refusal) {
      setError(refusal);
      setReplayed('no');
    }
  };
  if (failure !== null) return <Problem error={failure} />;
  if (data === undefined) return <Skeleton lines={1} />;
  return (
    <div className="delivery">
      <span className={data.status === 'failed' ? 'status is-failed' : 'status'}>
        {data.event_type} · attempt {data.attempt} {data.status}
        {data.http_status !== null && ` · HTTP ${data.http_status}`}
        {data.duration_ms !== null && ` · ${duration(data.duration_ms)}`}
      </span>
      {data.error !== null && <bdi>{data.error}</bdi>}
      <div className="row">
        {can('webhooks:write') && (
          <Button
            label={replayed === 'done' ? 'Queued again' : 'Deliver again'}
            disabled={replayed !== 'no'}
            onClick={() => void replay()}
          />
        )}
        <CopyButton quiet label="curl" text={curlOf('GET', `/api/v1/webhook/deliveries/${id}`)} />
      </div>
      {error !== null && <Problem error={error} />}
    </div>
  );
}

function Attempts({ attempts }: { attempts: readonly Schemas['AttemptResponse'][] }) {
  if (attempts.length === 0) return null;
  return (
    <section aria-label="Attempts">
      <h2>Attempts</h2>
      {attempts.map((attempt) => (
        <dl key={attempt.number} className="facts attempt">
          <dt>{attempt.number}</dt>
          <dd>
            {attempt.status}
            {attempt.http_status !== null && ` · HTTP ${attempt.http_status}`}
            {attempt.finished_at !== null &&
              ` · ${duration(Date.parse(attempt.finished_at) - Date.parse(attempt.started_at))}`}
          </dd>
          {attempt.platform_code !== null && (
            <>
              <dt>WhatsApp</dt>
              <dd>
                {attempt.platform_code} <bdi>{attempt.platform_message}</bdi>
              </dd>
            </>
          )}
          {attempt.trace_id !== null && (
            <>
              <dt>Trace</dt>
              <dd>
                <code>{attempt.trace_id}</code>
              </dd>
            </>
          )}
        </dl>
      ))}
    </section>
  );
}

function Facts({ message }: { message: Message }) {
  const facts: [string, string | null | undefined][] = [
    ['Id', message.id],
    ['Your id', message.client_message_id],
    ['WhatsApp id', message.meta_message_id],
    ['Kind', message.type],
    ['Scheduled for', message.scheduled_for === undefined ? null : fullTime(message.scheduled_for)],
    ['Expires', message.expires_at === undefined ? null : fullTime(message.expires_at)],
    ['Billed as', message.pricing?.category],
    ['Edited', message.edited_at && fullTime(message.edited_at)],
    ['Withdrawn', message.revoked_at && fullTime(message.revoked_at)],
    ['Before the edit', message.current && message.body],
  ];
  return (
    <section aria-label="Facts">
      <h2>Facts</h2>
      <dl className="facts">
        {facts.map(([name, value]) =>
          value === null || value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ),
        )}
      </dl>
      <details>
        <summary>Content as JSON</summary>
        <pre>{JSON.stringify(message.content, null, 2)}</pre>
      </details>
    </section>
  );
}
