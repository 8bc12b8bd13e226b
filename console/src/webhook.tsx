import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useContext, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { api, curlOf, type Schemas } from './api.ts';
import { Button } from './controls.tsx';
import { DeliveryPanel, Outcome } from './delivery.tsx';
import { useGo } from './go.ts';
import { More } from './panes.tsx';
import { useWebhook } from './webhook-state.ts';
import { useCan } from './session.ts';
import { HasSimulator } from './simulated.ts';
import { State } from './parts.tsx';
import { useData, useList } from './queries.ts';
import { ago, Choice, CopyButton, duration, Empty, fullTime, Problem, Skeleton, useNow } from './ui.tsx';
import { ChangeDialog, EVENT_KINDS, ReplayDialog, SecretDialog, TestDialog } from './webhook-dialogs.tsx';
import { VerifyDialog } from './webhook-verify.tsx';
import { SettingsDialog } from './webhook-settings.tsx';

type Webhook = Schemas['WebhookSettings'];
type Delivery = Schemas['DeliveryResponse'];

const PAGE = 50;
const LOOK_MS = 5_000;
const REPLAY_LOOK_MS = 1_000;
const CLOCK_MS = 15_000;

export function WebhookPage({ selected }: { selected: string | null }) {
  // Shown only once, so it outlasts what is drawn below, which looks again by itself.
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <Content selected={selected} onSecret={setSecret} />
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}

interface ContentProps {
  selected: string | null;
  onSecret: (secret: string) => void;
}

function Content({ selected, onSecret }: ContentProps) {
  const webhook = useWebhook();
  if (webhook.isPending) return <Skeleton lines={10} />;
  if (webhook.error !== null && webhook.data === undefined) {
    return <Problem error={webhook.error} onRetry={() => void webhook.refetch()} />;
  }
  return webhook.data === undefined || webhook.data === null ? (
    <NoWebhook onSecret={onSecret} />
  ) : (
    <Opened webhook={webhook.data} selected={selected} onSecret={onSecret} />
  );
}

type Dialog = 'settings' | 'test' | 'verify' | 'replay' | 'rotate' | 'pause' | 'resume' | 'remove';

function NoWebhook({ onSecret }: Pick<ContentProps, 'onSecret'>) {
  const can = useCan();
  const isDemo = useContext(HasSimulator);
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  return (
    <Empty title="This workspace has no webhook yet" isPage>
      <p>Herald posts each message that comes in, and each change of a sent one, to one address of yours.</p>
      {isDemo && (
        <p>
          A receiver on this machine is set with <code>npx herald webhook set http://127.0.0.1:4000/</code>
        </p>
      )}
      {can('webhooks:write') ? (
        <Button primary label="Set the webhook" onClick={() => setOpen(true)} />
      ) : (
        <p>
          This key needs the scope <code>webhooks:write</code> to set one.
        </p>
      )}
      {isOpen && (
        <SettingsDialog
          webhook={null}
          onClose={(changed) => {
            setOpen(false);
            if (changed?.secret !== undefined) onSecret(changed.secret);
            if (changed !== null) void queries.invalidateQueries({ queryKey: ['webhook'] });
          }}
        />
      )}
    </Empty>
  );
}

function Opened({ webhook, selected, onSecret }: ContentProps & { webhook: Webhook }) {
  const navigate = useGo();
  const given = new URLSearchParams(useSearch());
  const query = Object.fromEntries(['status', 'event_type', 'event_id'].map((name) => [name, given.get(name) ?? '']));
  const replay = given.get('replay');
  const go = (id: string | null, changes: Record<string, string>): void => {
    const next = Object.entries({ ...query, replay: replay ?? '', ...changes }).filter(([, value]) => value !== '');
    const suffix = next.length === 0 ? '' : `?${new URLSearchParams(next)}`;
    navigate(`/webhook${id === null ? '' : `/${id}`}${suffix}`, { replace: id === selected });
  };
  return (
    <div className={selected === null ? 'journal' : 'journal has-panel'}>
      <section className="list-side" aria-label="Webhook">
        <Head
          webhook={webhook}
          onSecret={onSecret}
          onReplay={(id) => go(null, { replay: id })}
          onTested={(id) => go(id, {})}
        />
        {replay !== null && <ReplayProgress key={replay} id={replay} onClose={() => go(selected, { replay: '' })} />}
        <Deliveries
          query={query}
          onQuery={(changes) => go(selected, changes)}
          selected={selected}
          suffix={given.size === 0 ? '' : `?${given}`}
        />
      </section>
      {selected !== null && (
        <DeliveryPanel
          key={selected}
          id={selected}
          onClose={() => go(null, {})}
          onEvent={(id) => go(selected, { event_id: id, status: '', event_type: '' })}
        />
      )}
    </div>
  );
}

