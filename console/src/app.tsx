import { useQueryClient } from '@tanstack/react-query';
import { Component, lazy, type ReactNode, Suspense, useCallback, useContext, useEffect, useState } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { Button } from './controls.tsx';
import { KeySwitch } from './key-switch.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { LinkQuestion, openLink, takeLinkKey } from './link.tsx';
import { useLiveConnection, useLiveState } from './live.ts';
import { isAt, type PageEntry, PAGES } from './pages.tsx';
import { type SignedIn, useCan, useSession } from './session.ts';
import { HasSimulator } from './simulated.ts';
import { SignIn } from './sign-in.tsx';
import { start, type Started } from './start.ts';
import { Icon } from './icon.tsx';
import { Empty, isForPage, Problem, SEARCHING, Skeleton, typeAhead, useTitle } from './ui.tsx';

const PhoneDock = lazy(async () => ({ default: (await import('./phone.tsx')).PhoneDock }));

// Its file comes while the key is asked about.
(PAGES.find(({ path }) => window.location.pathname.startsWith(`/console${path}`)) ?? PAGES[0])?.preload();

/** After so long a service that was away is asked again. */
const START_AGAIN_MS = 3_000;

export function App() {
  const [started, setStarted] = useState<Started | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const begin = useCallback((): void => {
    start().then(
      (answer) => {
        setProblem(null);
        setStarted(answer);
      },
      (failure: unknown) => setProblem(failure),
    );
  }, []);
  useEffect(() => {
    begin();
    // A link to the page that is open changes its fragment only.
    const onHash = (): void => {
      const key = takeLinkKey();
      if (key !== null) openLink(key).catch(setProblem);
    };
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, [begin]);
  useEffect(() => {
    if (problem === null) return undefined;
    const timer = setTimeout(begin, START_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [problem, begin]);
  const { keys, active } = useSession();
  const signedIn = keys[active];
  if (signedIn === undefined && problem !== null) return <Away problem={problem} onRetry={begin} />;
  if (started === null) return <Starting />;
  if (signedIn === undefined) return <SignIn demoKey={started.demo?.api_key ?? null} issuers={started.issuers} />;
  return (
    <Router base="/console">
      <HasSimulator value={started.demo?.simulator === true}>
        <Shell key={signedIn.key} signedIn={signedIn} />
        <LinkQuestion />
      </HasSimulator>
    </Router>
  );
}

function Away({ problem, onRetry }: { problem: unknown; onRetry: () => void }) {
  useTitle('Herald does not answer');
  return (
    <main className="sign-in">
      <h1>Herald console</h1>
      <Problem error={problem} onRetry={onRetry} />
    </main>
  );
}

function Starting() {
  return (
    <div className="shell" aria-busy="true">
      <header className="bar">
        <span className="brand">
          <img src={LOGO} alt="" width="24" height="24" />
          <span>Herald</span>
        </span>
      </header>
      <main className="starting">
        <h1 className="hidden">Herald is loading</h1>
        <Skeleton lines={10} />
      </main>
    </div>
  );
}

const PHONE_FROM_PX = 1_180;
const PHONE = 'herald.phone';

/** Whether the phone is shown beside the pages. Where there is room for it, the browser remembers that it was closed. */
function usePhone(hasPhone: boolean): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(() => hasPhone && window.innerWidth >= PHONE_FROM_PX && !wasClosed());
  const change = (next: boolean): void => {
    setOpen(next);
    if (window.innerWidth >= PHONE_FROM_PX) rememberClosed(!next);
  };
  return [isOpen, change];
}

// A browser that keeps nothing of a page throws.
function wasClosed(): boolean {
  try {
    return localStorage.getItem(PHONE) === 'closed';
  } catch {
    return false;
  }
}

function rememberClosed(isClosed: boolean): void {
  try {
    if (isClosed) localStorage.setItem(PHONE, 'closed');
    else localStorage.removeItem(PHONE);
  } catch {
    // The phone opens again with the next page.
  }
}

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
  const [phone, setPhone] = usePhone(hasPhone);
  const [isHelping, setHelping] = useState(false);
  useHelpKey(setHelping);
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
        <button type="button" className="button quiet wide" aria-label="Shortcuts" onClick={() => setHelping(true)}>
          ?
        </button>
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
                <NoPage home={home} />
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
      {isHelping && <KeysDialog onClose={() => setHelping(false)} />}
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

/** `?` shows what the other keys do. */
function useHelpKey(show: (isShown: true) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '?' || !isForPage(event)) return;
      event.preventDefault();
      show(true);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [show]);
}

const LOGO = new URL('./icon.svg', import.meta.url).href;

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

function NoPage({ home }: { home: string }) {
  useTitle('No such page');
  return (
    <Empty title="There is no such page" isPage>
      <Link href={home}>Go to the first page</Link>
    </Empty>
  );
}

function Opened({ entry, selected }: { entry: PageEntry; selected: string | null }) {
  const can = useCan();
  useTitle(entry.label);
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
        <Button primary label="Load it again" onClick={() => window.location.reload()} />
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
