import { ApiError, factsOf, isAway } from './api.ts';
import { type Issuers, readIssuers, signInPerson, takeProblem } from './person.ts';
import { openLink, takeLinkKey } from './link.tsx';
import { session } from './session.ts';

interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
  simulator: boolean;
}

export interface Started {
  /** Null: it is no demo. */
  demo: DemoKeys | null;
  issuers: Issuers['data'];
}

const ANSWER_MS = 20_000;

async function demoKeys(): Promise<DemoKeys | null> {
  const url = '/console/demo.json';
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  if (response === null) throw new ApiError(0, 'NOT_REACHED', 'Herald does not answer.', null, null);
  if (response.status >= 500) {
    const message = 'Herald does not answer; what stands before it does.';
    throw new ApiError(response.status, `HTTP_${response.status}`, message, null, null);
  }
  return response.status === 200 ? ((await response.json()) as DemoKeys) : null;
}

/** @throws ApiError where the service is away: whether the key is right is not known */
async function signIn(key: string, stay: boolean): Promise<void> {
  try {
    session.add({ key, facts: await factsOf(key) }, stay);
  } catch (failure) {
    // The form says nothing of a key that was not typed.
    if (isAway(failure)) throw failure;
  }
}

let linkKey = takeLinkKey();
let problem = takeProblem();
let starting: Promise<Started> | null = null;

async function run(): Promise<Started> {
  const stored = session.stored();
  const given = linkKey;
  const demo = await demoKeys();
  const issuers = await readIssuers();
  if (issuers.has_session === true) await signInPerson();
  for (const key of stored) await signIn(key, true);
  if (given !== null) await openLink(given);
  // Not in the place of a key that was wrong: who gave one is to know.
  const isNew = stored.length === 0 && given === null && session.get().person === null;
  if (isNew && problem === null && demo !== null) {
    // The workspace's last, so that it is the one in use.
    await signIn(demo.otp_sandbox_key, false);
    await signIn(demo.api_key, false);
  }
  if (problem !== null) session.tell(issuers.problems?.[problem] ?? 'The sign-in failed; sign in again.');
  problem = null;
  linkKey = null;
  return { demo, issuers: issuers.data };
}

/**
 * Signs in what the address, this tab or the demo gives. Once, however often it is called; anew where it failed.
 *
 * @throws ApiError where the service is away
 */
export async function start(): Promise<Started> {
  starting ??= run();
  try {
    return await starting;
  } catch (failure) {
    starting = null;
    throw failure;
  }
}
