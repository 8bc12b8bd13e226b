import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { Button, TextField } from './controls.tsx';
import { AskButton, FormDialog, useRun } from './dialog.tsx';
import { useFresh } from './live.ts';
import { ListState, NUMBER_TONES, SectionBar } from './operator-parts.tsx';
import { plusNumber, Quality, State } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';

type Connection = AdminSchemas['OperatedConnectionResponse'];

const PATH = '/api/admin/v1/workspaces/{workspace_id}/connections';
const pathOf = (workspaceId: string): string => `/api/admin/v1/workspaces/${workspaceId}/connections`;

/** The numbers of a workspace. */
export function NumbersSection({ workspaceId, isActive }: { workspaceId: string; isActive: boolean }) {
  const can = useCan();
  const [isAdding, setAdding] = useState(false);
  const list = useData(['operator', 'connections', workspaceId], (signal) =>
    admin.GET(PATH, { params: { path: { workspace_id: workspaceId } }, signal }),
  );
  useFresh(list.refetch);
  const mayChange = isActive && can('operator:connections:write');
  return (
    <section aria-label="Numbers">
      <SectionBar title="Numbers" path={pathOf(workspaceId)}>
        {mayChange && <Button label="Add a number" onClick={() => setAdding(true)} />}
      </SectionBar>
      <ListState list={list} lines={3} empty={list.data?.length === 0 && 'No number yet.'} />
      {list.data?.map((row) => (
        <NumberRow key={row.id} row={row} mayChange={mayChange} />
      ))}
      {isAdding && <AddNumber workspaceId={workspaceId} onClose={() => setAdding(false)} />}
    </section>
  );
}

function NumberRow({ row, mayChange }: { row: Connection; mayChange: boolean }) {
  const queries = useQueryClient();
  const {
    id,
    workspace_id: workspaceId,
    phone_number: digits,
    verified_name: name,
    status,
    quality_rating: rating,
  } = row;
  const number = plusNumber(digits);
  return (
    <div className="operator-row">
      <bdi className="name">{name ?? number}</bdi>
      <State tone={NUMBER_TONES[status] ?? 'none'}>{status}</State>
      <small>
        {number} · quality <Quality rating={rating} />
        {row.status_reason !== null && ` · ${row.status_reason.replaceAll('_', ' ')}`}
      </small>
      {mayChange && status !== 'disconnected' && (
        <AskButton
          quiet
          button="Disconnect"
          name={`Disconnect ${number}`}
          title={`Disconnect ${number}?`}
          isRisky
          says="Nothing is sent from it until it is added again; what is queued waits."
          label="Disconnect it"
          curl={curlOf('DELETE', `${pathOf(workspaceId)}/${id}`)}
          run={() => dataOf(admin.DELETE(`${PATH}/{id}`, { params: { path: { workspace_id: workspaceId, id } } }))}
          onDone={() => void queries.invalidateQueries({ queryKey: ['operator'] })}
        />
      )}
    </div>
  );
}

const FIELDS = [
  ['phone_number_id', 'Phone number ID', 'text'],
  ['waba_id', 'WhatsApp Business Account ID', 'text'],
  ['token', 'Access token of a system user', 'password'],
] as const;

function AddNumber({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState({ phone_number_id: '', waba_id: '', token: '' });
  const form = useRun();
  const body = {
    phone_number_id: draft.phone_number_id.trim(),
    waba_id: draft.waba_id.trim(),
    token: draft.token.trim(),
  };
  const submit = async (): Promise<void> => {
    await dataOf(admin.POST(PATH, { params: { path: { workspace_id: workspaceId } }, body }));
    await queries.invalidateQueries({ queryKey: ['operator'] });
    onClose();
  };
  return (
    <FormDialog
      title="Add a number"
      label="Add it"
      disabled={Object.values(body).includes('')}
      form={form}
      submit={submit}
      curl={curlOf('POST', pathOf(workspaceId), { ...body, token: '<token>' })}
      onClose={onClose}
    >
      <p>
        The ids are on the page API Setup of your Meta app. WhatsApp is asked at once; nothing is stored where it
        refuses.
      </p>
      {FIELDS.map(([name, label, type]) => (
        <TextField
          key={name}
          label={label}
          type={type}
          autoComplete="off"
          spellCheck={false}
          value={draft[name]}
          onText={(text) => setDraft({ ...draft, [name]: text })}
        />
      ))}
    </FormDialog>
  );
}
