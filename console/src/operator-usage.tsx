import { Link, useLocation, useSearch } from 'wouter';
import { admin, type AdminSchemas, curlOf } from './api.ts';
import { TextField } from './controls.tsx';
import { ListState, queryText, SectionBar } from './operator-parts.tsx';
import { Bar, More } from './panes.tsx';
import { money, plusNumber, TableBox, withParameter } from './parts.tsx';
import { useData, useList } from './queries.ts';
import { Empty, Loading } from './ui.tsx';

const PATH = '/api/admin/v1/usage';
const WORKSPACES = 20;
const present = (): string => new Date().toISOString().slice(0, 7);

type Line = AdminSchemas['WorkspaceUsageResponse']['data'][number];

const NAMES = ['Number', 'Country', 'Category'] as const;
const FIGURES = ['Submitted', 'Delivered', 'Failed', 'Received', 'Billable', 'Cost'] as const;
const keyOf = ({ workspace_id: id, connection, country, category }: Line): string =>
  `${id} ${connection} ${country} ${category}`;

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** What all workspaces sent in a month, and its estimated cost. */
export function AllUsagePage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const given = new URLSearchParams(search).get('month') ?? '';
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(given) ? given : present();
  const { list, rows } = useList(['operator', 'usage', month], (cursor, signal) =>
    admin.GET(PATH, { params: { query: { month, ...cursor, limit: WORKSPACES } }, signal }),
  );
  return (
    <div className="overview usage operator">
      <Bar title="Usage" curl={curlOf('GET', `${PATH}?${queryText({ month, format: 'csv' })}`)} />
      <div className="filters">
        <TextField
          label="Month (UTC)"
          type="month"
          value={month}
          max={present()}
          onText={(text) => navigate(`/operator/usage${withParameter(search, 'month', text)}`, { replace: true })}
        />
      </div>
      <Loading of={list} lines={10} />
      {list.isSuccess && rows.length === 0 && (
        <Empty title={list.hasNextPage ? 'Nothing among the newest workspaces' : 'Nothing was sent in this month'} />
      )}
      {rows.length > 0 && (
        <TableBox label={`Usage in ${month}`} columns={['Workspace', ...NAMES]} figures={FIGURES}>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <td className="group">
                <Link href={`/operator/workspaces/${row.workspace_id}`}>
                  <bdi>{row.workspace}</bdi>
                </Link>
              </td>
              <Figures row={row} />
            </tr>
          ))}
        </TableBox>
      )}
      <More list={list} label="Show older workspaces" />
    </div>
  );
}

/** The cells of a line, but for its workspace. */
function Figures({ row }: { row: Line }) {
  const cost = row.cost ?? row.cost_of_priced;
  const { connection, country, category } = row;
  return (
    <>
      <td>{/^\d+$/.test(connection) ? plusNumber(connection) : connection}</td>
      <td>{country === '' ? 'unknown' : country}</td>
      <td>{category === '' ? 'not reported yet' : category.replaceAll('_', ' ')}</td>
      {[row.submitted, row.delivered, row.failed, row.received, sumOf(row.billable)].map((count, index) => (
        <td key={index} className="number">
          {count.toLocaleString()}
        </td>
      ))}
      <td className="number">{cost === null ? '–' : money(cost)}</td>
    </>
  );
}

/** What a workspace sent this month. */
export function UsageSection({ workspaceId }: { workspaceId: string }) {
  const query = { month: present(), workspace_id: workspaceId };
  const usage = useData(['operator', 'usage-of', query], (signal) => admin.GET(PATH, { params: { query }, signal }));
  return (
    <section aria-label="Usage">
      <SectionBar title="Usage this month" path={`${PATH}?${queryText(query)}`} />
      <ListState list={usage} lines={2} empty={usage.data?.length === 0 && 'It has sent nothing this month.'} />
      {usage.data !== undefined && usage.data.length > 0 && (
        <TableBox label="Usage of the workspace" columns={NAMES} figures={FIGURES}>
          {usage.data.map((row) => (
            <tr key={keyOf(row)}>
              <Figures row={row} />
            </tr>
          ))}
        </TableBox>
      )}
    </section>
  );
}
