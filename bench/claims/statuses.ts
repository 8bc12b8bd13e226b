import { Pool } from 'undici';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import type { BenchContext, Claim } from '../bench-context.js';
import { atLeastTimes, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import { APP_SECRET } from '../../test/support/rig/herald.js';
import { seedAccepted, type AcceptedMessage } from '../../test/support/rig/seed-accepted.js';
import { Stage } from '../../test/support/rig/stage.js';
import { waitFor } from '../../test/support/rig/wait.js';
import type { SeededConnection } from '../../test/support/rig/workspace.js';
import { sendRuns } from './end-to-end.js';

const BATCH = 100;
/** Notifications that the platform has on the way at once. */
const POSTS_AT_ONCE = 8;
const STATUSES = ['sent', 'delivered', 'read'] as const;
const APPLIED_MS = 60_000;

/** Status notifications, verified, stored and applied, against the rate at which messages are sent. */
export const statusesClaim: Claim = {
  name: 'statuses',
  async measure(context): Promise<Finding[]> {
    const { herald } = await sendRuns(context);
    const runs: number[] = [];
    for (let i = 0; i < 3; i++) runs.push(await applyAll(context, context.quick ? 5_000 : 30_000));
    return [
      atLeastTimes(
        2,
        {
          claim: `status notifications applied, bodies of ${BATCH}`,
          value: median(runs),
          unit: '/s',
          notes: { runs: runs.map(Math.round).join(', ') },
        },
        { name: 'messages sent end to end', value: median(herald.map(({ perSecond }) => perSecond)) },
      ),
    ];
  },
};

/** Reports `sent`, `delivered` and `read` of `count` messages; returns statuses a second. */
function applyAll(context: BenchContext, count: number): Promise<number> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'statuses');
    const { connections } = await stage.workspace();
    const [connection] = connections;
    const messages = await seedAccepted(stage.database.pool, connection, count);
    const api = await stage.herald('api');
    const platform = new Pool(api.url, { connections: POSTS_AT_ONCE });
    scope.defer(() => platform.close());
    // Rendered and signed beforehand: the platform's work is not ours to measure.
    const bodies = notifications(connection, messages).map((body) => ({ body, signature: signBody(body, APP_SECRET) }));

    const startedAt = performance.now();
    let next = 0;
    const post = async (): Promise<void> => {
      for (let item = bodies[next++]; item !== undefined; item = bodies[next++]) {
        const { statusCode, body } = await platform.request({
          method: 'POST',
          path: '/platform/whatsapp/webhook',
          headers: { 'content-type': 'application/json', 'x-hub-signature-256': item.signature },
          body: item.body,
        });
        const text = await body.text();
        if (statusCode !== 200) throw new Error(`a notification was answered ${statusCode}: ${text}`);
      }
    };
    await Promise.all(Array.from({ length: POSTS_AT_ONCE }, post));
    await waitFor(
      'the statuses to be applied',
      async () => {
        const { rowCount } = await stage.database.pool.query(
          `select 1 from message_state where connection_id = $1 and status <> 'read' limit 1`,
          [connection.id],
        );
        return rowCount === 0 ? true : null;
      },
      { timeoutMs: APPLIED_MS, everyMs: 20 },
    );
    const perSecond = (count * STATUSES.length) / ((performance.now() - startedAt) / 1_000);
    context.say(`${count * STATUSES.length} statuses applied, ${Math.round(perSecond)}/s`);
    return perSecond;
  });
}

/** Bodies as the platform sends them, all `sent` before the first `delivered`. */
function notifications(connection: SeededConnection, messages: AcceptedMessage[]): string[] {
  const at = String(Math.floor(Date.now() / 1_000));
  const bodies: string[] = [];
  for (const status of STATUSES) {
    for (let i = 0; i < messages.length; i += BATCH) {
      const statuses = messages.slice(i, i + BATCH).map((message) => ({
        id: message.metaMessageId,
        status,
        timestamp: at,
        recipient_id: message.recipient,
        biz_opaque_callback_data: `${message.id}.${message.attemptId}`,
        ...(status === 'read' ? {} : { pricing: { billable: false, pricing_model: 'PMP', category: 'service' } }),
      }));
      const metadata = {
        display_phone_number: connection.phoneNumber,
        phone_number_id: connection.phoneNumberId,
      };
      const value = { messaging_product: 'whatsapp', metadata, statuses };
      bodies.push(
        JSON.stringify({
          object: 'whatsapp_business_account',
          entry: [{ id: connection.wabaId, changes: [{ value, field: 'messages' }] }],
        }),
      );
    }
  }
  return bodies;
}
