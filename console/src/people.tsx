import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { admin, type AdminSchemas, curlOf, dataOf } from './api.ts';
import { Button, Select, SelectField, TextField } from './controls.tsx';
import { AskButton, Dialog, FormDialog, useRun } from './dialog.tsx';
import { useFresh } from './live.ts';
import { KeysSection } from './operator-keys.tsx';
import { EndsAfter, ListState, SECONDS_A_DAY, SectionBar, ToCopy } from './operator-parts.tsx';
import { More } from './panes.tsx';
import { State, type Tone } from './parts.tsx';
import { useList } from './queries.ts';
import { useManages, useSession } from './session.ts';
import { ago, fullTime, Problem, useNow } from './ui.tsx';

type Member = AdminSchemas['MemberResponse'];
type Invitation = AdminSchemas['InvitationResponse'];
type Role = Member['role'];

const CLOCK_MS = 30_000;
const ROWS = 50;
const PEOPLE = '/api/admin/v1/workspaces/{workspace_id}/people';
const INVITATIONS = '/api/admin/v1/workspaces/{workspace_id}/invitations';
const pathOf = (workspaceId: string, what: 'people' | 'invitations'): string =>
  `/api/admin/v1/workspaces/${workspaceId}/${what}`;

const ROLES: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads',
  agent: 'agent: also sends and answers',
  developer: 'developer: also templates, webhook and keys',
  admin: 'admin: also people',
};
const ROLE_NAMES = Object.keys(ROLES) as Role[];
const TONES: Readonly<Record<Invitation['status'], Tone>> = {
  open: 'warn',
  accepted: 'good',
  revoked: 'none',
  expired: 'none',
};

/** People of the workspace in use, for its admins. */
export function PeoplePage() {
  const { keys, active } = useSession();
  return (
    <div className="overview operator">
      <h1>People</h1>
      <PeopleSection workspaceId={keys[active]?.facts.workspace.id ?? ''} isActive />
    </div>
  );
}

/** Keys of the workspace in use, for its admins and developers. */
export function KeysPage() {
  const { keys, active } = useSession();
  return (
    <div className="overview operator">
      <h1>Keys of this workspace</h1>
      <KeysSection workspaceId={keys[active]?.facts.workspace.id ?? ''} isActive />
    </div>
  );
}

interface SectionProps {
  workspaceId: string;
  isActive: boolean;
}

/** Who may do what in a workspace, and who is invited. */
export function PeopleSection({ workspaceId, isActive }: SectionProps) {
  const manages = useManages();
  const [isInviting, setInviting] = useState(false);
  const mayChange = isActive && manages('people:write');
  return (
    <>
      <section aria-label="People">
        <SectionBar title="People" path={pathOf(workspaceId, 'people')}>
          {mayChange && <Button label="Invite" onClick={() => setInviting(true)} />}
        </SectionBar>
        <Members workspaceId={workspaceId} mayChange={mayChange} />
      </section>
      <Invitations workspaceId={workspaceId} mayChange={mayChange} />
      {isInviting && <Invite workspaceId={workspaceId} onClose={() => setInviting(false)} />}
    </>
  );
}

interface RowsProps {
  workspaceId: string;
  mayChange: boolean;
}

function Members({ workspaceId, mayChange }: RowsProps) {
  const now = useNow(CLOCK_MS);
  const { list, rows } = useList(['operator', 'people', workspaceId], (cursor, signal) =>
    admin.GET(PEOPLE, { params: { path: { workspace_id: workspaceId }, query: { ...cursor, limit: ROWS } }, signal }),
  );
  useFresh(list.refetch);
  return (
    <>
      <ListState
        list={list}
        lines={3}
        empty={
          list.isSuccess &&
          rows.length === 0 &&
          'No person has signed in to this workspace yet. Operators see it without being members.'
        }
      />
      {rows.map((row) => (
        <MemberRow key={row.id} row={row} now={now} workspaceId={workspaceId} mayChange={mayChange} />
      ))}
      <More list={list} />
    </>
  );
}

interface MemberRowProps extends RowsProps {
  row: Member;
  now: number;
}

