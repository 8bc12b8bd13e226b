import { useSyncExternalStore } from 'react';

/** What GET /key says of a key. */
export interface KeyFacts {
  workspace: { id: string; name: string };
  name: string;
  scopes: string[];
  mode: 'live' | 'test';
  otp_project: { id: string; name: string; mode: string } | null;
  expires_at: string | null;
  version: string;
}

export interface SignedIn {
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
}

const STORED = 'herald.keys';
let state: State = { keys: [], active: 0, notice: null, stay: false, link: null };
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  // Only where the person chose so, and for this tab only.
  if (state.stay && state.keys.length > 0) {
    sessionStorage.setItem(STORED, JSON.stringify(state.keys.map(({ key }) => key)));
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
