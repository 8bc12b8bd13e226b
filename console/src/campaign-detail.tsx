import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { CampaignState, numberText } from './campaign-parts.tsx';
import { Button, ButtonLink } from './controls.tsx';
import { Confirm } from './dialog.tsx';
import { useFresh } from './live.ts';
import { DetailBar } from './panes.tsx';
import { Facts, plusNumber, Time } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { fullTime, Loading } from './ui.tsx';

type Tag = Schemas['TagResponse'];
type Action = Schemas['TagActionResult']['action'];

const LOOK_MS = 2_000;
const OPT_OUTS = 20;

/** In the order of a message's life. */
const PARTS = [
  ['read', 'read', ['read']],
  ['delivered', 'delivered', ['delivered']],
  ['sent', 'sent', ['sent', 'accepted']],
  ['waiting', 'waiting', ['queued', 'processing']],
  ['unknown', 'unknown', ['outcome_unknown']],
  ['failed', 'failed', ['failed']],
] as const;

const listOf = (tag: string, more = ''): string => `/messages?${new URLSearchParams({ q: `tag:${tag}${more}` })}`;

export function CampaignDetail({ tag }: { tag: string }) {
  const queries = useQueryClient();
  const params = { path: { tag } };
  const path = `/api/v1/tags/${encodeURIComponent(tag)}`;
  const found = useData(['campaign', tag], (signal) => api.GET('/api/v1/tags/{tag}', { params, signal }), {
    refetchInterval: ({ state }) => (isMoving(state.data) ? LOOK_MS : false),
  });
  const { refetch } = found;
  useFresh(refetch);
  return (
    <section className="pane-detail" aria-label="Campaign">
      <DetailBar back="/campaigns" name={tag} curl={curlOf('GET', path)} />
      <div className="panel-body">
        <Loading of={found} lines={8} />
        {found.data !== undefined && (
          <>
            <Headline campaign={found.data} />
            <Actions
              campaign={found.data}
              onDone={() => {
                void refetch();
                void queries.invalidateQueries({ queryKey: ['campaigns'] });
              }}
            />
            <CampaignFacts campaign={found.data} />
            <Causes campaign={found.data} />
            <OptedOut campaign={found.data} />
          </>
        )}
      </div>
    </section>
  );
}

/** Something of it changes by itself. */
function isMoving(campaign: Tag | undefined): boolean {
  if (campaign === undefined) return false;
  const { status, counts, scheduled } = campaign;
  const waiting = (counts.queued ?? 0) + (counts.processing ?? 0);
  return status.endsWith('ing') || (status === 'active' && waiting > scheduled);
}

function Headline({ campaign }: { campaign: Tag }) {
  const { counts, messages, tag } = campaign;
  const parts = PARTS.map(([kind, name, states]) => {
    const count = states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    return { kind, name, count, filter: ` status:${states[0]}` };
  });
  const waiting = (counts.queued ?? 0) + (counts.processing ?? 0);
  const done = messages - waiting;
  return (
    <div className="campaign-head">
      <p className="headline">
        <CampaignState campaign={campaign} />
        <span>
          {messages === 0
            ? 'It has no message yet.'
            : `${numberText(done)} of ${numberText(messages)} have left the queue.`}
        </span>
      </p>
      <div
        className="campaign-bar"
        role="img"
        aria-label={parts.map(({ name, count }) => `${count} ${name}`).join(', ')}
      >
        {parts
          .filter(({ count }) => count > 0)
          .map(({ kind, count }) => (
            <i key={kind} className={`is-${kind}`} style={{ flexGrow: count }} />
          ))}
      </div>
      <ul className="campaign-parts">
        {parts
          .filter(({ count, kind }) => count > 0 || kind === 'waiting')
          .map(({ kind, name, count, filter }) => (
            <li key={kind}>
              <i className={`is-${kind}`} aria-hidden="true" />
              {count === 0 ? (
                <span>{name}</span>
              ) : (
                <Link href={listOf(tag, kind === 'sent' ? '' : filter)}>{name}</Link>
              )}
              <b>{numberText(count)}</b>
            </li>
          ))}
      </ul>
    </div>
  );
}

