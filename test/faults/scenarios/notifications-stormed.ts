import type { FaultReport } from '../../support/rig/fault-result.js';
import { percentile } from '../../support/rig/figures.js';
import { APP_SECRET } from '../../support/rig/herald.js';
import { seedAccepted, type AcceptedMessage } from '../../support/rig/seed-accepted.js';
import { Stage } from '../../support/rig/stage.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import type { SeededConnection } from '../../support/rig/workspace.js';
import { signBody } from '../../../src/infrastructure/whatsapp/webhook-signature.js';
import { forEachOf } from '../caller.js';
import { HttpCaller, Violations } from '../http-caller.js';
import { type FaultContext, randomBetween, type Scenario, shuffled } from '../scenario.js';

const PATH = '/platform/whatsapp/webhook';
const POSTS_AT_ONCE = 24;
const STATUSES = ['sent', 'delivered', 'read'] as const;
/** A status of a message that the attacker would like to see as failed. */
const FORGED = 'failed';
const AGAIN_MS = 50;
const APPLIED_MS = 60_000;
/** Callbacks before the next kill, which would else fall into the start. */
const MIN_BETWEEN = 200;
const PROGRESS_MS = 90_000;

/** Signed callbacks in any order, each up to twice, beside forged ones, while the api is killed. */
export const notificationsStormed: Scenario = {
  name: 'notifications-stormed',
  longOnly: true,
  goal: 'G13: callbacks out of order beside forged ones, api kill -9; forged accepted 0, acknowledged lost 0, no state goes back',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [count, kills] = context.quick ? [1_000, 3] : [20_000, 10];
  const stage = await Stage.set(scope, context.postgres, 'notified');
  const { connections } = await stage.workspace();
  const [connection] = connections;
  const messages = await seedAccepted(stage.database.pool, connection, count);
  await watchStates(stage);
  const [api] = await Promise.all([stage.herald('api'), stage.herald('worker')]);
  const platform = new HttpCaller(scope, api.url, POSTS_AT_ONCE);
  const violations = new Violations();
  const latenciesMs: number[] = [];
  let [acknowledged, unanswered, forgedAccepted, forged] = [0, 0, 0, 0];

  const bodies = shuffled(messages.flatMap((message) => callbacks(connection, message)));
  const killing = killAgainAndAgain(context, api, kills, () => acknowledged);
  killing.catch(() => undefined); // awaited below; until then a failure must not end the process
  const endedAt = await forEachOf(bodies.length, POSTS_AT_ONCE, async (n) => {
    const body = bodies[n] as Buffer;
    const headers = signedBy(signBody(body, APP_SECRET));
    for (;;) {
      const answer = await platform.call({ method: 'POST', path: PATH, headers, body });
      if (answer.status === 200) {
        acknowledged++;
        latenciesMs.push(answer.ms);
        break;
      }
      // As the platform does: it repeats until it is answered 200.
      if (answer.status === 0) unanswered++;
      else if (answer.status !== 503) violations.add(`a signed callback is answered ${answer.status}`);
      await pause(AGAIN_MS);
    }
    if (n % 2 !== 0) return;
    forged++;
    const lie = statusBody(connection, messages[n % count] as AcceptedMessage, FORGED);
    const answer = await platform.call({ method: 'POST', path: PATH, headers: forgedHeaders(lie, n), body: lie });
    if (answer.status === 200) forgedAccepted++;
    else if (![401, 429, 503, 0].includes(answer.status))
      violations.add(`a forged callback is answered ${answer.status}`);
  });
  const killedAt = await killing;
  const lost = await unread(stage);
  const recoveredMs = Math.max(0, performance.now() - Math.max(killedAt, endedAt));
  const { rows } = await stage.database.pool.query<{ steps: number }>(
    'select count(*)::integer as steps from backward',
  );
  const backward = rows[0]?.steps ?? Number.NaN;
  if (forgedAccepted > 0) violations.add(`${forgedAccepted} forged callbacks were accepted`);
  if (lost > 0) violations.add(`${lost} messages never came to the state that was acknowledged`);
  if (backward !== 0) violations.add(`${backward} states went back`);
  return {
    faults: kills,
    attempted: bodies.length,
    acknowledged,
    lost,
    duplicated: 0,
    unknown: 0,
    recovered_ms: recoveredMs,
    violations: violations.list(),
    notes: {
      repeated: unanswered,
      forged,
      forged_accepted: forgedAccepted,
      states_gone_back: backward,
      p50_ms: Math.round(percentile(latenciesMs, 0.5)),
      p99_ms: Math.round(percentile(latenciesMs, 0.99)),
    },
  };
}