const TONES = { active: 'good', paused: 'warn', failing: 'warn', disabled: 'bad' } as const;
const DISABLED: Readonly<Record<string, string>> = {
  gone: 'Your receiver answered 410, so Herald stopped. Events wait for three days.',
  failing: 'Every attempt failed for five days, so Herald stopped. Events wait for three days.',
};

interface HeadProps extends Pick<ContentProps, 'onSecret'> {
  webhook: Webhook;
  onReplay: (id: string) => void;
  onTested: (deliveryId: string) => void;
}

function Head({ webhook, onSecret, onReplay, onTested }: HeadProps) {
  const can = useCan();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const { url, active, disabled_reason: disabled, failing_since: failing, previous_secret_expires_at: old } = webhook;
  const close = (changed: { secret?: string } | null): void => {
    setDialog(null);
    if (changed?.secret !== undefined) onSecret(changed.secret);
    if (changed !== null) void queries.invalidateQueries({ queryKey: ['webhook'] });
  };
  const state = disabled !== null ? 'disabled' : !active ? 'paused' : failing !== null ? 'failing' : 'active';
  const button = (name: Dialog, label: string, isPrimary = false): ReactNode => (
    <Button primary={isPrimary} label={label} onClick={() => setDialog(name)} />
  );
  return (
    <header className="webhook-head">
      <div className="row">
        <h1>Webhook</h1>
        <State tone={TONES[state]}>{state}</State>
        <span className="grow" />
        <CopyButton quiet label="curl" text={curlOf('GET', '/api/v1/webhook')} />
      </div>
      <p className="webhook-url">
        <bdi>{url}</bdi>
      </p>
      <p className="hint">
        {webhook.events.length} of {EVENT_KINDS.length} kinds of events ·{' '}
        {webhook.connection_ids.length === 0 ? 'all numbers' : `${webhook.connection_ids.length} numbers`}
        {webhook.header_names.length > 0 && ` · ${webhook.header_names.join(', ')}`} · secret {webhook.secret_hint}
        {old !== null && ` · the replaced secret signs too, until ${fullTime(old)}`}
      </p>
      {disabled !== null && <p className="notice">{DISABLED[disabled] ?? disabled}</p>}
      {state === 'paused' && <p className="notice">It is paused. Events wait for three days.</p>}
      {failing !== null && <p className="notice">Every attempt has failed since {fullTime(failing)}.</p>}
      {can('webhooks:write') && (
        <div className="row">
          {!active && button('resume', 'Deliver again', true)}
          {button('settings', 'Settings')}
          {button('test', 'Test')}
          {button('verify', 'Check')}
          {button('replay', 'Replay')}
          {button('rotate', 'Replace the secret')}
          {active && button('pause', 'Pause')}
          {button('remove', 'Delete')}
        </div>
      )}
      {dialog === 'settings' && <SettingsDialog webhook={webhook} onClose={close} />}
      {dialog === 'test' && (
        <TestDialog
          isHeld={!active}
          onClose={(delivery) => {
            close(delivery === null ? null : {});
            if (delivery !== null) onTested(delivery);
          }}
        />
      )}
      {dialog === 'verify' && <VerifyDialog onClose={() => setDialog(null)} />}
      {dialog === 'replay' && (
        <ReplayDialog
          onClose={(id) => {
            setDialog(null);
            if (id !== null) onReplay(id);
          }}
        />
      )}
      {(dialog === 'rotate' || dialog === 'pause' || dialog === 'resume' || dialog === 'remove') && (
        <ChangeDialog what={dialog} webhook={webhook} onClose={close} />
      )}
    </header>
  );
}

function ReplayProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useData(
    ['replay', id],
    (signal) => api.GET('/api/v1/webhook/replay/{id}', { params: { path: { id } }, signal }),
    {
      refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : REPLAY_LOOK_MS),
    },
  );
  if (error !== null) return <Problem error={error} onRetry={onClose} />;
  const { status = 'running', done = 0, total = 0 } = data ?? {};
  return (
    <div className="replay" role="status">
      <span>
        Replay: {done} of {total} queued{status === 'running' ? '' : `, ${status}`}
      </span>
      <progress aria-label="Replay" value={total === 0 && status === 'done' ? 1 : done} max={Math.max(total, 1)} />
      <Button quiet icon="close" aria-label="Hide the replay" onClick={onClose} />
    </div>
  );
}

interface DeliveriesProps {
  query: Record<string, string>;
  onQuery: (changes: Record<string, string>) => void;
  selected: string | null;
  suffix: string;
}

function Deliveries({ query, onQuery, selected, suffix }: DeliveriesProps) {
  const { status = '', event_type: type = '', event_id: event = '' } = query;
  const filters = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
  // No event reports a delivery.
  const { list, rows } = useList(
    ['deliveries', filters],
    (cursor, signal) =>
      api.GET('/api/v1/webhook/deliveries', { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
    { everyMs: LOOK_MS },
  );
  const now = useNow(CLOCK_MS);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <div className="search-bar">
        <div className="filters few">
          <Choice label="Outcome" value={status} onChange={(next) => onQuery({ status: next })}>
            {[
              ['succeeded', 'Succeeded'],
              ['failed', 'Failed'],
            ]}
          </Choice>
          <Choice label="Kind of event" value={type} onChange={(next) => onQuery({ event_type: next })}>
            {[...EVENT_KINDS, 'webhook.test'].map((kind) => [kind, kind])}
          </Choice>
          {event !== '' && (
            <button type="button" className="chip chosen" onClick={() => onQuery({ event_id: '' })}>
              one event ×
            </button>
          )}
          <span className="grow" />
          <CopyButton
            quiet
            label="curl"
            text={curlOf('GET', `/api/v1/webhook/deliveries?${new URLSearchParams({ ...filters, limit: '50' })}`)}
          />
        </div>
      </div>
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <div className="rows" tabIndex={-1}>
        {list.isPending && <Skeleton lines={8} />}
        {list.isSuccess && rows.length === 0 && (
          <Empty title={isFiltered ? 'No delivery matches' : 'Nothing was delivered yet'}>
            {isFiltered ? (
              <Link href="/webhook">Show all deliveries</Link>
            ) : (
              <p>Send a test event, or a message: what your receiver answers appears here.</p>
            )}
          </Empty>
        )}
        <div role="list">
          {rows.map((row) => (
            <div key={row.id} role="listitem">
              <DeliveryRow row={row} isSelected={row.id === selected} href={`/webhook/${row.id}${suffix}`} now={now} />
            </div>
          ))}
        </div>
        <More list={list} />
      </div>
    </>
  );
}

interface DeliveryRowProps {
  row: Delivery;
  isSelected: boolean;
  href: string;
  now: number;
}

function DeliveryRow({ row, isSelected, href, now }: DeliveryRowProps) {
  return (
    <Link href={href} className="delivery-row" aria-current={isSelected ? 'true' : undefined}>
      <time dateTime={row.created_at} title={fullTime(row.created_at)}>
        {ago(row.created_at, now)}
      </time>
      <span className="excerpt">{row.event_type}</span>
      <small>{row.attempt > 1 ? `attempt ${row.attempt}` : ''}</small>
      <small className="took">{row.duration_ms === null ? '' : duration(row.duration_ms)}</small>
      <Outcome delivery={row} />
    </Link>
  );
}
