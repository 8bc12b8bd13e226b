import { useQueryClient } from '@tanstack/react-query';
import { Component, lazy, type ReactNode, Suspense, useContext, useEffect, useState } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { factsOf } from './api.ts';
import { LinkQuestion, openLink, takeLinkKey } from './link.tsx';
import { useLiveConnection, useLiveState } from './live.ts';
import { type PageEntry, PAGES } from './pages.tsx';
import { session, type SignedIn, useCan, useSession } from './session.ts';
import { HasSimulator } from './simulated.ts';
import { SignIn } from './sign-in.tsx';
import { Empty, Icon, isForPage, SEARCHING, Skeleton, typeAhead } from './ui.tsx';

const PhoneDock = lazy(async () => ({ default: (await import('./phone.tsx')).PhoneDock }));

interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
  simulator: boolean;
}

async function demoKeys(): Promise<DemoKeys | null> {
  const response = await fetch('/console/demo.json');
  return response.status === 200 ? ((await response.json()) as DemoKeys) : null;
}

const linkKey = takeLinkKey();
// Its file comes while the key is asked about.
(PAGES.find(({ path }) => window.location.pathname.startsWith(`/console${path}`)) ?? PAGES[0])?.preload();
let starting: Promise<{ demo: DemoKeys | null }> | null = null;

/** Signs in what the address, this tab or the demo gives. Once, however often it is called. */
function start(): Promise<{ demo: DemoKeys | null }> {
  const signIn = async (key: string, stay: boolean): Promise<void> => {
    try {
      session.add({ key, facts: await factsOf(key) }, stay);
    } catch {
      // The form says nothing of a key that was not typed.
    }
  };
  starting ??= (async () => {
    const stored = session.stored();
    const demo = await demoKeys().catch(() => null);
    for (const key of stored) await signIn(key, true);
    if (linkKey !== null) await openLink(linkKey);
    // Not in the place of a key that was wrong: who gave one is to know.
    if (stored.length === 0 && linkKey === null && demo !== null) {
      // The workspace's last, so that it is the one in use.
      await signIn(demo.otp_sandbox_key, false);
      await signIn(demo.api_key, false);
    }
    return { demo };
  })();
  return starting;
}

