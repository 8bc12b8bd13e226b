import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { Button, SelectField, TextField } from './controls.tsx';
import { AskButton, Dialog, FormDialog, useRun } from './dialog.tsx';
import { useFresh } from './live.ts';
import { EndsAfter, ListState, SECONDS_A_DAY, SectionBar, ToCopy } from './operator-parts.tsx';
import { More } from './panes.tsx';
import { State, type Tone } from './parts.tsx';
import { useList } from './queries.ts';
import { useCan } from './session.ts';
import { ago, fullTime, useNow } from './ui.tsx';

type Link = AdminSchemas['SetupLinkResponse'];
type Signup = Link['signup'];

const CLOCK_MS = 30_000;
const LINKS = 10;
const PATH = '/api/admin/v1/workspaces/{workspace_id}/setup-links';
const pathOf = (workspaceId: string): string => `/api/admin/v1/workspaces/${workspaceId}/setup-links`;

const TONES: Readonly<Record<Link['status'], Tone>> = {
  open: 'warn',
  completed: 'good',
  revoked: 'none',
  expired: 'none',
};
const SIGNUPS: Readonly<Record<Signup, string>> = {
  cloud: "a number for the API, by Meta's dialog",
  app: "a number that stays in the WhatsApp Business app, by Meta's dialog",
  manual: 'ids and a token that are pasted',
};

interface SectionProps {
  workspaceId: string;
  isActive: boolean;
}

/** Links by which a business connects its number itself. */
export function SetupLinksSection({ workspaceId, isActive }: SectionProps) {
  const can = useCan();
  const now = useNow(CLOCK_MS);
  const [isMaking, setMaking] = useState(false);
  const { list, rows } = useList(['operator', 'setup-links', workspaceId], (cursor, signal) =>
    admin.GET(PATH, {
      params: { path: { workspace_id: workspaceId }, query: { ...cursor, limit: LINKS } },
      signal,
    }),
  );
  useFresh(list.refetch);
  const mayChange = isActive && can('operator:connections:write');
  return (
    <section aria-label="Setup links">
      <SectionBar title="Setup links" path={pathOf(workspaceId)}>
        {mayChange && <Button label="New link" onClick={() => setMaking(true)} />}
      </SectionBar>
      <ListState
        list={list}
        lines={2}
        empty={list.isSuccess && rows.length === 0 && 'No link yet. With one, the business connects its number itself.'}
      />
      {rows.map((row) => (
        <LinkRow key={row.id} row={row} now={now} mayChange={mayChange} />
      ))}
      <More list={list} />
      {isMaking && <NewLink workspaceId={workspaceId} onClose={() => setMaking(false)} />}
    </section>
  );
}

/** How far the business is, in words. */
function progressOf({ opened_at: opened, status, steps }: Link, now: number): string {
  const failed = steps.find(({ state }) => state === 'failed');
  if (status === 'open' && failed !== undefined) return `${failed.name} failed: ${failed.problem?.message ?? ''}`;
  if (opened === null) return 'not opened yet';
  const done = steps.filter(({ state }) => state === 'done').map(({ name }) => name);
  return `opened ${ago(opened, now)}${done.length === 0 ? '' : `; done: ${done.join(', ')}`}`;
}

function LinkRow({ row, now, mayChange }: { row: Link; now: number; mayChange: boolean }) {
  const queries = useQueryClient();
  const { id, workspace_id: workspaceId, status, signup, expires_at: expires } = row;
  return (
    <div className="operator-row">
      <span className="name">{signup}</span>
      <State tone={TONES[status]}>{status === 'open' ? `open until ${fullTime(expires)}` : status}</State>
      <small>
        <code>{id}</code> · {progressOf(row, now)}
      </small>
      {mayChange && status === 'open' && (
        <AskButton
          quiet
          button="Revoke"
          name={`Revoke link ${id}`}
          title="Revoke the link?"
          isRisky
          says="Its page says so from then on. A step that is under way is finished."
          label="Revoke it"
          curl={curlOf('DELETE', `${pathOf(workspaceId)}/${id}`)}
          run={() => dataOf(admin.DELETE(`${PATH}/{id}`, { params: { path: { workspace_id: workspaceId, id } } }))}
          onDone={() => void queries.invalidateQueries({ queryKey: ['operator', 'setup-links', workspaceId] })}
        />
      )}
    </div>
  );
}

function NewLink({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [signup, setSignup] = useState<Signup | ''>('');
  const [days, setDays] = useState(7);
  const [returnUrl, setReturnUrl] = useState('');
  const [made, setMade] = useState<string | null>(null);
  const form = useRun();
  const body = {
    ...(signup !== '' && { signup }),
    ...(returnUrl.trim() !== '' && { return_url: returnUrl.trim() }),
    expires_in: days * SECONDS_A_DAY,
    locale: 'en_US',
  };
  const submit = async (): Promise<void> => {
    const { data } = await dataOf(admin.POST(PATH, { params: { path: { workspace_id: workspaceId } }, body }));
    setMade(data.url);
    await queries.invalidateQueries({ queryKey: ['operator', 'setup-links', workspaceId] });
  };
  if (made !== null) {
    return (
      <Dialog title="The new setup link" onClose={onClose}>
        <p>Send it to the business: who has it can connect a number. It works once, and is shown only now.</p>
        <ToCopy text={made} label="Copy the link" onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="New setup link"
      label="Make it"
      form={form}
      submit={submit}
      curl={curlOf('POST', pathOf(workspaceId), body)}
      onClose={onClose}
    >
      <SelectField
        label="How the business gives access"
        value={signup}
        options={[['', 'as this Herald is set up'], ...Object.entries(SIGNUPS)]}
        onValue={setSignup}
      />
      <EndsAfter days={days} onChange={setDays} />
      <TextField
        label="Where it leads at the end (optional)"
        type="url"
        value={returnUrl}
        placeholder="https://"
        onText={setReturnUrl}
      />
    </FormDialog>
  );
}
