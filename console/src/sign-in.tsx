import { type FormEvent, useState } from 'react';
import { ApiError, factsOf } from './api.ts';
import { Dialog } from './dialog.tsx';
import { session, useSession } from './session.ts';
import { Problem, useTitle } from './ui.tsx';

/** The page without a key; with `onDone`, a dialog that adds another one. */
export function SignIn({ demoKey, onDone }: { demoKey: string | null; onDone?: () => void }) {
  if (onDone === undefined) return <SignInPage demoKey={demoKey} />;
  return (
    <Dialog title="Add a key" className="sign-in" onClose={onDone}>
      <SignInForm demoKey={null} onDone={onDone} />
    </Dialog>
  );
}

function SignInPage({ demoKey }: { demoKey: string | null }) {
  useTitle('Sign in');
  return (
    <main className="sign-in">
      <h1>Herald console</h1>
      <SignInForm demoKey={demoKey} />
    </main>
  );
}

function SignInForm({ demoKey, onDone }: { demoKey: string | null; onDone?: () => void }) {
  const { notice } = useSession();
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
      {notice !== null && onDone === undefined && (
        <p className="notice" role="status">
          {notice}
        </p>
      )}
      <label className="field">
        <span>API key</span>
        <input
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="hrld_live_…"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={stay} onChange={(event) => setStay(event.target.checked)} />
        <span>Stay signed in on this tab</span>
      </label>
      {error !== null && <Problem error={error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={busy || key.trim() === ''}>
          Sign in
        </button>
        {demoKey !== null && (
          <button type="button" className="button" disabled={busy} onClick={() => void signIn(demoKey)}>
            Open the demo
          </button>
        )}
        {onDone !== undefined && (
          <button type="button" className="button quiet" onClick={onDone}>
            Close
          </button>
        )}
      </div>
      <p className="hint">
        The operator makes keys with <code>herald key create</code>, and signs in with an operator key. A key is kept in
        the memory of this page, and sent to this host only.
      </p>
    </form>
  );
}
