import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atMostTimes, forComparison, type Finding } from '../finding.js';
import { COUNTED } from '../load/keyed-request.js';
import { runLoad } from '../load/run-load.js';
import { median } from '../../test/support/rig/figures.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';

const RECIPIENTS = 200;
const MESSAGES = 100;
/** Alike for both: what waits in the server for its commit. */
const CONNECTIONS = { single: 64, batch: 4 };

const KEYS_A_RUN = 1_000_000;

/** POST /messages/batch with 100 messages against as many requests with one, of the same process. */
export const batchClaim: Claim = {
  name: 'batch',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

interface Rate {
  perSecond: number;
  /** Microseconds of processor time a message. */
  nodeUs: number;
  postgresUs: number;
}

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const postgres = await context.postgres();
  const stage = await Stage.set(scope, postgres, 'batch', { settings: { LOG_LEVEL: 'info' } });
  const { connections, apiKey } = await stage.workspace();
  const [connection] = connections;
  await seedConversations(stage.database.pool, connection, RECIPIENTS);
  const herald = await stage.herald('api');

  const texts = Array.from({ length: RECIPIENTS }, (_, n) => ({
    connection_id: connection.id,
    to: `+${recipientNumber(n)}`,
    type: 'text',
    text: { body: 'Hello, your order 4711 is on its way.' },
  }));
  const durationMs = context.quick ? 2_000 : 8_000;
  let runs = 0;
  const run = async (name: keyof typeof CONNECTIONS, path: string, bodies: string[], each: number): Promise<Rate> => {
    const before = [herald.child.processorMs(), postgres.processorMs()] as const;
    const { answered } = await runLoad(scope, {
      url: `${herald.url}/api/v1${path}`,
      headers: { Authorization: `Bearer ${apiKey}` },
      bodies,
      countFrom: runs++ * KEYS_A_RUN,
      connections: CONNECTIONS[name],
      warmUpMs: 0,
      durationMs,
    });
    const messages = answered * each;
    const rate = {
      perSecond: messages / (durationMs / 1_000),
      nodeUs: ((herald.child.processorMs() - before[0]) * 1_000) / messages,
      postgresUs: ((postgres.processorMs() - before[1]) * 1_000) / messages,
    };
    context.say(
      `${name}: ${Math.round(rate.perSecond)} messages/s, node ${Math.round(rate.nodeUs)} µs, PostgreSQL ${Math.round(rate.postgresUs)} µs a message`,
    );
    return rate;
  };
  const single = () =>
    run(
      'single',
      '/messages',
      texts.map((body) => JSON.stringify(body)),
      1,
    );
  const batch = () => run('batch', '/messages/batch', [batchBody(texts)], MESSAGES);
  await single();
  await batch();
  const rates = await inTurn(context.quick ? 3 : 8, { single, batch });
  const claim = 'POST /messages/batch, 100 messages';
  const of = (field: keyof Rate) => ({
    batch: median(rates.batch.map((rate) => rate[field])),
    single: median(rates.single.map((rate) => rate[field])),
  });
  const [perSecond, nodeUs, postgresUs] = [of('perSecond'), of('nodeUs'), of('postgresUs')];
  const alone = 'POST /messages, one message each';
  return [
    forComparison(
      {
        claim: `${claim}: accepted, durable, one process`,
        value: perSecond.batch,
        unit: '/s',
        notes: { runs: rates.batch.map((rate) => Math.round(rate.perSecond)).join(', ') },
      },
      { name: alone, value: perSecond.single },
    ),
    atMostTimes(
      0.5,
      { claim: `${claim}: processor time of node for a message`, value: nodeUs.batch, unit: 'µs' },
      { name: alone, value: nodeUs.single },
    ),
    forComparison(
      { claim: `${claim}: processor time of PostgreSQL for a message`, value: postgresUs.batch, unit: 'µs' },
      { name: alone, value: postgresUs.single },
    ),
  ];
}

/** Each message has its own recipient and its own key, which is another one in each request. */
function batchBody(texts: readonly object[]): string {
  const messages = texts.slice(0, MESSAGES).map((text, n) => ({
    idempotency_key: `${n.toString(16).padStart(8, '0')}-0000-4000-8000-0000${COUNTED}`,
    ...text,
  }));
  return JSON.stringify({ messages });
}