export function App() {
  const [started, setStarted] = useState<{ demo: DemoKeys | null } | null>(null);
  useEffect(() => {
    void start().then(setStarted);
    // A link to the page that is open changes its fragment only.
    const onHash = (): void => {
      const key = takeLinkKey();
      if (key !== null) void openLink(key);
    };
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);
  const { keys, active } = useSession();
  const signedIn = keys[active];
  if (started === null) return null;
  if (signedIn === undefined) return <SignIn demoKey={started.demo?.api_key ?? null} />;
  return (
    <Router base="/console">
      <HasSimulator value={started.demo?.simulator === true}>
        <Shell key={signedIn.key} signedIn={signedIn} />
        <LinkQuestion />
      </HasSimulator>
    </Router>
  );
}

const PHONE_FROM_PX = 1_180;

function Shell({ signedIn }: { signedIn: SignedIn }) {
  const can = useCan();
  const hasSimulator = useContext(HasSimulator);
  // It shows what the API says of the customer's messages.
  const hasPhone = hasSimulator && can('messages:read') && can('connections:read');
  useLiveConnection(signedIn.key, can('webhooks:read'));
  const queries = useQueryClient();
  const [location] = useLocation();
  // What another key has read is not shown.
  useEffect(() => () => queries.clear(), [queries]);
  useSearchKey(can('messages:read'));
  const [phone, setPhone] = useState(() => hasPhone && window.innerWidth >= PHONE_FROM_PX);
  const allowed = PAGES.filter(({ scopes }) => scopes.some(can));
  const home = allowed[0]?.path ?? '/';
  return (
    <div className={phone ? 'shell with-phone' : 'shell'}>
      <a
        className="button skip"
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('#page')?.focus();
        }}
      >
        Skip to the page
      </a>
      <header className="bar">
        <Link href={home} className="brand" aria-label="Herald">
          <img src={LOGO} alt="" width="24" height="24" />
          <span>Herald</span>
        </Link>
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
      <Navigation pages={allowed} />
      <main id="page" tabIndex={-1}>
        <Boundary key={allowed.find(({ path }) => isAt(path, location))?.path}>
          <Suspense fallback={<Skeleton lines={8} />}>
            <Switch>
              {PAGES.map((entry) => (
                <Route key={entry.path} path={`${entry.path}/:id?`}>
                  {({ id }) => <Opened entry={entry} selected={id ?? null} />}
                </Route>
              ))}
              {home !== '/' && (
                <Route path="/">
                  <Redirect to={home} replace />
                </Route>
              )}
              <Route>
                <Empty title="There is no such page" isPage>
                  <Link href={home}>Go to the first page</Link>
                </Empty>
              </Route>
            </Switch>
          </Suspense>
        </Boundary>
      </main>
      {phone && (
        <Suspense fallback={<aside className="phone" />}>
          <PhoneDock onClose={() => setPhone(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** `/` leads from every page to the search among the messages; on their own page it is a key like others. */
function useSearchKey(mayRead: boolean): void {
  const [location, navigate] = useLocation();
  const isElsewhere = mayRead && !isAt('/messages', location);
  useEffect(() => {
    if (!isElsewhere) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || !isForPage(event)) return;
      event.preventDefault();
      typeAhead();
      navigate('/messages', { state: SEARCHING });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isElsewhere, navigate]);
}

const LOGO = new URL('./icon.svg', import.meta.url).href;

const isAt = (path: string, location: string): boolean => location === path || location.startsWith(`${path}/`);

/** The pages that the key may see: at the left; on a narrow screen behind a button. */
function Navigation({ pages }: { pages: readonly PageEntry[] }) {
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [location]);
  const current = pages.find(({ path }) => isAt(path, location));
  return (
    <nav className={isOpen ? 'pages is-open' : 'pages'} aria-label="Pages">
      <button
        type="button"
        className="button quiet menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setOpen(false);
        }}
      >
        <Icon name={isOpen ? 'close' : 'menu'} />
        {current?.label ?? 'Pages'}
      </button>
      <div className="page-links">
        {pages.map(({ path, icon, label, preload }) => (
          <Link
            key={path}
            href={path}
            aria-current={isAt(path, location) ? 'page' : undefined}
            onPointerEnter={preload}
          >
            <Icon name={icon} />
            {label}
          </Link>
        ))}
      </div>
    </nav>
  );
}

function Opened({ entry, selected }: { entry: PageEntry; selected: string | null }) {
  const can = useCan();
  if (entry.scopes.some(can)) return <entry.Page selected={selected} />;
  return (
    <Empty title="This key may not see this page" isPage>
      <p>
        It needs the scope <code>{entry.scopes[0]}</code>.
      </p>
    </Empty>
  );
}

/** A page whose file is gone, because Herald was updated, or that failed while it was drawn. */
class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Empty title="This page could not be shown" isPage>
        <p>Herald may have been updated, or it is away.</p>
        <button type="button" className="button primary" onClick={() => window.location.reload()}>
          Load it again
        </button>
      </Empty>
    );
  }
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
  const [location, navigate] = useLocation();
  const current = keys[active];
  if (current === undefined) return null;
  const choose = (value: string): void => {
    if (value === 'add') setAdding(true);
    else if (value === 'out') session.remove(current.key, null);
    else {
      const scopes = keys[Number(value)]?.facts.scopes ?? [];
      const allowed = PAGES.filter((page) => page.scopes.some((scope) => scopes.includes(scope)));
      // Another key may see other pages.
      if (!allowed.some(({ path }) => isAt(path, location))) navigate(allowed[0]?.path ?? '/');
      session.choose(Number(value));
    }
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
