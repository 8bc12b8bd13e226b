import { randomUUID } from 'node:crypto';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import { temporaryFolder } from '../../support/rig/folder.js';
import { HeraldProcess } from '../../support/rig/herald.js';
import { seedConversations } from '../../support/rig/seed-messages.js';
import { Stage } from '../../support/rig/stage.js';
import { TcpProxy } from '../../support/rig/tcp-proxy.js';
import { pause } from '../../support/rig/wait.js';
import type { SeededWorkspace } from '../../support/rig/workspace.js';
import { headerOf, HttpCaller, messageRequest, Violations, type HttpAnswer, type HttpRequest } from '../http-caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const RECIPIENTS = 200;
const USUAL_WRITERS = 64;
const WRITERS = 512;
const READERS = 128;
/** Of each direction to PostgreSQL: a statement that took one or two milliseconds takes ten times as long. */
const SLOW_MS = 10;
const REFUSED_PAUSE_MS = 50;
const NORMAL_WITHIN_MS = 5_000;
const PROBES = 10;
const PROBE_MS = 1_000;
const GIVE_UP_MS = 30_000;

/** Many more callers than it can serve, and PostgreSQL ten times slower in between. */
export const overload: Scenario = {
  name: 'overload',
  longOnly: true,
  goal: 'G28: load over capacity, PostgreSQL slowed; refusals 429 or 503 with Retry-After, acknowledged lost 0, normal 5 s after',
  alone: true,
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

interface Tally {
  accepted: string[];
  readsAnswered: number;
  refusals: number[];
  sent: number;
}

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const phaseMs = context.quick ? 2_500 : 20_000;
  const stage = await Stage.set(scope, context.postgres, 'overload');
  const workspace = await stage.workspace(1);
  for (const connection of workspace.connections) {
    await seedConversations(stage.database.pool, connection, RECIPIENTS);
  }
  const proxy = await TcpProxy.before(scope, stage.database.url);
  const api = await HeraldProcess.start(scope, 'api', {
    databaseUrl: proxy.through(stage.database.url),
    dataDir: temporaryFolder(scope, 'overload'),
    simulatorUrl: stage.simulator.url,
    settings: { METRICS_TOKEN: 'overload', OVERLOAD_LOOP_DELAY_MS: '150' },
  });
  const caller = new HttpCaller(scope, api.url, WRITERS + READERS);
  const violations = new Violations();
  const press = (writers: number, readers: number): Promise<Tally> =>
    load({ caller, workspace, violations, writers, readers, untilMs: performance.now() + phaseMs });

  await press(USUAL_WRITERS, 0); // warm
  const usual = await press(USUAL_WRITERS, 0);
  const crowded = await press(WRITERS, READERS);
  proxy.set({ kind: 'delay', ms: SLOW_MS });
  const slowed = await press(WRITERS, READERS);
  proxy.heal();
  const recoveredMs = await normalAfter(caller, workspace);

  const all = [usual, crowded, slowed];
  const acknowledged = all.flatMap(({ accepted }) => accepted);
  const { rows } = await stage.database.pool.query<{ id: string }>('select id from message');
  const stored = new Set(rows.map(({ id }) => id));
  const lost = acknowledged.filter((id) => !stored.has(id)).length;
  if (lost > 0) violations.add(`${lost} acknowledged messages are not there`);
  if (recoveredMs > NORMAL_WITHIN_MS) violations.late(`normal only ${Math.round(recoveredMs)} ms after`);
  const refusals = [...crowded.refusals, ...slowed.refusals];
  const perSecond = (tally: Tally): number => Math.round((tally.accepted.length / phaseMs) * 1_000);
  const shedRequests = await shed(caller);
  context.say(
    `accepted a second: usual ${perSecond(usual)}, crowded ${perSecond(crowded)}, slowed ${perSecond(slowed)}; ` +
      `${refusals.length} refused, before authentication: ${shedRequests}`,
  );
  return {
    faults: 1,
    attempted: all.reduce((sum, { sent }) => sum + sent, 0),
    acknowledged: acknowledged.length,
    lost,
    duplicated: 0,
    unknown: 0,
    recovered_ms: recoveredMs,
    violations: violations.list(),
    late: violations.lateOnes,
    notes: {
      accepted_per_second_usual: perSecond(usual),
      accepted_per_second_crowded: perSecond(crowded),
      accepted_per_second_slowed: perSecond(slowed),
      reads_answered: crowded.readsAnswered + slowed.readsAnswered,
      refused: refusals.length,
      ...(refusals.length === 0
        ? {}
        : {
            refusal_p50_ms: Math.round(percentile(refusals, 0.5)),
            refusal_p99_ms: Math.round(percentile(refusals, 0.99)),
          }),
      refused_at_the_door: shedRequests,
    },
  };
}