const ACTION_WORDS: Readonly<Record<Action, string>> = {
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel the rest',
  retry: 'Retry what failed',
};

/** What an action will do, before it does. */
function says(action: Action, campaign: Tag): ReactNode {
  const { counts, failures } = campaign;
  const waiting = numberText(counts.queued ?? 0);
  const kept = (failures.canceled ?? 0) + (failures.opted_out ?? 0);
  switch (action) {
    case 'pause':
      return `${waiting} messages that wait are not sent until you resume. What is on its way to WhatsApp is still sent. Times to live go on: a message that expires meanwhile fails.`;
    case 'resume':
      return campaign.paused
        ? `${waiting} messages go on in their old order, at the pace of the number. Those that have expired meanwhile fail.`
        : `${waiting} messages go now.`;
    case 'cancel':
      return `${waiting} messages that wait fail with “canceled”, scheduled and paused ones too. What was sent stays sent.`;
    default:
      return `${numberText((counts.failed ?? 0) - kept)} failed messages are queued again, each as its recipient's last. Left out are ${numberText(kept)} that were canceled or whose recipient opted out, and those whose outcome is unknown: they may have arrived.`;
  }
}

function actionsOf({ paused, counts, failures }: Tag): Action[] {
  const waits = (counts.queued ?? 0) > 0;
  const failed = (counts.failed ?? 0) - (failures.canceled ?? 0) - (failures.opted_out ?? 0) > 0;
  return [
    ...(paused ? (['resume'] as const) : []),
    ...(!paused && waits ? (['pause'] as const) : []),
    ...(waits ? (['cancel'] as const) : []),
    ...(failed ? (['retry'] as const) : []),
  ];
}

function Actions({ campaign, onDone }: { campaign: Tag; onDone: () => void }) {
  const can = useCan();
  const [asked, setAsked] = useState<Action | null>(null);
  if (!can('messages:write')) return null;
  const { tag } = campaign;
  const params = { path: { tag } };
  const path = `/api/v1/tags/${encodeURIComponent(tag)}/${asked ?? ''}`;
  const run = (action: Action): Promise<unknown> => {
    if (action === 'pause') return api.POST('/api/v1/tags/{tag}/pause', { params });
    if (action === 'resume') return api.POST('/api/v1/tags/{tag}/resume', { params });
    if (action === 'cancel') return api.POST('/api/v1/tags/{tag}/cancel', { params });
    return api.POST('/api/v1/tags/{tag}/retry', { params });
  };
  return (
    <>
      <div className="row actions">
        {actionsOf(campaign).map((action) => (
          <Button key={action} label={ACTION_WORDS[action]} onClick={() => setAsked(action)} />
        ))}
        <ButtonLink label="Add from a file" href={`/campaigns?${new URLSearchParams({ new: '1', tag })}`} />
        <ButtonLink quiet label="All messages" href={listOf(tag)} />
      </div>
      {asked !== null && (
        <Confirm
          title={`${ACTION_WORDS[asked]}?`}
          says={says(asked, campaign)}
          label={ACTION_WORDS[asked]}
          curl={curlOf('POST', path)}
          run={() => run(asked)}
          onClose={(done) => {
            setAsked(null);
            if (done) onDone();
          }}
        />
      )}
    </>
  );
}

const DONE_WORDS: Readonly<Record<Action, string>> = {
  pause: 'held',
  resume: 'freed',
  cancel: 'canceled',
  retry: 'queued again',
};

