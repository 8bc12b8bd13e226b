import { type FormEvent, useState } from 'react';
import { ApiError, factsOf } from './api.ts';
import { Button, CheckField, TextField } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { type Issuers, signInAddress } from './person.ts';
import { session, useSession } from './session.ts';
import { Problem, useTitle } from './ui.tsx';

interface SignInProps {
  demoKey: string | null;
  issuers?: Issuers['data'];
  onDone?: () => void;
}

/** The page without a key; with `onDone`, a dialog that adds another one. */
export function SignIn({ demoKey, issuers = [], onDone }: SignInProps) {
  if (onDone === undefined) return <SignInPage demoKey={demoKey} issuers={issuers} />;
  return (
    <Dialog title="Add a key" className="sign-in" onClose={onDone}>
      <SignInForm demoKey={null} onDone={onDone} />
    </Dialog>
  );
}

function SignInPage({ demoKey, issuers }: Required<Pick<SignInProps, 'demoKey' | 'issuers'>>) {
  useTitle('Sign in');
  return (
    <main className="sign-in">
      <h1>Herald console</h1>
      <Notice />
      {issuers.length > 0 && (
        <div className="issuers">
          {issuers.map(({ name, sign_in_url: url }) => (
            <a key={name} className="button primary" href={signInAddress(url)}>
              Sign in with {name}
            </a>
          ))}
          <p className="hint">or with a key:</p>
        </div>
      )}
      <SignInForm demoKey={demoKey} />
    </main>
  );
}

function Notice() {
  const { notice } = useSession();
  if (notice === null) return null;
  return (
    <p className="notice" role="status">
      {notice}
    </p>
  );
}

function SignInForm({ demoKey, onDone }: { demoKey: string | null; onDone?: () => void }) {
  const [key, setKey] = useState('');
  const [stay, setStay] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const signIn = async (text: string): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      session.add({ key: text, facts: await factsOf(text) }, stay);
      onDone?.();
    } catch (failure) {
      const isWrong = failure instanceof ApiError && failure.status === 401;
      setError(isWrong ? new Error('Herald does not know this key. Was it copied whole?') : failure);
      setBusy(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') void signIn(key.trim());
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="API key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="hrld_live_…"
        value={key}
        onText={setKey}
      />
      <CheckField label="Stay signed in on this tab" checked={stay} onCheck={setStay} />
      {error !== null && <Problem error={error} />}
      <div className="row">
        <Button submit primary label="Sign in" disabled={busy || key.trim() === ''} />
        {demoKey !== null && <Button label="Open the demo" disabled={busy} onClick={() => void signIn(demoKey)} />}
        {onDone !== undefined && <Button quiet label="Close" onClick={onDone} />}
      </div>
      <p className="hint">
        The operator makes keys with <code>herald key create</code>, and signs in with an operator key. A key is kept in
        the memory of this page, and sent to this host only.
      </p>
    </form>
  );
}
