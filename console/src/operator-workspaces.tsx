import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearch } from 'wouter';
import { admin, curlOf, dataOf } from './api.ts';
import { Button, TextField } from './controls.tsx';
import { FormDialog, useRun } from './dialog.tsx';
import { useGo } from './go.ts';
import { useFresh } from './live.ts';
import { PAGE, Payment, queryText } from './operator-parts.tsx';
import { WorkspaceDetail } from './operator-workspace.tsx';
import { Bar, More, PaneRow, Place } from './panes.tsx';
import { withParameter } from './parts.tsx';
import { useList } from './queries.ts';
import { useCan } from './session.ts';
import { ago, Empty, ListSearch, Loading, useNow } from './ui.tsx';

const PATH = '/api/admin/v1/workspaces';
const CLOCK_MS = 30_000;

/** All workspaces: found by their name or by the operator's own id. */
export function WorkspacesPage({ selected }: { selected: string | null }) {
  const search = useSearch();
  const navigate = useGo();
  const can = useCan();
  const [isAdding, setAdding] = useState(false);
  const given = new URLSearchParams(search);
  const filters = {
    name: given.get('name') ?? undefined,
    external_id: given.get('external_id') ?? undefined,
  };
  const suffix = search === '' ? '' : `?${search}`;
  const path = selected === null ? '/operator/workspaces' : `/operator/workspaces/${selected}`;
  const choose = (name: string) => (value: string) =>
    navigate(path + withParameter(search, name, value), { replace: true });
  return (
    <div className={selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Workspaces">
        <Bar inPane title="Workspaces" curl={curlOf('GET', `${PATH}?${queryText({ ...filters, limit: PAGE })}`)}>
          {can('operator:workspaces:write') && <Button label="New" onClick={() => setAdding(true)} />}
        </Bar>
        <div className="filters pane-filters">
          <ListSearch label="Name" value={filters.name ?? ''} onText={choose('name')} />
          <ListSearch label="Your own id" value={filters.external_id ?? ''} onText={choose('external_id')} />
        </div>
        <WorkspaceList filters={filters} selected={selected} suffix={suffix} />
      </section>
      {selected === null ? (
        <Place title="Choose a workspace" says="Its numbers, keys, limits and usage appear here." />
      ) : (
        <WorkspaceDetail key={selected} id={selected} />
      )}
      {isAdding && (
        <NewWorkspace
          onClose={(id) => {
            setAdding(false);
            if (id !== null) navigate(`/operator/workspaces/${id}`);
          }}
        />
      )}
    </div>
  );
}

interface ListProps {
  filters: { name: string | undefined; external_id: string | undefined };
  selected: string | null;
  suffix: string;
}

function WorkspaceList({ filters: { name, external_id }, selected, suffix }: ListProps) {
  const now = useNow(CLOCK_MS);
  const filters = { ...(name !== undefined && { name }), ...(external_id !== undefined && { external_id }) };
  const { list, rows } = useList(['operator', 'workspaces', filters], (cursor, signal) =>
    admin.GET(PATH, { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
  );
  useFresh(list.refetch);
  return (
    <div className="pane-rows" tabIndex={-1}>
      <Loading of={list} lines={10} />
      {list.isSuccess && rows.length === 0 && (
        <Empty
          title={suffix === '' ? 'No workspaces yet' : 'No workspace matches'}
          says={suffix === '' ? 'Make one for each customer.' : 'The name is compared from its beginning.'}
        />
      )}
      {rows.map((row) => (
        <PaneRow key={row.id} href={`/operator/workspaces/${row.id}${suffix}`} isSelected={row.id === selected}>
          <bdi className="name">{row.name}</bdi>
          <time dateTime={row.created_at}>{ago(row.created_at, now)}</time>
          <span className="last">
            <bdi>{row.external_id ?? row.id}</bdi>
          </span>
          <Payment workspace={row} now={now} />
        </PaneRow>
      ))}
      <More list={list} />
    </div>
  );
}

function NewWorkspace({ onClose }: { onClose: (id: string | null) => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [externalId, setExternalId] = useState('');
  const form = useRun();
  const body = { name: name.trim(), ...(externalId.trim() !== '' && { external_id: externalId.trim() }) };
  const submit = async (): Promise<void> => {
    const { data } = await dataOf(admin.POST(PATH, { body }));
    await queries.invalidateQueries({ queryKey: ['operator', 'workspaces'] });
    onClose(data.id);
  };
  return (
    <FormDialog
      title="New workspace"
      label="Make it"
      disabled={body.name === ''}
      form={form}
      submit={submit}
      curl={curlOf('POST', PATH, body)}
      onClose={() => onClose(null)}
    >
      <TextField label="Name" value={name} maxLength={200} onText={setName} />
      <TextField
        label="Your own id of the customer (optional)"
        value={externalId}
        maxLength={200}
        onText={setExternalId}
      />
    </FormDialog>
  );
}
