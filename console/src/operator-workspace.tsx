import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { BackLink, Button, TextField } from './controls.tsx';
import { AskButton, useRun } from './dialog.tsx';
import { useFresh } from './live.ts';
import { KeysSection } from './operator-keys.tsx';
import { NumbersSection } from './operator-connections.tsx';
import { Payment } from './operator-parts.tsx';
import { SetupLinksSection } from './operator-setup-links.tsx';
import { UsageSection } from './operator-usage.tsx';
import { Facts, Time } from './parts.tsx';
import { PeopleSection } from './people.tsx';
import { openWorkspace } from './person.ts';
import { useData } from './queries.ts';
import { useCan, useSession } from './session.ts';
import { CopyButton, Loading, Problem, useNow } from './ui.tsx';

type Workspace = AdminSchemas['WorkspaceResponse'];
type Change = AdminSchemas['ChangeWorkspaceRequest'];

const CLOCK_MS = 30_000;
const pathOf = (id: string): string => `/api/admin/v1/workspaces/${id}`;

export function WorkspaceDetail({ id }: { id: string }) {
  const can = useCan();
  const now = useNow(CLOCK_MS);
  const workspace = useData(['operator', 'workspace', id], (signal) =>
    admin.GET('/api/admin/v1/workspaces/{workspace_id}', { params: { path: { workspace_id: id } }, signal }),
  );
  useFresh(workspace.refetch);
  const { data } = workspace;
  return (
    <section className="pane-detail panel" aria-label="Workspace">
      <header className="panel-bar">
        <BackLink href="/operator/workspaces" />
        <h2>
          <bdi>{data?.name ?? 'Workspace'}</bdi>
        </h2>
        <span className="grow" />
        <CopyButton quiet label="curl" text={curlOf('GET', pathOf(id))} />
      </header>
      <div className="panel-body">
        <Loading of={workspace} lines={8} />
        {data !== undefined && (
          <>
            <Payment workspace={data} now={now} />
            {data.state === 'active' && <OpenPages id={id} />}
            <Facts
              of={[
                ['Id', <code key="id">{data.id}</code>],
                ['Your own id', data.external_id === null ? null : <bdi key="external">{data.external_id}</bdi>],
                ['Paid until', data.api_paid_until === null ? null : <Time key="paid" at={data.api_paid_until} />],
                ['Time zone', data.time_zone],
                [
                  'Requests',
                  `${data.effective.rate_per_second} a second, ${data.effective.rate_burst} at once, for each key`,
                ],
                ['Messages a day', data.messages_per_day?.toLocaleString() ?? 'any number'],
                ['Spending a month', data.spend_per_month ?? 'any amount'],
                ['Files', storageWords(data)],
                ['Made', <Time key="made" at={data.created_at} />],
              ]}
            />
            {data.state === 'active' && can('operator:workspaces:write') && <Settings workspace={data} />}
            {can('operator:connections:read') && <NumbersSection workspaceId={id} isActive={data.state === 'active'} />}
            {can('operator:connections:read') && (
              <SetupLinksSection workspaceId={id} isActive={data.state === 'active'} />
            )}
            {can('operator:usage:read') && <UsageSection workspaceId={id} />}
            {can('operator:people:read') && <PeopleSection workspaceId={id} isActive={data.state === 'active'} />}
            {can('operator:keys:read') && <KeysSection workspaceId={id} isActive={data.state === 'active'} />}
            {data.state === 'active' && can('operator:workspaces:write') && <Deletion workspace={data} />}
          </>
        )}
      </div>
    </section>
  );
}

/** A person with the role operator may see the pages of every workspace; an operator key has none. */
function OpenPages({ id }: { id: string }) {
  const { person } = useSession();
  const [, navigate] = useLocation();
  const { busy, error, run } = useRun();
  if (person?.person.is_operator !== true) return null;
  const open = async (): Promise<void> => {
    await openWorkspace(id);
    navigate('/overview');
  };
  return (
    <div className="row">
      <Button label="Open its pages" disabled={busy} onClick={() => void run(open)} />
      {error !== null && <Problem error={error} />}
    </div>
  );
}

const MEGABYTE = 1_048_576;
const megabytes = (bytes: number): string =>
  `${(bytes / MEGABYTE).toLocaleString(undefined, { maximumFractionDigits: 1 })} MB`;

function storageWords({ storage_used_bytes: used, effective: { storage_limit_bytes: limit } }: Workspace): string {
  return limit === null ? `${megabytes(used)}, no limit` : `${megabytes(used)} of ${megabytes(limit)}`;
}

