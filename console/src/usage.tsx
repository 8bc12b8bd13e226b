import { useQuery } from '@tanstack/react-query';
import { useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, Radios, SelectField, TextField } from './controls.tsx';
import { csvOf, saveAs } from './csv.ts';
import { useConnections } from './messages.tsx';
import { money, plusNumber, share, TableBox, withParameter } from './parts.tsx';
import { CopyButton, Empty, fullTime, Problem, Skeleton } from './ui.tsx';

type Row = Schemas['UsageRowResponse'];
type Figures = Schemas['UsageFiguresResponse'];

/** What a row is of, beside its month. */
const GROUPS = {
  month: 'Month',
  day: 'Day',
  template: 'Template',
  category: 'Category',
  connection: 'Number',
  country: 'Country',
} as const;
type Group = keyof typeof GROUPS;

interface Asked {
  from: string;
  until: string;
  by: Group;
}

/** Above it a table is slow; the CSV has every row. */
const MOST_ROWS = 500;

export function UsagePage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const asked = askedOf(search);
  const set = (changes: Partial<Asked>): void => {
    const next = Object.entries({ ...asked, ...changes }).reduce(
      (text, [name, value]) => withParameter(text, name, value),
      search,
    );
    navigate(`/usage${next}`, { replace: true });
  };
  const { by } = asked;
  const query = queryOf(asked);
  const usage = useQuery({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/usage', { params: { query: query ?? undefined }, signal })),
    enabled: query !== null,
  });
  const labelOf = useLabels(by);
  const rows = usage.data?.data ?? [];
  return (
    <div className="overview usage">
      <header className="row">
        <h1>Usage</h1>
        <span className="grow" />
        {query !== null && (
          <CopyButton quiet label="curl" text={curlOf('GET', `/api/v1/usage?${new URLSearchParams(query)}`)} />
        )}
        <Button
          quiet
          icon="down"
          label="CSV"
          disabled={rows.length === 0}
          onClick={() => saveAs(csvOfUsage(rows, by, labelOf), `usage-${asked.from}-${asked.until}-by-${by}.csv`)}
        />
      </header>
      <Range asked={asked} set={set} />
      {query === null ? (
        <Empty title="This time cannot be read">
          <p role="status">The first day must not be later than the last one.</p>
        </Empty>
      ) : (
        <>
          {usage.error !== null && <Problem error={usage.error} onRetry={() => void usage.refetch()} />}
          {usage.isPending && <Skeleton lines={10} />}
          {usage.data !== undefined &&
            (rows.length === 0 ? (
              <Empty title="Nothing was sent or received in this time" />
            ) : (
              <Table rows={rows} totals={usage.data.totals} by={by} labelOf={labelOf} />
            ))}
          {usage.data !== undefined && usage.data.as_of !== null && (
            <p className="hint">
              Counted until {fullTime(usage.data.as_of)}. A message counts in the month of its submission. Costs are
              estimated from the operator’s prices; Meta’s invoice is what counts.
            </p>
          )}
        </>
      )}
    </div>
  );
}

