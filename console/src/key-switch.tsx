import { useState } from 'react';
import { useLocation } from 'wouter';
import { AgentDialog } from './agent.tsx';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { isAt, PAGES } from './pages.tsx';
import { openOperator, openWorkspace, signOut } from './person.ts';
import {
  isOfSession,
  isOperator,
  type KeyFacts,
  OPERATOR_SESSION,
  session,
  sessionKey,
  useSession,
  workspaceOfKey,
} from './session.ts';
import { SignIn } from './sign-in.tsx';
import { Icon } from './icon.tsx';
import { Problem } from './ui.tsx';

const MODES: Readonly<Record<string, string>> = { live: '', test: ' (test)' };

function nameOf({ workspace, name, mode, person }: KeyFacts): string {
  return `${workspace.name} · ${name}${person === null ? (MODES[mode] ?? '') : ` (${person.role})`}`;
}

/** Who is signed in, and where: keys, and the workspaces of a person. */
export function KeySwitch() {
  const { keys, active, person } = useSession();
  const [open, setOpen] = useState<'add' | 'agent' | 'everywhere' | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [location, navigate] = useLocation();
  const current = keys[active];
  if (current === undefined) return null;
  const isPerson = isOfSession(current.key);
  const isOpen = (key: string): boolean => keys.some((each) => each.key === key);
  const others = person?.workspaces.filter(({ id }) => !isOpen(sessionKey(id))) ?? [];
  const leave = (scopes: readonly string[]): void => {
    const allowed = PAGES.filter((page) => page.scopes.some((scope) => scopes.includes(scope)));
    // Another key may see other pages.
    if (!allowed.some(({ path }) => isAt(path, location))) navigate(allowed[0]?.path ?? '/');
  };
  const choose = (value: string): void => {
    const workspace = workspaceOfKey(value);
    if (value === 'add' || value === 'agent' || value === 'everywhere') setOpen(value);
    else if (value === 'out' && isPerson) signOut(false).catch(setProblem);
    else if (value === 'out') session.remove(current.key, null);
    else if (value === OPERATOR_SESSION) openOperator().then(({ facts }) => leave(facts.scopes), setProblem);
    else if (workspace !== null) openWorkspace(workspace).then(({ facts }) => leave(facts.scopes), setProblem);
    else {
      leave(keys[Number(value)]?.facts.scopes ?? []);
      session.choose(Number(value));
    }
  };
  const close = (): void => setOpen(null);
  return (
    <>
      <label className="key-switch" title={isPerson ? person?.person.email : undefined}>
        <span className="hidden">Key</span>
        <Icon name="key" />
        <select value={String(active)} onChange={(event) => choose(event.target.value)}>
          {keys.map(({ key, facts }, index) => (
            <option key={key} value={String(index)}>
              {nameOf(facts)}
            </option>
          ))}
          {person?.person.is_operator === true && !isOpen(OPERATOR_SESSION) && (
            <option value={OPERATOR_SESSION}>Operator · {person.person.name}</option>
          )}
          {others.map(({ id, name, role }) => (
            <option key={id} value={sessionKey(id)}>
              {name} · {person?.person.name} ({role})
            </option>
          ))}
          <option value="add">Add a key …</option>
          {current.facts.otp_project === null && !isPerson && !isOperator(current.facts) && (
            <option value="agent">Connect an agent …</option>
          )}
          <option value="out">Sign out</option>
          {isPerson && <option value="everywhere">Sign out everywhere …</option>}
        </select>
      </label>
      {open === 'add' && <SignIn demoKey={null} onDone={close} />}
      {open === 'agent' && <AgentDialog scopes={current.facts.scopes} onClose={close} />}
      {open === 'everywhere' && <EverywhereDialog onClose={close} />}
      {problem !== null && (
        <Dialog title="That did not work" onClose={() => setProblem(null)}>
          <Problem error={problem} />
        </Dialog>
      )}
    </>
  );
}

function EverywhereDialog({ onClose }: { onClose: () => void }) {
  const [problem, setProblem] = useState<unknown>(null);
  return (
    <Dialog title="Sign out everywhere?" onClose={onClose}>
      <p>All your sessions of Herald end, also those in other browsers. At your issuer you stay signed in.</p>
      {problem !== null && <Problem error={problem} />}
      <div className="row">
        <Button primary label="Sign out everywhere" onClick={() => void signOut(true).catch(setProblem)} />
        <Button quiet label="Stay signed in" onClick={onClose} />
      </div>
    </Dialog>
  );
}
