import { randomUUID } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeastTimes, forComparison, type Finding } from '../finding.js';
import { COUNTED } from '../load/keyed-request.js';
import type { LoadOrder } from '../load/load.types.js';
import { runLoad } from '../load/run-load.js';
import { median } from '../../test/support/rig/figures.js';
import type { HeraldProcess } from '../../test/support/rig/herald.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import type { Scope } from '../../test/support/rig/scope.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';
import type { SeededConnection, SeededWorkspace } from '../../test/support/rig/workspace.js';

const CONNECTIONS = 64;
const RECIPIENTS = 200;
const WORKSPACES = 1_000;
const TEMPLATE = 'order_update';
/** Contacts of one round; none of them is met twice. */
const CONTACTS_A_ROUND = 1_000_000;

/** POST /messages for what is dearer than a text to a known contact: new contacts, files, many keys, two processes. */
export const acceptKindsClaim: Claim = {
  name: 'accept-kinds',
  measure: (context) => context.scope.within((scope) => measure(context, scope)),
};

interface Rate {
  perSecond: number;
  /** Microseconds of processor time a message, of node and PostgreSQL together. */
  us: number;
}

async function measure(context: BenchContext, scope: Scope): Promise<Finding[]> {
  const postgres = await context.postgres();
  const stage = await Stage.set(scope, postgres, 'kinds');
  const { pool } = stage.database;
  const workspace = await stage.workspaces.create(1);
  const [connection] = workspace.connections;
  const workspaces: SeededWorkspace[] = [workspace];
  while (workspaces.length < (context.quick ? WORKSPACES / 5 : WORKSPACES)) {
    workspaces.push(await stage.workspaces.create(1));
  }
  await seedConversations(pool, connection, RECIPIENTS);
  for (const { connections } of workspaces.slice(1)) {
    for (const other of connections) await seedConversations(pool, other, 1);
  }
  await seedTemplate(stage, connection);
  const mediaId = await seedMedia(stage, connection);
  await pool.query('analyze');
  const [first, second] = [await stage.herald('api'), await stage.herald('api')];

  const [warmUpMs, durationMs] = context.quick ? [500, 3_000] : [1_000, 10_000];
  let counted = 0;
  const run = async (name: string, servers: HeraldProcess[], order: Pick<LoadOrder, 'bodies' | 'apiKeys'>) => {
    const used = (): number =>
      servers.reduce((sum, server) => sum + server.child.processorMs(), 0) + postgres.processorMs();
    const before = used();
    const loads = servers.map((server) =>
      runLoad(scope, {
        apiKeys: [workspace.apiKey],
        ...order,
        url: `${server.url}/api/v1/messages`,
        headers: {},
        countFrom: counted++ * CONTACTS_A_ROUND,
        connections: CONNECTIONS / servers.length,
        warmUpMs,
        durationMs,
      }),
    );
    const answered = (await Promise.all(loads)).reduce((sum, load) => sum + load.answered, 0);
    const perSecond = answered / (durationMs / 1_000);
    // The warm-up counts among the processor time and not among the answers, alike for all.
    const us = ((used() - before) * 1_000) / answered;
    context.say(`${name}: ${Math.round(perSecond)}/s, ${Math.round(us)} µs of all processors a message`);
    return { perSecond, us };
  };
  const texts = Array.from({ length: RECIPIENTS }, (_, n) => ({
    connection_id: connection.id,
    to: `+${recipientNumber(n)}`,
    type: 'text',
    text: { body: 'Hello, your order 4711 is on its way.' },
  }));
  const bodies = {
    text: texts.map((body) => JSON.stringify(body)),
    campaign: [JSON.stringify({ connection_id: connection.id, to: `+491${COUNTED}99`, ...templateBody() })],
    media: texts.map((body) =>
      JSON.stringify({ connection_id: body.connection_id, to: body.to, type: 'image', media: { id: mediaId } }),
    ),
    keys: workspaces.map(({ connections }) =>
      JSON.stringify({ ...texts[0], connection_id: connections[0].id, to: `+${recipientNumber(0)}` }),
    ),
  };
  const apiKeys = workspaces.map(({ apiKey }) => apiKey);
  await run('warm-up', [first, second], { bodies: bodies.text });
  const rates = await inTurn(context.quick ? 2 : 5, {
    text: () => run('text', [first], { bodies: bodies.text }),
    campaign: () => run('template to new contacts', [first], { bodies: bodies.campaign }),
    media: () => run('media by id', [first], { bodies: bodies.media }),
    keys: () => run(`${apiKeys.length} keys`, [first], { bodies: bodies.keys, apiKeys }),
    two: () => run('two api processes', [first, second], { bodies: bodies.text }),
  });
  const plain = rateOf(rates.text);
  const claim = 'POST /messages accepted';
  const against = { name: 'texts to known contacts', value: plain.value };
  return [
    atLeastTimes(0.6, { ...rateOf(rates.campaign), claim: `${claim}: template campaign to new contacts` }, against),
    forComparison({ ...rateOf(rates.media), claim: `${claim}: media by id` }, against),
    forComparison({ ...rateOf(rates.keys), claim: `${claim}: ${apiKeys.length} keys in turn` }, against),
    forComparison({ ...rateOf(rates.two), claim: `${claim}: two api processes` }, against),
  ];
}

function rateOf(rates: readonly Rate[]): { value: number; unit: string; notes: Finding['notes'] } {
  return {
    value: median(rates.map(({ perSecond }) => perSecond)),
    unit: '/s',
    notes: { processor_us: Math.round(median(rates.map(({ us }) => us))) },
  };
}

function templateBody(): object {
  const components = [{ type: 'body', parameters: [{ type: 'text', text: '4711' }] }];
  return { type: 'template', template: { name: TEMPLATE, language: { code: 'en_US' }, components } };
}

async function seedTemplate(
  { database: { pool } }: Stage,
  { organizationId, wabaId }: SeededConnection,
): Promise<void> {
  const components = [{ type: 'BODY', text: 'Your order {{1}} is on its way.', example: { body_text: [['4711']] } }];
  await pool.query(
    `insert into template_account (organization_id, waba_id, synced_at) values ($1, $2, now() + interval '1 hour')`,
    [organizationId, wabaId],
  );
  await pool.query(
    `insert into template (id, organization_id, waba_id, platform_id, name, language, status, platform_status, category,
       parameter_format, components)
     values ($1, $2, $3, '1', $4, 'en_US', 'approved', 'APPROVED', 'UTILITY', 'POSITIONAL', $5)`,
    [newId(), organizationId, wabaId, TEMPLATE, JSON.stringify(components)],
  );
}

async function seedMedia({ database: { pool } }: Stage, connection: SeededConnection): Promise<string> {
  const id = newId();
  await pool.query(
    `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256, status,
       storage_key)
     values ($1, $2, $3, 'outbound', 'image', 'image/png', 68, $4, 'stored', $5)`,
    [id, connection.organizationId, connection.id, '0'.repeat(64), randomUUID()],
  );
  return id;
}
