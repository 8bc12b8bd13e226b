import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf } from './api.ts';
import { CampaignDetail } from './campaign-detail.tsx';
import { CampaignState, numberText } from './campaign-parts.tsx';
import { NewCampaign } from './campaign-new.tsx';
import { type HeraldEvent, useEvents } from './live.ts';
import type { Cursor } from './search.ts';
import { useCan } from './session.ts';
import { ago, CopyButton, Empty, Icon, Problem, Skeleton, useNow } from './ui.tsx';

const PAGE = 50;
const CLOCK_MS = 30_000;

export function CampaignsPage({ selected }: { selected: string | null }) {
  const search = useSearch();
  const [, navigate] = useLocation();
  const can = useCan();
  const isNew = selected === null && new URLSearchParams(search).has('new');
  if (isNew) return <NewCampaign onBack={() => navigate('/campaigns')} />;
  return (
    <div className={selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Campaigns">
        <header className="panel-bar">
          <h1>Campaigns</h1>
          <span className="grow" />
          <CopyButton quiet label="curl" text={curlOf('GET', `/api/v1/tags?limit=${PAGE}`)} />
          {can('messages:write') && (
            <Link className="button" href="/campaigns?new=1">
              New
            </Link>
          )}
        </header>
        <CampaignList selected={selected} />
      </section>
      {selected === null ? (
        <section className="pane-detail pane-place">
          <Empty title="Choose a campaign">
            <p>Its progress, and what can be done with it, appear here.</p>
          </Empty>
        </section>
      ) : (
        <CampaignDetail key={selected} tag={selected} />
      )}
    </div>
  );
}

function CampaignList({ selected }: { selected: string | null }) {
  const now = useNow(CLOCK_MS);
  const list = useInfiniteQuery({
    queryKey: ['campaigns'],
    queryFn: ({ pageParam, signal }) =>
      dataOf(api.GET('/api/v1/tags', { params: { query: { ...pageParam, limit: PAGE } }, signal })),
    initialPageParam: null as Cursor | null,
    getNextPageParam: ({ pagination: { next_before: before, next_before_id: id } }) =>
      before === null || id === null ? null : { before, before_id: id },
  });
  const { refetch } = list;
  useEvents(
    useCallback(
      (events: readonly HeraldEvent[] | null) => {
        if (events === null || events.some(({ type }) => type === 'message.status.updated')) void refetch();
      },
      [refetch],
    ),
  );
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="pane-rows" tabIndex={-1}>
      {list.isPending && <Skeleton lines={10} />}
      {list.error !== null && <Problem error={list.error} onRetry={() => void refetch()} />}
      {list.isSuccess && rows.length === 0 && (
        <Empty title="No campaigns yet">
          <p>A campaign is a template to many people, from a file: messages with the same tag.</p>
        </Empty>
      )}
      {rows.map((row) => (
        <Link
          key={row.tag}
          href={`/campaigns/${encodeURIComponent(row.tag)}`}
          className="pane-row"
          aria-current={row.tag === selected ? 'true' : undefined}
        >
          <bdi className="name">{row.tag}</bdi>
          <time dateTime={row.created_at}>{ago(row.created_at, now)}</time>
          <span className="last">
            {numberText(row.messages)} message{row.messages === 1 ? '' : 's'}
            {(row.counts.failed ?? 0) > 0 && ` · ${numberText(row.counts.failed ?? 0)} failed`}
          </span>
          <CampaignState campaign={row} />
        </Link>
      ))}
      {list.hasNextPage && (
        <button type="button" className="button more" onClick={() => void list.fetchNextPage()}>
          <Icon name="down" />
          Show earlier ones
        </button>
      )}
    </div>
  );
}
