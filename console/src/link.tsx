import { ApiError, factsOf, isAway } from './api.ts';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { type KeyFacts, session, useSession } from './session.ts';

/** The key in the address's fragment, which is removed from the address at once. */
export function takeLinkKey(): string | null {
  const key = new URLSearchParams(window.location.hash.slice(1)).get('key');
  if (key !== null) window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return key;
}

/**
 * Signs in with the key of a link; beside another key only once the person agreed, since anybody can send a link.
 *
 * @throws ApiError where the service is away and no other key is signed in
 */
export async function openLink(key: string): Promise<void> {
  const known = session.get().keys.findIndex((one) => one.key === key);
  if (known >= 0) {
    session.choose(known);
    return;
  }
  try {
    const signedIn = { key, facts: await factsOf(key) };
    if (session.activeKey() === null) session.add(signedIn, false);
    else session.ask({ signedIn });
  } catch (failure) {
    if (isAway(failure) && session.activeKey() === null) throw failure;
    const problem =
      failure instanceof ApiError && failure.status === 401
        ? 'Herald does not know the key of this link: it was revoked, has expired, or was not copied whole.'
        : `The key of this link could not be checked: ${failure instanceof Error ? failure.message : String(failure)}`;
    session.ask({ problem });
  }
}

function Name({ of: { workspace, name, mode } }: { of: KeyFacts }) {
  return (
    <strong>
      <bdi>
        {workspace.name} · {name}
        {mode === 'test' ? ' (test)' : ''}
      </bdi>
    </strong>
  );
}

/** What a link with a key asks, over the page of the key that is in use. */
export function LinkQuestion() {
  const { keys, active, link } = useSession();
  const current = keys[active];
  if (link === null || current === undefined) return null;
  const close = (): void => session.ask(null);
  const own = <Name of={current.facts} />;
  if ('problem' in link) {
    return (
      <Dialog title="The link did not sign in" onClose={close}>
        <p>{link.problem}</p>
        <p>You stay signed in as {own}.</p>
        <div className="row">
          <Button primary label="Close" onClick={close} />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Sign in by this link?" onClose={close}>
      <p>
        This link signs in as <Name of={link.signedIn.facts} />. You are signed in as {own}.
      </p>
      <p>What you do afterwards is done in the workspace of the link. Go on only where you know who sent it.</p>
      <div className="row">
        <Button primary label="Stay as I am" onClick={close} />
        <Button label="Sign in" onClick={() => session.add(link.signedIn, false)} />
      </div>
    </Dialog>
  );
}
