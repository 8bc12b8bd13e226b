import { answered, ApiError, factsOf } from './api.ts';
import { OPERATOR_SESSION, type PersonFacts, session, type SignedIn, sessionKey } from './session.ts';

/** Where people sign in, and the sentences of sign-ins that failed, by code. */
export interface Issuers {
  data: { name: string; sign_in_url: string }[];
  problems?: Record<string, string>;
  has_session?: boolean;
}

const ANSWER_MS = 20_000;

async function asked(path: string, method = 'GET'): Promise<Response> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const request = new Request(`${window.location.origin}${path}`, { method, signal });
  request.headers.set('X-Herald-Console', '1');
  return answered(sessionKey(''), fetch(request), request);
}

/** @throws ApiError where the service is away */
export async function readIssuers(): Promise<Issuers> {
  return (await (await asked('/auth/issuers')).json()) as Issuers;
}

/** Where a person begins to sign in, and comes back to the page that is open. */
export function signInAddress(url: string): string {
  return `${url}?to=${encodeURIComponent(window.location.pathname)}`;
}

/** The code of a sign-in that failed, which is taken from the address. */
export function takeProblem(): string | null {
  const query = new URLSearchParams(window.location.search);
  const code = query.get('problem');
  if (code === null) return null;
  query.delete('problem');
  const rest = query.toString();
  window.history.replaceState(null, '', window.location.pathname + (rest === '' ? '' : `?${rest}`));
  return code;
}

/**
 * Signs in who has a session: with the workspace that was open last in this tab, else the first; an operator with the
 * operator's pages where these are asked for, or no workspace was open.
 *
 * @throws ApiError where the service is away
 */
export async function signInPerson(): Promise<void> {
  try {
    const { data } = (await (await asked('/auth/session')).json()) as { data: PersonFacts };
    const facts = { ...data, workspaces: await workspacesOf(data) };
    session.setPerson(facts);
    const last = lastOpened();
    const [first] = facts.workspaces;
    const isAtOperator = window.location.pathname.startsWith('/console/operator');
    if (data.person.is_operator && (last === null || isAtOperator)) await openOperator();
    else if (data.person.is_operator && last !== null) await openWorkspace(last).catch(() => openOperator());
    else if (first === undefined) session.tell('You are signed in, but there is no workspace for you yet.');
    else await openWorkspace((facts.workspaces.find(({ id }) => id === last) ?? first).id);
  } catch (failure) {
    // The page of sign-in says it.
    if (!(failure instanceof ApiError) || failure.status !== 401) throw failure;
  }
}

/** An operator, who may be a member of none, chooses from all. */
async function workspacesOf({ person, workspaces }: PersonFacts): Promise<PersonFacts['workspaces']> {
  if (!person.is_operator) return workspaces;
  const answer = await asked('/api/admin/v1/workspaces?limit=100');
  const { data } = (await answer.json()) as { data: { id: string; name: string; state: string }[] };
  return data.filter(({ state }) => state === 'active').map(({ id, name }) => ({ id, name, role: 'operator' }));
}

/** @throws ApiError where the person is no member any more, or the service is away */
export async function openWorkspace(id: string): Promise<SignedIn> {
  const signedIn = { key: sessionKey(id), facts: await factsOf(sessionKey(id)) };
  session.add(signedIn, false);
  remember(id);
  return signedIn;
}

/** @throws ApiError where the person is no operator any more, or the service is away */
export async function openOperator(): Promise<SignedIn> {
  const signedIn = { key: OPERATOR_SESSION, facts: await factsOf(OPERATOR_SESSION) };
  session.add(signedIn, false);
  return signedIn;
}

/** Ends the session of this browser, or all of the person. */
export async function signOut(everywhere: boolean): Promise<void> {
  await asked(everywhere ? '/auth/sessions' : '/auth/session', 'DELETE');
  session.removePerson(everywhere ? 'You are signed out everywhere.' : 'You are signed out.');
}

const OPENED = 'herald.workspace';

// A browser that keeps nothing of a page throws.
function lastOpened(): string | null {
  try {
    return sessionStorage.getItem(OPENED);
  } catch {
    return null;
  }
}

function remember(id: string): void {
  try {
    sessionStorage.setItem(OPENED, id);
  } catch {
    // The first workspace is opened next time.
  }
}