/** Spread over the callbacks. Resolves with the time of the last kill. */
async function killAgainAndAgain(
  { say }: FaultContext,
  api: Awaited<ReturnType<Stage['herald']>>,
  kills: number,
  acknowledged: () => number,
): Promise<number> {
  let killedAt = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
    const from = acknowledged();
    const more = (): true | null => (acknowledged() >= from + MIN_BETWEEN ? true : null);
    await waitFor('callbacks to be acknowledged', more, { timeoutMs: PROGRESS_MS, everyMs: 5 }).catch(() => null);
    await pause(randomBetween(0, 300));
    await api.child.kill();
    killedAt = performance.now();
    api.revive();
    await api.ready();
    say(`kill ${kill} of ${kills}: ${acknowledged()} acknowledged so far`);
  }
  return killedAt;
}

/** Writes down every message whose state goes back, in the transaction that does it. */
async function watchStates({ database }: Stage): Promise<void> {
  await database.pool.query(`
    create table backward (id uuid, was text, becomes text);
    create function herald_rank(status text) returns integer language sql immutable as
      $$ select coalesce(array_position(array['accepted', 'sent', 'delivered', 'read'], status), 0) $$;
    create function note_backward() returns trigger language plpgsql as $$
      begin
        if herald_rank(new.status) < herald_rank(old.status) then
          insert into backward values (old.message_id, old.status, new.status);
        end if;
        return null;
      end $$;
    create trigger note_backward after update of status on message_state for each row execute function note_backward()`);
}

/** Messages that are not `read` after everything should be; 0 is what is waited for. */
async function unread({ database }: Stage): Promise<number> {
  const open = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ open: number }>(
      `select count(*)::integer as open from message_view where status <> 'read'`,
    );
    return rows[0]?.open ?? Number.NaN;
  };
  const none = async (): Promise<true | null> => ((await open()) === 0 ? true : null);
  await waitFor('every message to be read', none, { timeoutMs: APPLIED_MS }).catch(() => null);
  return open();
}

/** Every status of a message once, and every third of them twice. */
function callbacks(connection: SeededConnection, message: AcceptedMessage): Buffer[] {
  return STATUSES.flatMap((status, i) => {
    const body = statusBody(connection, message, status);
    return (message.metaMessageId.length + i) % 3 === 0 ? [body, body] : [body];
  });
}

function statusBody(connection: SeededConnection, message: AcceptedMessage, status: string): Buffer {
  const { phoneNumber: display_phone_number, phoneNumberId: phone_number_id, wabaId } = connection;
  const report = {
    id: message.metaMessageId,
    status,
    timestamp: String(Math.floor(Date.now() / 1_000)),
    recipient_id: message.recipient,
    biz_opaque_callback_data: `${message.id}.${message.attemptId}`,
    ...(status === FORGED ? { errors: [{ code: 131026, title: 'Message undeliverable' }] } : {}),
  };
  const metadata = { display_phone_number, phone_number_id };
  const value = { messaging_product: 'whatsapp', metadata, statuses: [report] };
  const entry = [{ id: wabaId, changes: [{ value, field: 'messages' }] }];
  return Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', entry }));
}

/** Another secret, another body, nothing at all, or a signature that is none. */
function forgedHeaders(body: Buffer, n: number): Record<string, string> {
  const kinds = [
    signBody(body, `${APP_SECRET}x`),
    signBody(Buffer.concat([body, Buffer.from(' ')]), APP_SECRET),
    signBody(body, ''),
    `sha256=${'0'.repeat(64)}`,
    'sha256=',
    signBody(body, APP_SECRET).replace('sha256=', 'sha1='),
  ];
  const kind = kinds[(n >> 1) % (kinds.length + 1)];
  return kind === undefined ? { 'content-type': 'application/json' } : signedBy(kind);
}

function signedBy(signature: string): Record<string, string> {
  return { 'content-type': 'application/json', 'x-hub-signature-256': signature };
}
