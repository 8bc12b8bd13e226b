import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { Button, Checks, TextField } from './controls.tsx';
import { AskButton, Dialog, FormDialog, useRun } from './dialog.tsx';
import { useFresh } from './live.ts';
import { ListState, SectionBar, ToCopy } from './operator-parts.tsx';
import { More } from './panes.tsx';
import { State } from './parts.tsx';
import { useList } from './queries.ts';
import { useManages } from './session.ts';
import { ago, fullTime, useNow } from './ui.tsx';

type Key = AdminSchemas['ApiKeyResponse'];
type Scope = Key['scopes'][number];

const CLOCK_MS = 30_000;
const KEYS = 20;
const SCOPES: readonly Scope[] = [
  'messages:write',
  'messages:read',
  'connections:read',
  'templates:read',
  'templates:write',
  'profile:read',
  'profile:write',
  'media:read',
  'media:write',
  'webhooks:read',
  'webhooks:write',
];
const PATH = '/api/admin/v1/workspaces/{workspace_id}/keys';
const pathOf = (workspaceId: string): string => `/api/admin/v1/workspaces/${workspaceId}/keys`;

interface SectionProps {
  workspaceId: string;
  isActive: boolean;
}

export function KeysSection({ workspaceId, isActive }: SectionProps) {
  const manages = useManages();
  const now = useNow(CLOCK_MS);
  const [isMaking, setMaking] = useState(false);
  const { list, rows } = useList(['operator', 'keys', workspaceId], (cursor, signal) =>
    admin.GET(PATH, {
      params: { path: { workspace_id: workspaceId }, query: { ...cursor, limit: KEYS } },
      signal,
    }),
  );
  useFresh(list.refetch);
  const mayChange = isActive && manages('keys:write');
  return (
    <section aria-label="Keys">
      <SectionBar title="Keys" path={pathOf(workspaceId)}>
        {mayChange && <Button label="New key" onClick={() => setMaking(true)} />}
      </SectionBar>
      <ListState
        list={list}
        lines={3}
        empty={list.isSuccess && rows.length === 0 && 'No key yet: its programs cannot call the API.'}
      />
      {rows.map((row) => (
        <KeyRow key={row.id} row={row} now={now} mayChange={mayChange} />
      ))}
      <More list={list} />
      {isMaking && <NewKey workspaceId={workspaceId} onClose={() => setMaking(false)} />}
    </section>
  );
}

function stateOf({ revoked_at: revoked, expires_at: expires }: Key, now: number) {
  if (revoked !== null) return <State tone="none">revoked</State>;
  if (expires === null) return <State tone="good">works</State>;
  const isOver = Date.parse(expires) <= now;
  return isOver ? <State tone="none">expired</State> : <State tone="warn">until {fullTime(expires)}</State>;
}

function KeyRow({ row, now, mayChange }: { row: Key; now: number; mayChange: boolean }) {
  const queries = useQueryClient();
  const { id, workspace_id: workspaceId, name, scopes, last_used_at: used, revoked_at: revoked } = row;
  return (
    <div className="operator-row">
      <bdi className="name">{name}</bdi>
      {stateOf(row, now)}
      <small>
        <code>{id}</code> · {used === null ? 'not used yet' : `used ${ago(used, now)}`} · {scopes.join(', ')}
      </small>
      {mayChange && revoked === null && (
        <AskButton
          quiet
          button="Revoke"
          name={`Revoke ${name}`}
          title={`Revoke ${name}?`}
          isRisky
          says="Programs that use it are refused within five seconds. It cannot be made to work again."
          label="Revoke it"
          curl={curlOf('DELETE', `${pathOf(workspaceId)}/${id}`)}
          run={() => dataOf(admin.DELETE(`${PATH}/{id}`, { params: { path: { workspace_id: workspaceId, id } } }))}
          onDone={() => void queries.invalidateQueries({ queryKey: ['operator', 'keys', workspaceId] })}
        />
      )}
    </div>
  );
}

function NewKey({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['messages:write', 'messages:read', 'connections:read']);
  const [made, setMade] = useState<string | null>(null);
  const form = useRun();
  const body = { name: name.trim(), scopes: [...scopes] };
  const submit = async (): Promise<void> => {
    const { data } = await dataOf(admin.POST(PATH, { params: { path: { workspace_id: workspaceId } }, body }));
    setMade(data.key);
    await queries.invalidateQueries({ queryKey: ['operator', 'keys', workspaceId] });
  };
  if (made !== null) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <p>Keep it now: Herald stores a hash of it, and shows it only once.</p>
        <ToCopy text={made} label="Copy the key" onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="New key"
      label="Make it"
      disabled={body.name === '' || scopes.length === 0}
      form={form}
      submit={submit}
      curl={curlOf('POST', pathOf(workspaceId), body)}
      onClose={onClose}
    >
      <TextField label="Name" value={name} maxLength={200} onText={setName} />
      <Checks label="What it may do" all={SCOPES} chosen={scopes} onChange={setScopes} />
    </FormDialog>
  );
}
