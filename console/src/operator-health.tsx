import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { admin, type AdminSchemas, curlOf } from './api.ts';
import { useFresh } from './live.ts';
import { Bar } from './panes.tsx';
import { plusNumber, State, TableBox } from './parts.tsx';
import { useData } from './queries.ts';
import { duration, Loading } from './ui.tsx';

type Installation = AdminSchemas['InstallationResponse'];

const PATH = '/api/admin/v1/installation';

/** What runs, and what waits. */
export function HealthPage() {
  const installation = useData(['operator', 'installation'], (signal) => admin.GET(PATH, { signal }));
  useFresh(installation.refetch);
  const { data } = installation;
  return (
    <div className="overview operator">
      <Bar title="Health" curl={curlOf('GET', PATH)} />
      <Loading of={installation} lines={10} />
      {data !== undefined && (
        <>
          <div className="row">
            <State tone={data.ready ? 'good' : 'bad'}>{data.ready ? 'ready' : 'not ready'}</State>
            <span>
              Herald {data.version} · {data.workers === 1 ? '1 worker' : `${data.workers} workers`}
            </span>
          </div>
          {data.workers === 0 && <p className="check-line bad">No worker runs: nothing is sent or delivered.</p>}
          {data.held && (
            <p className="check-line bad">
              The database is another one than before, and nothing is sent: decide with herald restore.
            </p>
          )}
          {data.outcome_unknown > 0 && (
            <p className="check-line warn">
              {data.outcome_unknown.toLocaleString()} messages have an unknown outcome: they wait for a decision.
            </p>
          )}
          <Parts parts={data.parts} />
          <Queues queues={data.queues} />
          <Lanes lanes={data.lanes} />
        </>
      )}
    </div>
  );
}

function Parts({ parts }: Pick<Installation, 'parts'>) {
  return (
    <Table title="Readiness" columns={['Part', 'State', 'Detail']}>
      {parts.map(({ name, ok, detail }) => (
        <tr key={name}>
          <td>{name.replaceAll('_', ' ')}</td>
          <td>
            <State tone={ok ? 'good' : 'bad'}>{ok ? 'works' : 'fails'}</State>
          </td>
          <td className="group">{detail ?? '–'}</td>
        </tr>
      ))}
    </Table>
  );
}

const ageWords = (ms: number | null): string => (ms === null || ms === 0 ? '–' : duration(ms));

function Queues({ queues }: Pick<Installation, 'queues'>) {
  return (
    <Table title="Queues" columns={['Queue', 'Waiting', 'In flight', 'Oldest due']}>
      {queues.map(({ queue, waiting, in_flight: inFlight, oldest_due_ms: oldest }) => (
        <tr key={queue}>
          <td>{queue}</td>
          <td>{waiting.toLocaleString()}</td>
          <td>{inFlight.toLocaleString()}</td>
          <td>{ageWords(oldest)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Lanes({ lanes }: Pick<Installation, 'lanes'>) {
  if (lanes.length === 0) return <p className="hint">No number has messages to send.</p>;
  return (
    <Table
      title="Numbers with messages to send"
      columns={['Number', 'Queued', 'Scheduled', 'Oldest due', 'State', 'Workspace']}
    >
      {lanes.map((lane) => (
        <tr key={lane.connection_id}>
          <td>{plusNumber(lane.phone_number)}</td>
          <td>{(lane.queued + lane.in_flight).toLocaleString()}</td>
          <td>{lane.scheduled.toLocaleString()}</td>
          <td>{ageWords(lane.oldest_due_ms)}</td>
          <td>{stateWords(lane)}</td>
          <td>
            <Link href={`/operator/workspaces/${lane.workspace_id}`}>Open</Link>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function stateWords({
  connection_status: status,
  pause_reason: reason,
  draining,
}: Installation['lanes'][number]): string {
  if (status !== 'connected') return status;
  if (reason !== null) return `paused: ${reason}`;
  return draining ? 'sends' : 'waits';
}

interface TableProps {
  title: string;
  columns: readonly string[];
  children: ReactNode;
}

function Table({ title, columns, children }: TableProps) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <TableBox label={`${title}, table`} columns={columns}>
        {children}
      </TableBox>
    </section>
  );
}
