import { FUZZ_SCALE, FUZZ_SEED, runs } from '../support/runs.js';
import { Caller } from './fuzz/caller.js';
import { Checks } from './fuzz/checks.js';
import { publishedDescription, type Description } from './fuzz/description.js';
import { exampleBodies, sendExamples } from './fuzz/examples.js';
import { ensureAvailability, ensureUseAfterFree } from './fuzz/flows.js';
import { Fuzzer, inParallel } from './fuzz/fuzzer.js';
import { Ledger } from './fuzz/ledger.js';
import { matrixOf } from './fuzz/matrix.js';
import { everyNamespace, WITHOUT_IDS } from './fuzz/namespaces.js';
import { type Scope, SCOPES } from '../../src/infrastructure/http/scopes.js';
import { everyScope, scopeOf } from './fuzz/scopes-of-routes.js';
import { routesOf } from './fuzz/routes.js';
import { ensureOwnKeys, ensureOwnLinks, ensureOwnLists, ensureOwnProjects } from './fuzz/strangers.js';
import { startStage, type Stage } from './fuzz/stage.js';

/**
 * The published description against the real application: what it allows is accepted, what it forbids is refused, and
 * every answer is as described.
 */
// Program, simulator and these callers share one thread: more of them make each wait longer and nothing sooner.
const IN_FLIGHT = 8;
const LONG_MS = 600_000 * Math.max(1, FUZZ_SCALE);

let stage: Stage;
let description: Description;
let caller: Caller;
let fuzzer: Fuzzer;
let ledger: Ledger;

beforeAll(async () => {
  stage = await startStage();
  description = publishedDescription();
  caller = new Caller(stage.test.baseUrl, IN_FLIGHT);
  ledger = new Ledger();
  fuzzer = new Fuzzer(stage, new Checks(description), caller, ledger, {
    seed: FUZZ_SEED,
    positive: runs(20),
    negative: runs(6),
  });
});

afterAll(async () => {
  const text = `FUZZ_SEED=${FUZZ_SEED} FUZZ_SCALE=${FUZZ_SCALE}: ${caller?.sent} requests: ${ledger?.summary()}\n`;
  process.stderr.write(text);
  caller?.close();
  await stage?.stop();
});

/** The findings since the last look. */
let seen = 0;
function newFindings(): string[] {
  const found = ledger.report().slice(seen);
  seen = ledger.findings.length;
  return found;
}

describe('the published description', () => {
  it('has every route of the API, and no others', () => {
    const documented = description.operations.map(({ method, path }) => `${method} ${path}`).sort();
    expect(documented.length).toBeGreaterThan(20);
    expect(routesOf(stage.test.app)).toEqual(documented);
  });

  it('has an example for every body, which is as described and accepted', async () => {
    const bodies = description.operations.filter(({ body }) => body !== null);
    expect(bodies.filter((operation) => exampleBodies(operation, description).length === 0)).toEqual([]);
    for (const operation of description.operations) await sendExamples(fuzzer, operation);
    expect(newFindings()).toEqual([]);
  });
});

describe('the API, by its description', () => {
  it('demands the key, the method and the address', async () => {
    await inParallel(matrixOf(fuzzer), IN_FLIGHT);
    expect(newFindings()).toEqual([]);
  });

  it('asks each route for the scope that the specification gives it, and for no other', async () => {
    const unknown = description.operations.filter(
      (operation) => !['any_key', ...SCOPES].includes(scopeOf(operation) as Scope),
    );
    expect(unknown.map(({ id }) => id)).toEqual([]);
    expect(await everyScope(fuzzer)).toEqual([]);
  });

  it('shows no caller what belongs to others', async () => {
    const places = await Promise.all(description.operations.map((operation) => everyNamespace(fuzzer, operation)));
    const without = description.operations.filter((_operation, at) => places[at]?.length === 0).map(({ id }) => id);
    // What a new row is made of names no other.
    expect(without.filter((id) => !id.endsWith('_create')).sort()).toEqual(Object.keys(WITHOUT_IDS).sort());
    expect(places.flat().length).toBeGreaterThan(25);
    expect(newFindings()).toEqual([]);
  });

  it('lists own rows only, also behind the cursor of another workspace', () => ensureOwnLists(stage), 60_000);

  it('takes an Idempotency-Key that another workspace has used', () => ensureOwnKeys(stage), 60_000);

  it('shows a project its own codes only', () => ensureOwnProjects(stage), 60_000);

  it('opens with a signed link its own file only', () => ensureOwnLinks(stage), 60_000);

  it(
    'accepts what is described, refuses what is not, and never fails',
    async () => {
      await inParallel(fuzzer.pieces(), IN_FLIGHT);
      expect(newFindings()).toEqual([]);
      const ids = description.operations.map(({ id }) => id);
      expect(ledger.without('accepted', ids)).toEqual([]);
      expect(ledger.without('refused', ids)).toEqual([]);
      expect(caller.sent).toBeGreaterThan(2_000 + 2_000 * FUZZ_SCALE);
    },
    LONG_MS,
  );

  it('has what it said it made', () => ensureAvailability(stage), 60_000);

  it('has nothing that was deleted', () => ensureUseAfterFree(stage), 60_000);
});