const pad = (part: number): string => String(part).padStart(2, '0');
/** As a field takes it: a day of this browser's time zone. */
const dayOf = (at: Date): string => `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

const TIMES = [
  ['This month', 0, 0],
  ['Last month', 1, 1],
  ['12 months', 11, 0],
] as const;

/** Whole months; the present one ends today. */
function monthsBack(first: number, last: number): Pick<Asked, 'from' | 'until'> {
  const now = new Date();
  const end = last === 0 ? now : new Date(now.getFullYear(), now.getMonth() - last + 1, 0);
  return { from: dayOf(new Date(now.getFullYear(), now.getMonth() - first, 1)), until: dayOf(end) };
}

function askedOf(search: string): Asked {
  const given = new URLSearchParams(search);
  const [from, until, by] = [given.get('from'), given.get('until'), given.get('by')];
  const usual = monthsBack(0, 0);
  return {
    from: isDay(from) ? from : usual.from,
    until: isDay(until) ? until : usual.until,
    by: by !== null && Object.hasOwn(GROUPS, by) ? (by as Group) : 'template',
  };
}

/** Null: the time ends before it begins. */
function queryOf({ from, until, by }: Asked) {
  const end = new Date(`${until}T00:00`);
  end.setDate(end.getDate() + 1);
  if (until < from) return null;
  return {
    since: new Date(`${from}T00:00`).toISOString(),
    until: end.toISOString(),
    interval: by === 'day' ? ('day' as const) : ('month' as const),
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(by !== 'day' && by !== 'month' && { group_by: by }),
  };
}

function Range({ asked, set }: { asked: Asked; set: (changes: Partial<Asked>) => void }) {
  const { from, until, by } = asked;
  const times = TIMES.map(([label, first, last]) => ({ label, time: monthsBack(first, last) }));
  return (
    <div className="row range">
      <Radios
        label="Time"
        value={times.find(({ time }) => time.from === from && time.until === until)?.label ?? null}
        options={times.map(({ label }) => [label, label])}
        onValue={(chosen) => set(times.find(({ label }) => label === chosen)?.time ?? {})}
      />
      <TextField label="From" type="date" value={from} onText={(text) => isDay(text) && set({ from: text })} />
      <TextField label="Until" type="date" value={until} onText={(text) => isDay(text) && set({ until: text })} />
      <SelectField label="By" value={by} options={Object.entries(GROUPS)} onValue={(value) => set({ by: value })} />
    </div>
  );
}

/** The words for what a row is of. */
function useLabels(by: Group): (row: Row) => string {
  const { data: connections } = useConnections();
  return (row) => {
    if (by === 'month' || by === 'day') return '';
    const value = row[by] ?? null;
    if (value === null) return NAMELESS[by];
    if (by === 'category') return value.replaceAll('_', ' ');
    const number = connections?.find(({ id }) => id === value);
    return number === undefined ? value : `${number.verified_name ?? ''} ${plusNumber(number.phone_number)}`.trim();
  };
}

const NAMELESS = {
  template: 'no template',
  category: 'not reported yet',
  connection: 'no number',
  country: 'unknown',
} as const;

/** With the offset of the time zone, so that the text itself has the day. */
const timeOf = (row: Row, by: Group): string => row.start.slice(0, by === 'day' ? 10 : 7);

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

interface TableProps {
  rows: readonly Row[];
  totals: Figures;
  by: Group;
  labelOf: (row: Row) => string;
}

const FIGURES = ['Submitted', 'Delivered', 'Read', 'Failed', 'Received', 'Billable', 'Cost'] as const;

function Table({ rows, totals, by, labelOf }: TableProps) {
  const hasGroup = by !== 'month' && by !== 'day';
  return (
    <>
      <TableBox
        label={`Usage by ${GROUPS[by].toLowerCase()}`}
        columns={[by === 'day' ? 'Day' : 'Month', ...(hasGroup ? [GROUPS[by]] : [])]}
        figures={FIGURES}
        foot={
          <tr>
            <th scope="row" colSpan={hasGroup ? 2 : 1}>
              In all
            </th>
            <Cells of={totals} />
          </tr>
        }
      >
        {rows.slice(0, MOST_ROWS).map((row) => (
          <tr key={`${row.start} ${hasGroup ? row[by] : ''}`}>
            <td>
              <time dateTime={row.start}>{timeOf(row, by)}</time>
            </td>
            {hasGroup && (
              <td className="group">
                <bdi>{labelOf(row)}</bdi>
              </td>
            )}
            <Cells of={row} />
          </tr>
        ))}
      </TableBox>
      {rows.length > MOST_ROWS && (
        <p className="hint">
          The first {MOST_ROWS} of {rows.length.toLocaleString()} rows; the CSV has all of them.
        </p>
      )}
    </>
  );
}

function Cells({ of }: { of: Figures }) {
  const { submitted, delivered, read, failed, received, billable, cost, cost_of_priced: priced, unpriced } = of;
  const shown = cost ?? priced;
  const without = sumOf(unpriced);
  return (
    <>
      <td className="number">{submitted.toLocaleString()}</td>
      {[delivered, read, failed].map((count, index) => (
        <td key={index} className="number">
          {count.toLocaleString()}
          {submitted > 0 && count > 0 && <small> {share(count, submitted)}</small>}
        </td>
      ))}
      <td className="number">{received.toLocaleString()}</td>
      <td className="number">{sumOf(billable).toLocaleString()}</td>
      <td className="number">
        {shown === null ? '–' : money(shown)}
        {without > 0 && <small> {without.toLocaleString()} without a price</small>}
      </td>
    </>
  );
}

const CSV_FIGURES = [
  'submitted',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
] as const;

function csvOfUsage(rows: readonly Row[], by: Group, labelOf: (row: Row) => string): string {
  const group = by === 'month' || by === 'day' ? [] : [by];
  const columns = [
    by === 'day' ? 'day' : 'month',
    ...group,
    ...CSV_FIGURES,
    'billable',
    'unpriced',
    'cost',
    'currency',
  ];
  return csvOf(
    columns,
    rows.map((row) => {
      const cost = row.cost ?? row.cost_of_priced;
      return [
        timeOf(row, by),
        ...group.map(() => labelOf(row)),
        ...CSV_FIGURES.map((name) => row[name]),
        sumOf(row.billable),
        sumOf(row.unpriced),
        cost?.amount ?? null,
        cost?.currency ?? null,
      ];
    }),
  );
}