function CampaignFacts({ campaign }: { campaign: Tag }) {
  const { last_action: last, start_at: start, messages_per_minute: pace, first_accepted_at: first } = campaign;
  const end = campaign.estimated_end_at;
  return (
    <Facts
      of={[
        ['Made', <Time key="made" at={campaign.created_at} />],
        ['Starts', start === null ? null : <Time key="start" at={start} />],
        ['At most', pace === null ? null : `${numberText(pace)} a minute`],
        ['First message', first === null ? null : <Time key="first" at={first} />],
        ['Ends about', end === null ? null : <Time key="end" at={end} />],
        ['Scheduled', campaign.scheduled === 0 ? null : numberText(campaign.scheduled)],
        [
          'Last action',
          last === null ? null : (
            <span key="action">
              {ACTION_WORDS[last.action]}, {fullTime(last.started_at)}: {numberText(last.done)}{' '}
              {DONE_WORDS[last.action]}
              {last.ended_at === null && ' so far'}
              {Object.entries(last.skipped).map(([code, count]) => (
                <span key={code}>
                  , {numberText(count)} left out: <a href={`/docs/errors#${code}`}>{code}</a>
                </span>
              ))}
            </span>
          ),
        ],
        ['Cost', <Cost key="cost" campaign={campaign} />],
      ]}
    />
  );
}

/** What a message of this template has cost since the campaign began; the figures are of the template, not of the tag. */
function Cost({ campaign: { tag, first_accepted_at: since, messages } }: { campaign: Tag }) {
  const usage = useQuery({
    queryKey: ['campaign-cost', tag, since, messages],
    queryFn: async ({ signal }) => {
      const query = { tag, limit: 1 };
      const [newest] = (await dataOf(api.GET('/api/v1/messages', { params: { query }, signal }))).data;
      const template = newest?.type === 'template' ? templateName(newest.content) : null;
      if (template === null) return null;
      const range = { since: since ?? undefined, template };
      const { totals } = await dataOf(api.GET('/api/v1/usage', { params: { query: range }, signal }));
      return { totals, template };
    },
    enabled: since !== null,
  });
  if (usage.data === undefined || usage.data === null) return '–';
  const { totals, template } = usage.data;
  const cost = totals.cost ?? totals.cost_of_priced;
  if (cost === null) return 'no prices are set';
  const amount = new Intl.NumberFormat(undefined, { style: 'currency', currency: cost.currency });
  return (
    <>
      {amount.format(Number(cost.amount))}, estimated: messages with the template <code>{template}</code> since then
    </>
  );
}

function templateName(content: unknown): string | null {
  const name = (content as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : null;
}

function Causes({ campaign: { failures, tag } }: { campaign: Tag }) {
  const causes = Object.entries(failures).sort(([, a], [, b]) => b - a);
  if (causes.length === 0) return null;
  return (
    <section aria-label="Why messages failed">
      <h2>Why messages failed</h2>
      {causes.map(([category, count]) => (
        <Link key={category} href={listOf(tag, ` category:${category}`)} className="campaign-row">
          <span>{category.replaceAll('_', ' ')}</span>
          <b>{numberText(count)}</b>
        </Link>
      ))}
    </section>
  );
}

/** Who opted out since the first message: of all people, since an opt-out names no campaign. */
function OptedOut({ campaign: { first_accepted_at: since } }: { campaign: Tag }) {
  const found = useQuery({
    queryKey: ['campaign-opt-outs', since],
    queryFn: async ({ signal }) => {
      const query = { since: since ?? undefined, limit: OPT_OUTS };
      return dataOf(api.GET('/api/v1/opt-outs', { params: { query }, signal }));
    },
    enabled: since !== null,
    refetchInterval: 10 * LOOK_MS,
  });
  const rows = found.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-label="Who opted out since">
      <h2>Who opted out since its first message</h2>
      {rows.map(({ id, contact, category, since: at }) => (
        <p key={id} className="campaign-row">
          <bdi>{contact.phone === null ? contact.user_id : plusNumber(contact.phone)}</bdi>
          <span>{category}</span>
          <Time at={at} />
        </p>
      ))}
      {found.data?.pagination.next_before !== null && <p className="hint">The latest {OPT_OUTS} are shown.</p>}
    </section>
  );
}