/** Fields of the form; empty: the default of the service, or any number. */
const FIELDS = [
  ['name', 'Name', 'text'],
  ['api_paid_until', 'Paid until (empty: not paid)', 'datetime-local'],
  ['messages_per_day', 'Messages a day (empty: any number)', 'number'],
  ['spend_per_month', 'Spending a month (empty: any amount)', 'text'],
  ['rate_per_second', 'Requests a second of each key (empty: the default)', 'number'],
  ['time_zone', 'Time zone', 'text'],
] as const;
type Draft = Record<(typeof FIELDS)[number][0], string>;

const pad = (part: number): string => String(part).padStart(2, '0');

/** As a field takes it: a minute of this browser's time zone. */
function minuteOf(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

const draftOf = (workspace: Workspace): Draft => ({
  name: workspace.name,
  api_paid_until: minuteOf(workspace.api_paid_until),
  messages_per_day: String(workspace.messages_per_day ?? ''),
  spend_per_month: workspace.spend_per_month ?? '',
  rate_per_second: String(workspace.rate_per_second ?? ''),
  time_zone: workspace.time_zone,
});

const wholeOrNull = (text: string): number | null => (text === '' ? null : Number(text));

/** Only what differs is sent. */
function changeOf(workspace: Workspace, draft: Draft): Change {
  const before = draftOf(workspace);
  const differs = (name: keyof Draft): boolean => draft[name].trim() !== before[name];
  const paid = draft.api_paid_until;
  return {
    ...(differs('name') && { name: draft.name.trim() }),
    ...(differs('api_paid_until') && { api_paid_until: paid === '' ? null : new Date(paid).toISOString() }),
    ...(differs('messages_per_day') && { messages_per_day: wholeOrNull(draft.messages_per_day) }),
    ...(differs('spend_per_month') && { spend_per_month: draft.spend_per_month.trim() || null }),
    ...(differs('rate_per_second') && { rate_per_second: wholeOrNull(draft.rate_per_second) }),
    ...(differs('time_zone') && { time_zone: draft.time_zone.trim() }),
  };
}

function Settings({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  // As it was when the form was opened: what others change meanwhile is no change of this form.
  const [before, setBefore] = useState(workspace);
  const [draft, setDraft] = useState(() => draftOf(workspace));
  const { error, run } = useRun();
  const change = changeOf(before, draft);
  const isSame = Object.keys(change).length === 0;
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const params = { path: { workspace_id: workspace.id } };
    void run(async () => {
      await dataOf(admin.PATCH('/api/admin/v1/workspaces/{workspace_id}', { params, body: change }));
      await queries.invalidateQueries({ queryKey: ['operator'] });
      setOpen(false);
    });
  };
  if (!isOpen) {
    return (
      <div className="row">
        <Button
          label="Change"
          onClick={() => {
            setBefore(workspace);
            setDraft(draftOf(workspace));
            setOpen(true);
          }}
        />
      </div>
    );
  }
  return (
    <form className="form" aria-label="Change the workspace" onSubmit={save}>
      {FIELDS.map(([name, label, type]) => (
        <TextField
          key={name}
          label={label}
          type={type}
          min={type === 'number' ? 0 : undefined}
          value={draft[name]}
          onText={(text) => setDraft({ ...draft, [name]: text })}
        />
      ))}
      {error !== null && <Problem error={error} />}
      <div className="row">
        <Button submit primary label="Save" disabled={isSame || draft.name.trim() === ''} />
        <Button label="Back" onClick={() => setOpen(false)} />
        <CopyButton quiet label="curl" text={curlOf('PATCH', pathOf(workspace.id), change)} />
      </div>
    </form>
  );
}

function Deletion({ workspace: { id, name } }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <section aria-label="Delete">
      <div className="row">
        <AskButton
          button="Delete the workspace"
          title={`Delete ${name}?`}
          isRisky
          says="Its keys and numbers end within seconds, then all its messages, contacts and files are removed. This cannot be undone."
          label="Delete everything"
          curl={curlOf('DELETE', pathOf(id))}
          run={() =>
            dataOf(admin.DELETE('/api/admin/v1/workspaces/{workspace_id}', { params: { path: { workspace_id: id } } }))
          }
          onDone={() => {
            void queries.invalidateQueries({ queryKey: ['operator'] });
            navigate('/operator/workspaces');
          }}
        />
      </div>
    </section>
  );
}
