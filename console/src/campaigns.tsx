import { useLocation, useSearch } from 'wouter';
import { api, curlOf } from './api.ts';
import { CampaignDetail } from './campaign-detail.tsx';
import { CampaignState, numberText } from './campaign-parts.tsx';
import { NewCampaign } from './campaign-new.tsx';
import { ButtonLink } from './controls.tsx';
import { useFresh } from './live.ts';
import { Bar, More, PaneRow, Place } from './panes.tsx';
import { useList } from './queries.ts';
import { useCan } from './session.ts';
import { ago, Empty, Loading, useNow } from './ui.tsx';

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
        <Bar inPane title="Campaigns" curl={curlOf('GET', `/api/v1/tags?limit=${PAGE}`)}>
          {can('messages:write') && <ButtonLink label="New" href="/campaigns?new=1" />}
        </Bar>
        <CampaignList selected={selected} />
      </section>
      {selected === null ? (
        <Place title="Choose a campaign" says="Its progress, and what can be done with it, appear here." />
      ) : (
        <CampaignDetail key={selected} tag={selected} />
      )}
    </div>
  );
}

function CampaignList({ selected }: { selected: string | null }) {
  const now = useNow(CLOCK_MS);
  const { list, rows } = useList(['campaigns'], (cursor, signal) =>
    api.GET('/api/v1/tags', { params: { query: { ...cursor, limit: PAGE } }, signal }),
  );
  const { refetch } = list;
  useFresh(refetch, (type) => type === 'message.status.updated');
  return (
    <div className="pane-rows" tabIndex={-1}>
      <Loading of={list} lines={10} />
      {list.isSuccess && rows.length === 0 && (
        <Empty
          title="No campaigns yet"
          says="A campaign is a template to many people, from a file: messages with the same tag."
        />
      )}
      {rows.map((row) => (
        <PaneRow key={row.tag} href={`/campaigns/${encodeURIComponent(row.tag)}`} isSelected={row.tag === selected}>
          <bdi className="name">{row.tag}</bdi>
          <time dateTime={row.created_at}>{ago(row.created_at, now)}</time>
          <span className="last">
            {numberText(row.messages)} message{row.messages === 1 ? '' : 's'}
            {(row.counts.failed ?? 0) > 0 && ` · ${numberText(row.counts.failed ?? 0)} failed`}
          </span>
          <CampaignState campaign={row} />
        </PaneRow>
      ))}
      <More list={list} />
    </div>
  );
}
