import { Link, useLocation, useSearch } from 'wouter';
import { admin, type AdminSchemas, curlOf } from './api.ts';
import { useFresh } from './live.ts';
import { NUMBER_TONES, PAGE, queryText } from './operator-parts.tsx';
import { Bar, More } from './panes.tsx';
import { plusNumber, Quality, State, TableBox, withParameter } from './parts.tsx';
import { useData, useList } from './queries.ts';
import { useCan } from './session.ts';
import { Choice, Empty, ListSearch, Loading } from './ui.tsx';

type Lane = AdminSchemas['LaneResponse'];

const PATH = '/api/admin/v1/connections';
const STATUSES = ['connected', 'pending', 'restricted', 'disconnected'] as const;

/** Numbers of all workspaces: state, quality and what waits. */
export function AllNumbersPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const can = useCan();
  const given = new URLSearchParams(search);
  const status = STATUSES.find((each) => each === given.get('status'));
  const id = given.get('phone_number_id') ?? '';
  const isId = /^\d{5,25}$/.test(id);
  const filters = { ...(status && { status }), ...(isId && { phone_number_id: id }) };
  const { list, rows } = useList(['operator', 'numbers', filters], (cursor, signal) =>
    admin.GET(PATH, { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
  );
  useFresh(list.refetch);
  const lanes = useLanes(can('operator:installation:read'));
  const choose = (name: string) => (value: string) =>
    navigate(`/operator/numbers${withParameter(search, name, value)}`, { replace: true });
  return (
    <div className="overview operator">
      <Bar title="Numbers" curl={curlOf('GET', `${PATH}?${queryText({ ...filters, limit: PAGE })}`)} />
      <div className="filters">
        <Choice label="Any state" value={status ?? ''} onChange={choose('status')}>
          {STATUSES.map((each) => [each, each])}
        </Choice>
        <ListSearch label="Phone number ID" value={id} onText={choose('phone_number_id')} />
      </div>
      {id !== '' && !isId && <p className="hint">A phone number ID has 5 to 25 digits.</p>}
      <Loading of={list} lines={10} />
      {list.isSuccess && rows.length === 0 && (
        <Empty
          title={search === '' ? 'No numbers yet' : 'No number matches'}
          says="A number is added in its workspace."
        />
      )}
      {rows.length > 0 && (
        <TableBox
          label="Numbers of all workspaces"
          columns={['Number', 'State', 'Quality', 'Waits', 'Phone number ID', 'Workspace']}
        >
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="group">
                <bdi>{row.verified_name ?? ''}</bdi> {plusNumber(row.phone_number)}
              </td>
              <td>
                <State tone={NUMBER_TONES[row.status] ?? 'none'}>{row.status}</State>
                {row.status_reason !== null && <small> {row.status_reason.replaceAll('_', ' ')}</small>}
              </td>
              <td>
                <Quality rating={row.quality_rating} />
              </td>
              <td>{waitsWords(lanes?.get(row.id), lanes !== null)}</td>
              <td>
                <code>{row.phone_number_id}</code>
              </td>
              <td>
                <Link href={`/operator/workspaces/${row.workspace_id}`}>Open</Link>
              </td>
            </tr>
          ))}
        </TableBox>
      )}
      <More list={list} />
    </div>
  );
}

/** Null: the key may not see what waits. */
function useLanes(mayRead: boolean): ReadonlyMap<string, Lane> | null {
  const installation = useData(
    ['operator', 'installation'],
    (signal) => admin.GET('/api/admin/v1/installation', { signal }),
    {
      enabled: mayRead,
    },
  );
  return installation.data === undefined
    ? null
    : new Map(installation.data.lanes.map((lane) => [lane.connection_id, lane]));
}

function waitsWords(lane: Lane | undefined, isKnown: boolean): string {
  if (lane === undefined) return isKnown ? 'nothing' : '–';
  const waiting = `${(lane.queued + lane.in_flight).toLocaleString()} to send`;
  const scheduled = lane.scheduled === 0 ? '' : `, ${lane.scheduled.toLocaleString()} later`;
  return `${waiting}${scheduled}${lane.pause_reason === null ? '' : `; paused: ${lane.pause_reason}`}`;
}
