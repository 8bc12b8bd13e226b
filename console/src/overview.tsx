import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Lines, type Part, type Slot, StackedBars } from './charts.tsx';
import { Radios } from './controls.tsx';
import { useConnections } from './messages.tsx';
import { Bar } from './panes.tsx';
import { money, plusNumber, QUALITY_WORDS, share, State } from './parts.tsx';
import { useCan } from './session.ts';
import { useWebhook } from './webhook-state.ts';
import { Icon } from './icon.tsx';
import { ago, clockTime, duration, fullTime, Loading, startTime, useNow } from './ui.tsx';

type Usage = Schemas['UsageResponse'];
type Figures = Schemas['UsageFiguresResponse'];
type Connection = Schemas['ConnectionResponse'];

const RANGES = {
  '24h': { label: '24 hours', interval: 'hour', slots: 24 },
  '7d': { label: '7 days', interval: 'day', slots: 7 },
  '30d': { label: '30 days', interval: 'day', slots: 30 },
} as const;
type Range = keyof typeof RANGES;

const LOOK_MS = 30_000;
const CLOCK_MS = 15_000;

export function OverviewPage() {
  const [, navigate] = useLocation();
  const given = new URLSearchParams(useSearch()).get('range');
  const range: Range = given !== null && Object.hasOwn(RANGES, given) ? (given as Range) : '24h';
  const now = useNow(LOOK_MS);
  const starts = useMemo(() => startsOf(range, now), [range, now]);
  const query = {
    since: new Date(starts[0] ?? now).toISOString(),
    interval: RANGES[range].interval,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  const usage = useQuery({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/usage', { params: { query }, signal })),
    refetchInterval: LOOK_MS,
    placeholderData: (before) => before,
  });
  return (
    <div className="overview">
      <Bar title="Overview" curl={curlOf('GET', `/api/v1/usage?${new URLSearchParams(query)}`)}>
        <Radios
          label="Time"
          value={range}
          options={Object.entries(RANGES).map(([name, { label }]) => [name, label])}
          onValue={(name) => navigate(`/overview?range=${name}`, { replace: true })}
        />
      </Bar>
      <FirstSteps />
      <Loading of={usage} lines={10} />
      {usage.data !== undefined && <Counted usage={usage.data} starts={starts} range={range} since={query.since} />}
      <div className="card-grid">
        <NumbersCard />
        <WebhookCard />
      </div>
    </div>
  );
}

/** Where each interval begins: whole hours, or whole days of this browser's time zone. The last one is the present. */
function startsOf(range: Range, now: number): number[] {
  const { interval, slots } = RANGES[range];
  return Array.from({ length: slots }, (_, index) => {
    const back = slots - 1 - index;
    const at = new Date(now);
    at.setMinutes(0, 0, 0);
    // Hours by their length: a day on which clocks change has 23 or 25.
    if (interval === 'hour') return at.getTime() - back * 3_600_000;
    at.setHours(0);
    at.setDate(at.getDate() - back);
    return at.getTime();
  });
}

const FEWEST_DAYS = 7;

/** From the first day with messages on, a week at least: a workspace that is new has no month to look back on. */
function withoutEmptyDays(
  starts: readonly number[],
  rows: ReadonlyMap<number, Figures>,
  range: Range,
): readonly number[] {
  if (range === '24h') return starts;
  const first = starts.findIndex((start) => rows.has(start));
  const least = starts.length - FEWEST_DAYS;
  return starts.slice(first === -1 ? least : Math.min(first, least));
}

const PARTS: readonly Part[] = [
  { name: 'read', kind: 'read' },
  { name: 'delivered', kind: 'delivered' },
  { name: 'on the way', kind: 'waiting' },
  { name: 'unknown', kind: 'unknown' },
  { name: 'failed', kind: 'failed' },
];

/**
 * Parts that add up to what was submitted. The states are cumulative, and a failed message may have been accepted before: so
 * those that wait and those that WhatsApp has are one part.
 */
function partsOf(row: Figures | undefined): number[] {
  if (row === undefined) return PARTS.map(() => 0);
  const { submitted, delivered, read, failed, outcome_unknown: unknown } = row;
  const atLeastNone = (count: number): number => Math.max(count, 0);
  const onTheWay = atLeastNone(submitted - delivered - failed - unknown);
  return [read, atLeastNone(delivered - read), onTheWay, unknown, failed];
}

const RECEIVED: readonly Part[] = [{ name: 'received', kind: 'received' }];
const TIMES: readonly Part[] = [
  { name: 'half of them within (p50)', kind: 'p50' },
  { name: '95 of 100 within (p95)', kind: 'p95' },
];

interface CountedProps {
  usage: Usage;
  starts: readonly number[];
  range: Range;
  since: string;
}

function Counted({ usage, starts, range, since }: CountedProps) {
  const now = useNow(CLOCK_MS);
  const { totals, as_of: asOf } = usage;
  const rows = useMemo(() => new Map(usage.data.map((row) => [Date.parse(row.start), row])), [usage.data]);
  const shown = useMemo(() => withoutEmptyDays(starts, rows, range), [starts, rows, range]);
  const slotsOf = (values: (row: Figures | undefined) => number[]): Slot[] =>
    shown.map((start) => ({ ...namesOf(start, range), values: values(rows.get(start)) }));
  const { cost, unpriced } = totals;
  const priced = cost ?? totals.cost_of_priced;
  const listOf = (filter: string): string => `/messages?${new URLSearchParams({ q: `${filter} since:${since}` })}`;
  return (
    <>
      <dl className="tiles">
        <Tile name="Submitted" value={totals.submitted} hint="taken by Herald" href={listOf('direction:out')} />
        <Tile name="Delivered" value={share(totals.delivered, totals.submitted)} hint={counted(totals.delivered)} />
        <Tile name="Read" value={share(totals.read, totals.submitted)} hint={counted(totals.read)} />
        <Tile
          name="Failed"
          value={totals.failed}
          hint={share(totals.failed, totals.submitted)}
          href={listOf('status:failed')}
          isBad={totals.failed > 0}
        />
        <Tile name="Received" value={totals.received} hint="written by customers" href={listOf('direction:in')} />
        <Tile
          name="Cost, estimated"
          value={priced === null ? '–' : money(priced)}
          hint={priced === null ? 'no prices are set' : costHint(unpriced)}
        />
      </dl>
      <p className="hint">
        {asOf === null
          ? 'Nothing is counted yet: figures come within 30 seconds.'
          : `Counted ${ago(asOf, now)} ago`.replace('now ago', 'just now')}
      </p>
      <div className="card-grid">
        <Card title="Messages sent" isWide>
          <StackedBars title="Messages sent, by state" parts={PARTS} slots={slotsOf(partsOf)} />
        </Card>
        <Card title="Messages received">
          <StackedBars title="Messages received" parts={RECEIVED} slots={slotsOf((row) => [row?.received ?? 0])} />
        </Card>
        <Card title="From accepted to delivered">
          {totals.delivery_ms === null ? (
            <p className="hint">Nothing was delivered in this time.</p>
          ) : (
            <Lines
              title="Time from accepted to delivered"
              parts={TIMES}
              slots={slotsOf((row) => [row?.delivery_ms?.p50 ?? Number.NaN, row?.delivery_ms?.p95 ?? Number.NaN])}
              format={duration}
            />
          )}
        </Card>
        <Card title="Why messages failed">
          <Failures failures={totals.failures} since={since} />
        </Card>
        <Card title="What WhatsApp billed">
          <Counts counts={totals.billable} empty="WhatsApp has reported nothing billable in this time." />
          {Object.keys(totals.free).length > 0 && (
            <>
              <h3>Free</h3>
              <Counts counts={totals.free} empty="" />
            </>
          )}
          {Object.keys(unpriced).length > 0 && <p className="hint">Without a price: {namesOfCounts(unpriced)}.</p>}
          {cost !== null && <p className="hint">{money(cost)}, estimated; Meta’s invoice is what counts.</p>}
        </Card>
      </div>
    </>
  );
}

function namesOf(start: number, range: Range): { label: string; title: string } {
  const at = new Date(start);
  const time = at.toISOString();
  if (range === '24h') return { label: clockTime(time).slice(0, 5), title: startTime(time, 'hour') };
  const label = at.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return { label, title: startTime(time, 'day') };
}

const namesOfCounts = (counts: Record<string, number>): string =>
  byCount(counts)
    .map(([name, count]) => `${count.toLocaleString()} ${name.replaceAll('_', ' ')}`)
    .join(', ');
const costHint = (unpriced: Record<string, number>): string =>
  Object.keys(unpriced).length === 0
    ? 'by the operator’s prices'
    : `without ${namesOfCounts(unpriced)}: they have no price`;
const counted = (count: number): string => `${count.toLocaleString()} message${count === 1 ? '' : 's'}`;

interface TileProps {
  name: string;
  value: string | number;
  hint: string;
  /** The messages that were counted. */
  href?: string;
  isBad?: boolean;
}

function Tile({ name, value, hint, href, isBad = false }: TileProps) {
  const figure = <b>{typeof value === 'number' ? value.toLocaleString() : value}</b>;
  return (
    <div className={isBad ? 'tile is-bad' : 'tile'}>
      <dt>{name}</dt>
      <dd>
        {href === undefined ? (
          figure
        ) : (
          <Link href={href} aria-label={`${name}: ${value}. Show them`}>
            {figure}
          </Link>
        )}
        <small>{hint}</small>
      </dd>
    </div>
  );
}

function Card({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  return (
    <section className={isWide ? 'card is-wide' : 'card'} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const byCount = (counts: Record<string, number>): [string, number][] =>
  Object.entries(counts).sort(([, a], [, b]) => b - a);

/** Each cause leads to its messages. */
function Failures({ failures, since }: { failures: Record<string, number>; since: string }) {
  const entries = byCount(failures);
  const most = entries[0]?.[1] ?? 1;
  if (entries.length === 0) return <p className="hint">No message failed in this time.</p>;
  return (
    <ul className="causes">
      {entries.map(([cause, count]) => (
        <li key={cause}>
          <Link href={`/messages?${new URLSearchParams({ q: `status:failed category:${cause} since:${since}` })}`}>
            <span>{cause.replaceAll('_', ' ')}</span>
            <b>{count}</b>
            <i aria-hidden="true" style={{ width: `${(count / most) * 100}%` }} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Counts({ counts, empty }: { counts: Record<string, number>; empty: string }) {
  const entries = byCount(counts);
  if (entries.length === 0) return empty === '' ? null : <p className="hint">{empty}</p>;
  return (
    <dl className="facts">
      {entries.map(([name, count]) => (
        <div key={name}>
          <dt>{name.replaceAll('_', ' ')}</dt>
          <dd>{count.toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  token_refused: 'WhatsApp refused its token. The operator must set a new one.',
  disconnected_by_operator: 'The operator disconnected it.',
  platform: 'WhatsApp says so. The operator must look at the account.',
  account_removed: 'The account was removed from the app or from WhatsApp.',
  payment_missing: 'The account has no valid payment method. The operator must add or repair it.',
};

function NumbersCard() {
  const connections = useConnections();
  const { data } = connections;
  const can = useCan();
  if (!can('connections:read')) return null;
  return (
    <Card title="Numbers">
      <Loading of={connections} lines={3} />
      {data?.length === 0 && (
        <p className="hint">
          None yet: the operator adds one with <code>herald connection add</code>.
        </p>
      )}
      <ul className="numbers">
        {data?.map((connection) => (
          <NumberLine key={connection.id} connection={connection} />
        ))}
      </ul>
    </Card>
  );
}

const TONES = { connected: 'good', restricted: 'warn', pending: 'warn', disconnected: 'bad' } as const;

function NumberLine({ connection }: { connection: Connection }) {
  const { id, status, status_reason: reason, quality_rating: quality, messaging_limit: limit } = connection;
  const name = (
    <span className="peer">
      <bdi>{connection.verified_name ?? 'Without a name'}</bdi>
      <small>{plusNumber(connection.phone_number)}</small>
    </span>
  );
  return (
    <li>
      <Link href={`/numbers/${id}`}>{name}</Link>
      <State tone={TONES[status]}>{status}</State>
      <small>
        {quality !== null && QUALITY_WORDS[quality] !== undefined && `${QUALITY_WORDS[quality]} quality · `}
        {limit !== null && `${limit.replace('TIER_', '').toLowerCase()} people in 24 h · `}
        {connection.throughput_per_second} messages a second
      </small>
      {reason !== null && <small className="bad">{REASONS[reason] ?? reason}</small>}
    </li>
  );
}

function WebhookCard() {
  const can = useCan();
  const webhook = useWebhook();
  const { data } = webhook;
  if (!can('webhooks:read')) return null;
  const recent = data?.recent_deliveries ?? [];
  const failed = recent.filter(({ status }) => status === 'failed').length;
  return (
    <Card title="Webhook">
      <Loading of={webhook} lines={2} />
      {data === null && (
        <p className="hint">
          There is none. <Link href="/webhook">Set one</Link>
        </p>
      )}
      {data !== undefined && data !== null && (
        <>
          <p className="webhook-url">
            <bdi>{data.url}</bdi>
          </p>
          <p className="hint">
            {data.disabled_reason !== null
              ? 'Herald turned it off. '
              : !data.active
                ? 'It is paused. '
                : data.failing_since !== null
                  ? `Every attempt has failed since ${fullTime(data.failing_since)}. `
                  : 'It takes what Herald sends. '}
            {recent.length > 0 && `${failed} of the last ${recent.length} attempts failed. `}
            <Link href="/webhook">Open</Link>
          </p>
        </>
      )}
    </Card>
  );
}

/** What a new workspace does first; gone once there is a message. */
function FirstSteps() {
  const can = useCan();
  const { data: connections } = useConnections();
  const { data: webhook } = useWebhook();
  const { data: first } = useQuery({
    queryKey: ['first-message'],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET('/api/v1/messages', { params: { query: { limit: 1 } }, signal }))).data.length > 0,
    refetchInterval: ({ state }) => (state.data === true ? false : LOOK_MS),
  });
  if (first !== false) return null;
  const isConnected = connections?.some(({ status }) => status === 'connected') === true;
  return (
    <ol className="first-steps" aria-label="First steps">
      <Step isDone={isConnected} title="Connect a number">
        The operator adds one with <code>herald connection add</code>.
      </Step>
      <Step isDone={false} title="Send the first message">
        {can('messages:write') ? <Link href="/send">Send one</Link> : 'With a key that has the scope messages:write.'}
      </Step>
      <Step isDone={webhook !== undefined && webhook !== null} title="Set a webhook">
        Herald posts there what customers write. {can('webhooks:read') && <Link href="/webhook">Set one</Link>}
      </Step>
    </ol>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={isDone ? 'is-done' : ''}>
      {isDone && <Icon name="check" />}
      <b>{title}</b>
      {isDone && <span className="hidden">(done)</span>}
      <span className="hint">{children}</span>
    </li>
  );
}
