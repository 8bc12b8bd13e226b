import { createPostgresBackend, createRedisBackend, Queue, Worker, type BackendFactory, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Pool } from 'undici';
import { newId } from '../../src/common/ids.js';
import { buildMessageBody } from '../../src/platform/whatsapp/message-body.js';

/**
 * Sends queued messages the usual way: one BullMQ job a message. It does what Herald does for a message, in the same
 * tables: claim it and open an attempt, call the platform, store the outcome and close the attempt. Without Herald's
 * order, pace, fairness, retries and webhook events, which would only slow it down.
 */
interface Order {
  databaseUrl: string;
  simulatorUrl: string;
  redisUrl: string | null;
  concurrency: number;
}

interface Claimed {
  attempt_id: string;
  recipient: string;
  type: 'text';
  content: { body: string };
  phone_number_id: string;
}

const order = JSON.parse(process.argv[2] ?? '') as Order;
const database = new pg.Pool({ connectionString: order.databaseUrl, max: 20 });
const platform = new Pool(order.simulatorUrl, { connections: order.concurrency });
const connection =
  order.redisUrl === null
    ? new pg.Pool({ connectionString: order.databaseUrl, options: '-c search_path=bullmq', max: 20 })
    : new Redis(order.redisUrl, { maxRetriesPerRequest: null });
const backend = (order.redisUrl === null ? createPostgresBackend : createRedisBackend) as unknown as BackendFactory;

const CLAIM = `
with claimed as (
  update message set status = 'processing', processing_at = clock_timestamp(),
    lease_until = clock_timestamp() + interval '20 seconds', attempt_count = attempt_count + 1,
    current_attempt_id = $2, next_attempt_at = null
  where id = $1 and status = 'queued'
  returning id, organization_id, connection_id, recipient, type, content, attempt_count, processing_at
), attempt as (
  insert into message_attempt (id, organization_id, message_id, number, status, started_at)
  select $2, organization_id, id, attempt_count, 'started', processing_at from claimed
)
select $2 as attempt_id, claimed.recipient, claimed.type, claimed.content, c.phone_number_id
from claimed join connection c on c.id = claimed.connection_id`;

const OUTCOME = `
with moved as (
  update message set status = 'accepted', meta_message_id = $3, lease_until = null,
    accepted_at = greatest(clock_timestamp(), processing_at)
  where id = $1 and current_attempt_id = $2 and status = 'processing'
)
update message_attempt set status = 'accepted', finished_at = clock_timestamp(), http_status = $4, meta_message_id = $3
where id = $2`;

async function send(job: Job<{ messageId: string }>): Promise<void> {
  const { messageId } = job.data;
  const { rows } = await database.query<Claimed>(CLAIM, [messageId, newId()]);
  const claimed = rows[0];
  if (claimed === undefined) return;
  const response = await platform.request({
    method: 'POST',
    path: `/v26.0/${claimed.phone_number_id}/messages`,
    headers: { authorization: 'Bearer bench-token', 'content-type': 'application/json' },
    body: JSON.stringify(
      buildMessageBody({
        to: claimed.recipient,
        type: claimed.type,
        content: claimed.content,
        contextMessageId: null,
        callbackData: claimed.attempt_id,
      }),
    ),
  });
  const answer = (await response.body.json()) as { messages?: { id: string }[] };
  const id = answer.messages?.[0]?.id;
  if (response.statusCode !== 200 || id === undefined) throw new Error(`the simulator answered ${response.statusCode}`);
  await database.query(OUTCOME, [messageId, claimed.attempt_id, id, response.statusCode]);
}

const options = { connection, prefix: 'yardstick' };
const queue = new Queue('send-each', options, backend);
const { rows } = await database.query<{ id: string }>("select id from message where status = 'queued' order by seq");
for (let i = 0; i < rows.length; i += 1_000) {
  await queue.addBulk(
    rows.slice(i, i + 1_000).map(({ id }) => ({
      name: 'send',
      data: { messageId: id },
      opts: { removeOnComplete: true, attempts: 1 },
    })),
  );
}
const worker = new Worker('send-each', send, { ...options, concurrency: order.concurrency }, backend);
worker.on('error', (error) => process.stderr.write(`${error.message}\n`));
worker.on('failed', (_job, error) => process.stderr.write(`a job failed: ${error.message}\n`));
process.stdout.write(`drains ${rows.length} messages\n`);
process.once('SIGTERM', () => process.exit(0));
