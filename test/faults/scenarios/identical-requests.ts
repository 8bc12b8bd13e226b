import { randomUUID } from 'node:crypto';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { seedConversations } from '../../support/rig/seed-messages.js';
import { Stage } from '../../support/rig/stage.js';
import { forEachOf } from '../caller.js';
import { headerOf, HttpCaller, messageRequest, Violations, type HttpRequest } from '../http-caller.js';
import type { FaultContext, Scenario } from '../scenario.js';

const TWINS = 50;
const RECIPIENTS = 100;
/** Keys under way at once: their twins share the batches of both processes. */
const KEYS_AT_ONCE = 3;
const MOST_CONFLICTS = 0.01;

/** The same request fifty times at the same moment, over two processes. */
export const identicalRequests: Scenario = {
  name: 'identical-requests',
  goal: 'G1: 50 identical POSTs at once over 2 processes; 1 message a key, equal answers, no 5xx',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const keys = context.quick ? 100 : 2_000;
  const stage = await Stage.set(scope, context.postgres, 'identical');
  const { apiKey, connections } = await stage.workspace(1);
  const [connection] = connections;
  await seedConversations(stage.database.pool, connection, RECIPIENTS);
  const processes = await Promise.all([stage.herald('api'), stage.herald('api')]);
  const callers = processes.map(({ url }) => new HttpCaller(scope, url, (TWINS * KEYS_AT_ONCE) / 2));
  const violations = new Violations();
  const idOf = new Map<string, string>();
  let [answered, conflicts, broken] = [0, 0, 0];

  await forEachOf(keys, KEYS_AT_ONCE, async (n) => {
    const key = randomUUID();
    const request = messageRequest(apiKey, connection, n % RECIPIENTS, key);
    const answers = await Promise.all(
      Array.from({ length: TWINS }, (_, i) => (callers[i % 2] as HttpCaller).call(spelled(request, i))),
    );
    const taken = answers.filter(({ status }) => status === 202);
    for (const answer of answers) {
      if (answer.status === 0) broken++;
      else if (answer.status === 409) {
        conflicts++;
        if (headerOf(answer, 'retry-after') === null) violations.add('a 409 without Retry-After');
      } else if (answer.status !== 202) violations.add(`answered ${answer.status}: ${answer.text.slice(0, 120)}`);
    }
    answered += taken.length;
    if (new Set(taken.map(({ text }) => text)).size > 1) violations.add('the bodies of one key differ');
    const first = taken.filter((answer) => headerOf(answer, 'idempotency-replayed') === null).length;
    if (first !== 1) violations.add(`${first} answers of one key say that they are the first`);
    const { data } = JSON.parse(taken[0]?.text ?? '{}') as { data?: { id: string } };
    if (data !== undefined) idOf.set(key, data.id);
    if ((n + 1) % Math.ceil(keys / 4) === 0) context.say(`${n + 1} of ${keys} keys`);
  });

  const { rows } = await stage.database.pool.query<{ key: string; id: string }>(
    'select idempotency_key as key, id from message',
  );
  const lost = [...idOf].filter(([key, id]) => !rows.some((row) => row.key === key && row.id === id)).length;
  if (lost > 0) violations.add(`${lost} keys were answered with a message that is not there`);
  if (rows.length !== keys) violations.add(`${keys} keys made ${rows.length} messages`);
  if (broken > 0) violations.add(`${broken} requests got no answer`);
  if (conflicts > MOST_CONFLICTS * keys * TWINS) violations.add(`${conflicts} answers are 409`);
  return {
    faults: 0,
    attempted: keys * TWINS,
    acknowledged: answered,
    lost,
    duplicated: Math.max(0, rows.length - keys),
    unknown: broken,
    recovered_ms: null,
    violations: violations.list(),
    notes: { keys, conflicts },
  };
}

/** The same meaning: every third has its fields in another order, and white space between them. */
function spelled(request: HttpRequest, i: number): HttpRequest {
  if (i % 3 !== 0) return request;
  const fields = Object.entries(JSON.parse(String(request.body)) as Record<string, unknown>);
  return { ...request, body: JSON.stringify(Object.fromEntries(fields.toReversed()), null, 2) };
}
