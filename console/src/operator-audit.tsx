import { Link, useLocation, useSearch } from 'wouter';
import { admin, type AdminSchemas, curlOf } from './api.ts';
import { useFresh } from './live.ts';
import { PAGE, queryText } from './operator-parts.tsx';
import { Bar, More } from './panes.tsx';
import { TableBox, Time, withParameter } from './parts.tsx';
import { useList } from './queries.ts';
import { Choice, Empty, ListSearch, Loading } from './ui.tsx';

type Change = AdminSchemas['AuditEventResponse'];

const PATH = '/api/admin/v1/audit';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What is asked for mostly; the address takes every other one. */
const ACTIONS = [
  'workspace.created',
  'workspace.changed',
  'workspace.limits_changed',
  'workspace.subscription_changed',
  'workspace.deletion_started',
  'workspace.deleted',
  'connection.added',
  'connection.changed',
  'connection.disconnected',
  'key.created',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'operator_key.created',
  'operator_key.revoked',
  'usage_rates.set',
] as const;

const ACTORS: Readonly<Record<Change['actor_kind'], string>> = {
  key: 'key',
  operator: 'command',
  operator_key: 'operator key',
  person: 'person',
  setup_link: 'setup link',
  service: 'Herald',
};

/** Who changed what and when. */
export function AuditPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const action = ACTIONS.find((each) => each === given.get('action'));
  const workspace = given.get('workspace_id') ?? '';
  const actor = given.get('actor') ?? '';
  const filters = {
    ...(action && { action }),
    ...(UUID.test(workspace) && { workspace_id: workspace }),
    ...(actor !== '' && { actor }),
  };
  const { list, rows } = useList(['operator', 'audit', filters], (cursor, signal) =>
    admin.GET(PATH, { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
  );
  useFresh(list.refetch);
  const choose = (name: string) => (value: string) =>
    navigate(`/operator/audit${withParameter(search, name, value)}`, { replace: true });
  return (
    <div className="overview operator">
      <Bar title="Audit" curl={curlOf('GET', `${PATH}?${queryText({ ...filters, limit: PAGE })}`)} />
      <div className="filters">
        <Choice label="Any change" value={action ?? ''} onChange={choose('action')}>
          {ACTIONS.map((each) => [each, each])}
        </Choice>
        <ListSearch label="Workspace ID" value={workspace} onText={choose('workspace_id')} />
        <ListSearch label="Key or account" value={actor} onText={choose('actor')} />
      </div>
      {workspace !== '' && !UUID.test(workspace) && <p className="hint">Write the whole id of the workspace.</p>}
      <Loading of={list} lines={10} />
      {list.isSuccess && rows.length === 0 && <Empty title="No change matches" />}
      {rows.length > 0 && (
        <TableBox label="Changes" columns={['When', 'Change', 'Who', 'From', 'What', 'Workspace']}>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Time at={row.occurred_at} />
              </td>
              <td>{row.action}</td>
              <td>
                {ACTORS[row.actor_kind]} <bdi>{row.actor ?? ''}</bdi>
              </td>
              <td>{row.address ?? '–'}</td>
              <td className="group">
                <bdi>{detailsWords(row.details)}</bdi>
              </td>
              <td>
                {row.workspace_id === null ? '–' : <Link href={`/operator/workspaces/${row.workspace_id}`}>Open</Link>}
              </td>
            </tr>
          ))}
        </TableBox>
      )}
      <More list={list} />
    </div>
  );
}

function detailsWords(details: Change['details']): string {
  const given = Object.entries(details ?? {}).filter(([, value]) => value !== null);
  return given
    .map(
      ([name, value]) => `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join('; ');
}