interface Load {
  caller: HttpCaller;
  workspace: SeededWorkspace;
  violations: Violations;
  writers: number;
  readers: number;
  untilMs: number;
}

/** Each caller sends one request after the other; who is refused comes again too soon, as bad clients do. */
async function load({ caller, workspace, violations, writers, readers, untilMs }: Load): Promise<Tally> {
  const tally: Tally = { accepted: [], readsAnswered: 0, refusals: [], sent: 0 };
  const drive = async (request: () => HttpRequest, took: (answer: HttpAnswer) => void): Promise<void> => {
    while (performance.now() < untilMs) {
      tally.sent++;
      const answer = await caller.call(request());
      if (answer.status === 202 || answer.status === 200) took(answer);
      else if (answer.status === 503 || answer.status === 429) {
        tally.refusals.push(answer.ms);
        const retryAfter = Number(headerOf(answer, 'retry-after') ?? Number.NaN);
        if (!(retryAfter >= 1)) violations.add(`a ${answer.status} without Retry-After`);
        await pause(REFUSED_PAUSE_MS);
      } else violations.add(`answered ${answer.status}: ${answer.text.slice(0, 120)}`);
    }
  };
  const writer = (): Promise<void> =>
    drive(
      () => newMessage(workspace),
      ({ text }) => void tally.accepted.push((JSON.parse(text) as { data: { id: string } }).data.id),
    );
  const reader = (): Promise<void> =>
    drive(
      () => ({ path: '/api/v1/messages?limit=50', headers: { authorization: `Bearer ${workspace.apiKey}` } }),
      () => void tally.readsAnswered++,
    );
  await Promise.all([...Array.from({ length: writers }, writer), ...Array.from({ length: readers }, reader)]);
  return tally;
}

let sent = 0;

function newMessage({ apiKey, connections }: SeededWorkspace): HttpRequest {
  const [connection] = connections;
  return messageRequest(apiKey, connection, sent++ % RECIPIENTS, randomUUID());
}

/** Milliseconds until the first of ten messages in a row that are taken within a second each. */
async function normalAfter(caller: HttpCaller, workspace: SeededWorkspace): Promise<number> {
  const from = performance.now();
  let normalFrom = from;
  for (let good = 0; good < PROBES && performance.now() < from + GIVE_UP_MS;) {
    const startedAt = performance.now();
    const answer = await caller.call(newMessage(workspace));
    const isGood = answer.status === 202 && answer.ms < PROBE_MS;
    if (isGood && good === 0) normalFrom = startedAt;
    good = isGood ? good + 1 : 0;
    if (!isGood) normalFrom = performance.now();
    await pause(REFUSED_PAUSE_MS);
  }
  return normalFrom - from;
}

/** Requests refused before authentication, from the metrics. */
async function shed(caller: HttpCaller): Promise<string> {
  const { text } = await caller.call({ path: '/metrics', headers: { authorization: 'Bearer overload' } });
  const kinds = [...text.matchAll(/^herald_requests_shed_(\w+)_total (\d+)$/gm)].map(
    ([, kind, many]) => `${kind} ${many}`,
  );
  return kinds.join(', ') || 'none';
}
