import { useSyncExternalStore } from 'react';

/** What GET /key says of a key. */
export interface KeyFacts {
  workspace: { id: string; name: string };
  name: string;
  scopes: string[];
  mode: 'live' | 'test';
  otp_project: { id: string; name: string; mode: string } | null;
  expires_at: string | null;
  person: { id: string; name: string; email: string; role: string; admin_scopes: string[] } | null;
  version: string;
}

/** What GET /auth/session says of who is signed in by an issuer. */
export interface PersonFacts {
  person: { id: string; name: string; email: string; is_operator: boolean };
  workspaces: { id: string; name: string; role: string }[];
  expires_at: string;
}

export interface SignedIn {
  /** The text of a key, or of a person's workspace what `sessionKey` makes. */
  key: string;
  facts: KeyFacts;
}

/** What a link with a key asks: whether to sign in with it, or that it cannot. */
type Link = { signedIn: SignedIn } | { problem: string };

interface State {
  keys: readonly SignedIn[];
  active: number;
  /** Why the last key is gone. */
  notice: string | null;
  stay: boolean;
  link: Link | null;
  /** Null: no person signed in by an issuer. */
  person: PersonFacts | null;
}

const SESSION = 'session:';

/** Stands for the cookie of a session, which no script sees, in one workspace. */
export const sessionKey = (workspaceId: string): string => SESSION + workspaceId;

/** Stands for the cookie of an operator's session, outside of any workspace: the admin API. */
export const OPERATOR_SESSION = `${SESSION}operator`;

/** Whether it stands for a session; else it is the text of a key. */
export const isOfSession = (key: string): boolean => key.startsWith(SESSION);

/** Null where it is the text of a key, and of an operator's session outside of any workspace. */
export const workspaceOfKey = (key: string): string | null =>
  isOfSession(key) && key !== OPERATOR_SESSION ? key.slice(SESSION.length) : null;

const STORED = 'herald.keys';
let state: State = { keys: [], active: 0, notice: null, stay: false, link: null, person: null };
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  // Only where the person chose so, and for this tab only.
  const kept = state.keys.map(({ key }) => key).filter((key) => !isOfSession(key));
  if (state.stay && kept.length > 0) {
    sessionStorage.setItem(STORED, JSON.stringify(kept));
  } else sessionStorage.removeItem(STORED);
  for (const listener of listeners) listener();
}

export const session = {
  get: (): State => state,
  activeKey: (): string | null => state.keys[state.active]?.key ?? null,
  stored: (): string[] => {
    try {
      const keys: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
      return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
    } catch {
      return [];
    }
  },
  add: (signedIn: SignedIn, stay: boolean): void => {
    const others = state.keys.filter(({ key }) => key !== signedIn.key);
    const keys = [...others, signedIn];
    change({ keys, active: others.length, notice: null, stay: stay || state.stay, link: null });
  },
  choose: (active: number): void => change({ active }),
  remove: (key: string, notice: string | null): void => {
    const keys = state.keys.filter((one) => one.key !== key);
    const active = keys.findIndex((one) => one.key === session.activeKey());
    change({ keys, active: Math.max(active, 0), notice });
  },
  setPerson: (person: PersonFacts): void => change({ person }),
  /** With the workspaces that were opened. */
  removePerson: (notice: string | null): void => {
    const keys = state.keys.filter(({ key }) => !isOfSession(key));
    const active = keys.findIndex((one) => one.key === session.activeKey());
    change({ keys, active: Math.max(active, 0), notice, person: null });
  },
  tell: (notice: string): void => change({ notice }),
  /** The page without a key says what is wrong with a link where its form is. */
  ask: (link: Link | null): void => {
    const notice = link !== null && 'problem' in link && state.keys.length === 0 ? link.problem : state.notice;
    change({ link, notice });
  },
};

export function useSession(): State {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, session.get);
}

export const isOperator = (facts: KeyFacts | undefined): boolean =>
  facts?.scopes.some((scope) => scope.startsWith('operator:')) === true;

/** The scopes of the key in use. */
export function useCan(): (scope: string) => boolean {
  const { keys, active } = useSession();
  const scopes = keys[active]?.facts.scopes ?? [];
  return (scope) => scopes.includes(scope);
}

/** What may be called of the admin API: by an operator, or for the workspace in use by a person's role in it. */
export function useManages(): (scope: string) => boolean {
  const can = useCan();
  return (scope) => can(`operator:${scope}`) || can(`manage:${scope}`);
}
