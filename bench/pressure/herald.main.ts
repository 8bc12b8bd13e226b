import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startHerald } from '../../src/bootstrap/herald.js';
import { Teardown } from '../../src/bootstrap/teardown.js';
import { Timeline } from '../../src/bootstrap/timeline.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { migrate } from '../../src/infrastructure/database/migrate.js';
import { HeraldLogger } from '../../src/infrastructure/operations/logger.js';
import { CloudApiClient, type SendMessageInput } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import type { SendOutcome } from '../../src/infrastructure/whatsapp/outcome.js';
import { SendBatchService } from '../../src/modules/messages/accept/send-batch.service.js';
import { heraldSettings } from '../../test/support/rig/herald.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { seedConversations } from '../../test/support/rig/seed-messages.js';
import { Workspaces } from '../../test/support/rig/workspace.js';
import { complain, runAdapter, type BenchJob, type BenchWork } from './adapter.js';

const NUMBERS = 20;
/** So that pace does not bind. */
const THROUGHPUT = 10_000;
/** Messages of one recipient are sent one after the other: so many that this does not bind either. */
const RECIPIENTS = 500;

/** All roles of Herald in this process; what would go to WhatsApp is the job. */
await runAdapter({
  system: 'herald',
  version: '0.1',
  eventTables: ['message', 'message_content', 'message_queue', 'message_state', 'message_attempt'].map(
    (table) => `public.${table}`,
  ),
  async open({ databaseUrl, workers }, work) {
    await migrate(databaseUrl);
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    pool.on('error', complain);
    const workspace = await new Workspaces(pool).create(NUMBERS, THROUGHPUT);
    for (const connection of workspace.connections) await seedConversations(pool, connection, RECIPIENTS);
    const dataDir = mkdtempSync(join(tmpdir(), 'herald-pressure-'));
    const teardown = new Teardown((step, error) => complain(`${step}: ${String(error)}`));
    const place = { databaseUrl, dataDir, simulatorUrl: 'http://127.0.0.1:9' };
    const settings = { ROLES: 'api,worker', PORT: '0', LOG_LEVEL: 'error', WORKER_MAX_IN_FLIGHT: String(workers) };
    const config = loadConfig({ env: heraldSettings({ ...place, settings }) });
    const logger = new HeraldLogger(config.process, { write: (line) => void process.stderr.write(line) });
    const timeline = new Timeline(performance.now());
    const { app } = await startHerald({ config, logger, timeline, teardown, onFatal: complain });
    if (app === null) throw new Error('there is no application');
    app.get(CloudApiClient, { strict: false }).sendMessage = (input) => platform(input, work);
    const batches = app.get(SendBatchService, { strict: false });
    const sender = {
      organizationId: workspace.organizationId,
      apiPaidUntil: new Date(Date.now() + 86_400_000),
      limited: false,
    };
    let turn = 0;
    const request = ({ n, at, filler }: BenchJob): Buffer => {
      const number = turn++ % NUMBERS;
      return Buffer.from(
        JSON.stringify({
          idempotency_key: randomUUID(),
          connection_id: workspace.connections[number]?.id,
          to: `+${recipientNumber(Math.floor(turn / NUMBERS) % RECIPIENTS)}`,
          type: 'text',
          text: { body: JSON.stringify({ n, at, filler }) },
        }),
      );
    };
    return {
      async enqueue(jobs) {
        await batches.send(sender, jobs.map(request), true);
      },
      async depth() {
        const { rows } = await pool.query<{ depth: number }>(
          'select count(*)::integer as depth from message_queue where lease_until is null',
        );
        return rows[0]?.depth ?? 0;
      },
      async stop() {
        await teardown.run(3_000);
        await pool.end();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  },
});

/** Takes every message, after the job's work. */
async function platform({ body }: SendMessageInput, work: BenchWork): Promise<SendOutcome> {
  const { text } = body as { text: { body: string } };
  await work(JSON.parse(text.body) as BenchJob);
  return { kind: 'accepted', metaMessageId: `wamid.${randomUUID()}`, waId: null, userId: null, httpStatus: 200 };
}