function MemberRow({ row, now, workspaceId, mayChange }: MemberRowProps) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const { id, name, email, role, group_role: byGroup, last_signed_in_at: seen } = row;
  const params = { path: { workspace_id: workspaceId, id } };
  const path = `${pathOf(workspaceId, 'people')}/${id}`;
  const read = (): Promise<void> => queries.invalidateQueries({ queryKey: ['operator', 'people', workspaceId] });
  const change = (next: Role): void => {
    setError(null);
    dataOf(admin.PATCH(`${PEOPLE}/{id}`, { params, body: { role: next } })).then(read, setError);
  };
  return (
    <div className="operator-row">
      <span className="name">
        <bdi>{name}</bdi>
      </span>
      {mayChange ? (
        <Select
          aria-label={`Role of ${name}`}
          value={role}
          options={ROLE_NAMES.map((each) => [each, each])}
          onValue={change}
        />
      ) : (
        <span>{role}</span>
      )}
      <small>
        <bdi>{email}</bdi> · signed in {ago(seen, now)}
        {byGroup !== null && ` · ${byGroup} by a group`}
      </small>
      {mayChange && (
        <span className="row">
          <AskButton
            quiet
            button="Sign out"
            name={`Sign out ${name}`}
            title={`Sign out ${name} everywhere?`}
            says="All sessions of the person end, also in other workspaces. The person can sign in again."
            label="Sign out everywhere"
            curl={curlOf('DELETE', `${path}/sessions`)}
            run={() => admin.DELETE(`${PEOPLE}/{id}/sessions`, { params })}
          />
          {byGroup === null && (
            <AskButton
              quiet
              button="Remove"
              name={`Remove ${name}`}
              title={`Remove ${name}?`}
              isRisky
              says="The person has nothing in this workspace within five seconds. Keys that the person made stay: look at them."
              label="Remove the person"
              curl={curlOf('DELETE', path)}
              run={() => admin.DELETE(`${PEOPLE}/{id}`, { params })}
              onDone={() => void read()}
            />
          )}
        </span>
      )}
      {error !== null && <Problem error={error} />}
    </div>
  );
}

function Invitations({ workspaceId, mayChange }: RowsProps) {
  const { list, rows } = useList(['operator', 'invitations', workspaceId], (cursor, signal) =>
    admin.GET(INVITATIONS, {
      params: { path: { workspace_id: workspaceId }, query: { ...cursor, limit: ROWS } },
      signal,
    }),
  );
  useFresh(list.refetch);
  // A list that is empty needs no heading.
  if (list.isSuccess && rows.length === 0) return null;
  return (
    <section aria-label="Invitations">
      <SectionBar title="Invitations" path={pathOf(workspaceId, 'invitations')} />
      <ListState list={list} lines={2} />
      {rows.map((row) => (
        <InvitationRow key={row.id} row={row} mayChange={mayChange} />
      ))}
      <More list={list} />
    </section>
  );
}

function InvitationRow({ row, mayChange }: { row: Invitation; mayChange: boolean }) {
  const queries = useQueryClient();
  const { id, workspace_id: workspaceId, email, role, status, expires_at: expires } = row;
  return (
    <div className="operator-row">
      <bdi className="name">{email}</bdi>
      <State tone={TONES[status]}>{status === 'open' ? `open until ${fullTime(expires)}` : status}</State>
      <small>{role}</small>
      {mayChange && status === 'open' && (
        <AskButton
          quiet
          button="Revoke"
          name={`Revoke invitation of ${email}`}
          title={`Revoke the invitation of ${email}?`}
          says="It cannot be accepted from then on. You can invite the person again."
          label="Revoke it"
          curl={curlOf('DELETE', `${pathOf(workspaceId, 'invitations')}/${id}`)}
          run={() =>
            dataOf(admin.DELETE(`${INVITATIONS}/{id}`, { params: { path: { workspace_id: workspaceId, id } } }))
          }
          onDone={() => void queries.invalidateQueries({ queryKey: ['operator', 'invitations', workspaceId] })}
        />
      )}
    </div>
  );
}

function Invite({ workspaceId, onClose }: { workspaceId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('agent');
  const [days, setDays] = useState(7);
  const [made, setMade] = useState<Invitation | null>(null);
  const form = useRun();
  const body = { email: email.trim(), role, expires_in: days * SECONDS_A_DAY };
  const submit = async (): Promise<void> => {
    const { data } = await dataOf(admin.POST(INVITATIONS, { params: { path: { workspace_id: workspaceId } }, body }));
    setMade(data);
    await queries.invalidateQueries({ queryKey: ['operator', 'invitations', workspaceId] });
  };
  if (made !== null) return <Invited invitation={made} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite a person"
      label="Invite"
      disabled={body.email === ''}
      form={form}
      submit={submit}
      curl={curlOf('POST', pathOf(workspaceId, 'invitations'), body)}
      onClose={onClose}
    >
      <TextField label="E-mail" type="email" value={email} maxLength={320} onText={setEmail} />
      <SelectField
        label="Role"
        value={role}
        options={ROLE_NAMES.map((each) => [each, ROLES[each]])}
        onValue={setRole}
      />
      <EndsAfter days={days} onChange={setDays} />
    </FormDialog>
  );
}

function Invited({ invitation: { email, role, sign_in_url: url }, onClose }: InvitedProps) {
  return (
    <Dialog title="Invited" onClose={onClose}>
      <p>
        The first person who signs in with the verified address <bdi>{email}</bdi> is {role} here.{' '}
        {url === null
          ? 'No issuer is set up yet, so no one can sign in: the operator sets OIDC_ISSUERS.'
          : 'Herald sends no e-mail: send this address yourself.'}
      </p>
      <ToCopy text={url} label="Copy the address" onClose={onClose} />
    </Dialog>
  );
}

interface InvitedProps {
  invitation: Invitation;
  onClose: () => void;
}
