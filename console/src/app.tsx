import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { factsOf } from './api.ts';
import { ConversationsPage } from './conversations.tsx';
import { useLiveConnection, useLiveState } from './live.ts';
import { MessagesPage } from './messages.tsx';
import { PhoneDock } from './phone.tsx';
import { SendPage } from './send.tsx';
import { session, type SignedIn, useCan, useSession } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { Empty, Icon } from './ui.tsx';

interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
  simulator: boolean;
}

async function demoKeys(): Promise<DemoKeys | null> {
  const response = await fetch('/console/demo.json');
  return response.status === 200 ? ((await response.json()) as DemoKeys) : null;
}

/** The key in the address's fragment, which is removed from the address at once. */
function keyOfFragment(): string | null {
  const key = new URLSearchParams(window.location.hash.slice(1)).get('key');
  if (key !== null) window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return key;
}

const fragmentKey = keyOfFragment();
let starting: Promise<{ demo: DemoKeys | null }> | null = null;

/** Signs in what the address, this tab or the demo gives. Once, however often it is called. */
function start(): Promise<{ demo: DemoKeys | null }> {
  const signIn = async (key: string, stay: boolean): Promise<void> => {
    try {
      session.add({ key, facts: await factsOf(key) }, stay);
    } catch {
      // The form says nothing of a key that nobody typed.
    }
  };
  starting ??= (async () => {
    const stored = session.stored();
    const demo = await demoKeys().catch(() => null);
    for (const key of stored) await signIn(key, true);
    if (fragmentKey !== null) await signIn(fragmentKey, false);
    if (session.get().keys.length === 0 && demo !== null) await signIn(demo.api_key, false);
    return { demo };
  })();
  return starting;
}

export function App() {
  const [started, setStarted] = useState<{ demo: DemoKeys | null } | null>(null);
  useEffect(() => {
    void start().then(setStarted);
  }, []);
  const { keys, active } = useSession();
  const signedIn = keys[active];
  if (started === null) return null;
  if (signedIn === undefined) return <SignIn demoKey={started.demo?.api_key ?? null} />;
  return (
    <Router base="/console">
      <Shell key={signedIn.key} signedIn={signedIn} hasPhone={started.demo?.simulator === true} />
    </Router>
  );
}

const PHONE_FROM_PX = 1_180;

function Shell({ signedIn, hasPhone }: { signedIn: SignedIn; hasPhone: boolean }) {
  const can = useCan();
  useLiveConnection(signedIn.key, can('webhooks:read'));
  const queries = useQueryClient();
  // What another key has read is not shown.
  useEffect(() => () => queries.clear(), [queries]);
  const [phone, setPhone] = useState(() => hasPhone && window.innerWidth >= PHONE_FROM_PX);
  const home = can('messages:read') ? '/messages' : '/send';
  return (
    <div className={phone ? 'shell with-phone' : 'shell'}>
      <header className="bar">
        <Link href={home} className="brand" aria-label="Herald">
          <img src={LOGO} alt="" width="24" height="24" />
          <span>Herald</span>
        </Link>
        <nav aria-label="Pages">
          {can('messages:read') && <Page href="/messages" icon="messages" label="Messages" />}
          {can('messages:read') && <Page href="/conversations" icon="chat" label="Chats" />}
          {can('messages:write') && <Page href="/send" icon="send" label="Send" />}
        </nav>
        <span className="grow" />
        <Connection />
        {hasPhone && (
          <button
            type="button"
            className={phone ? 'button pressed' : 'button'}
            aria-label="Phone"
            aria-pressed={phone}
            onClick={() => setPhone(!phone)}
          >
            <Icon name="phone" />
            <span className="wide">Phone</span>
          </button>
        )}
        <a className="button quiet wide" href="/docs">
          <Icon name="book" />
          API
        </a>
        <KeySwitch />
      </header>
      <main>
        <Switch>
          <Route path="/messages/:id?">
            {({ id }) => <Need scope="messages:read">{<MessagesPage selected={id ?? null} />}</Need>}
          </Route>
          <Route path="/conversations/:id?">
            {({ id }) => (
              <Need scope="messages:read">
                <ConversationsPage selected={id ?? null} />
              </Need>
            )}
          </Route>
          <Route path="/send">
            <Need scope="messages:write">
              <SendPage />
            </Need>
          </Route>
          <Route path="/">
            <Redirect to={home} replace />
          </Route>
          <Route>
            <Empty title="There is no such page">
              <Link href={home}>Go to the first page</Link>
            </Empty>
          </Route>
        </Switch>
      </main>
      {phone && <PhoneDock onClose={() => setPhone(false)} />}
    </div>
  );
}

const LOGO = new URL('./icon.svg', import.meta.url).href;

function Page({ href, icon, label }: { href: string; icon: 'messages' | 'chat' | 'send'; label: string }) {
  const [location] = useLocation();
  const isCurrent = location === href || location.startsWith(`${href}/`);
  return (
    <Link href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      {label}
    </Link>
  );
}

function Need({ scope, children }: { scope: string; children: ReactNode }) {
  const can = useCan();
  if (can(scope)) return children;
  return (
    <Empty title="This key may not see this page">
      <p>
        It needs the scope <code>{scope}</code>.
      </p>
    </Empty>
  );
}

const CONNECTION_WORDS = {
  connecting: 'connecting',
  live: 'live',
  polling: 'every 10 s',
  reconnecting: 'reconnecting',
} as const;

function Connection() {
  const state = useLiveState();
  return (
    <span className={`connection is-${state}`} role="status">
      <i aria-hidden="true" />
      {CONNECTION_WORDS[state]}
    </span>
  );
}

function KeySwitch() {
  const { keys, active } = useSession();
  const [adding, setAdding] = useState(false);
  const current = keys[active];
  if (current === undefined) return null;
  const choose = (value: string): void => {
    if (value === 'add') setAdding(true);
    else if (value === 'out') session.remove(current.key, null);
    else session.choose(Number(value));
  };
  return (
    <>
      <label className="key-switch">
        <span className="hidden">Key</span>
        <Icon name="key" />
        <select value={String(active)} onChange={(event) => choose(event.target.value)}>
          {keys.map(({ key, facts }, index) => (
            <option key={key} value={String(index)}>
              {facts.workspace.name} · {facts.name}
              {facts.mode === 'test' ? ' (test)' : ''}
            </option>
          ))}
          <option value="add">Add a key …</option>
          <option value="out">Sign out</option>
        </select>
      </label>
      {adding && <SignIn demoKey={null} onDone={() => setAdding(false)} />}
    </>
  );
}
