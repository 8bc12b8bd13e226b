import pg from 'pg';
import { Pool } from 'undici';
import { newId } from '../../src/common/ids.js';
import { buildMessageBody } from '../../src/platform/whatsapp/message-body.js';

interface Claimed {
  attempt_id: string;
  recipient: string;
  type: 'text';
  content: { body: string };
  phone_number_id: string;
}

/**
 * What a job of one message does: the same as Herald, in the same tables. Claim it and open an attempt, call the
 * platform, store the outcome and close the attempt. Without Herald's order, pace, fairness, retries and webhook
 * events, which would only slow it down.
 */
export class OneSender {
  private readonly database: pg.Pool;
  private readonly platform: Pool;

  constructor(databaseUrl: string, simulatorUrl: string, concurrency: number) {
    this.database = new pg.Pool({ connectionString: databaseUrl, max: 20 });
    this.platform = new Pool(simulatorUrl, { connections: concurrency });
  }

  /** The messages that wait, oldest first. */
  async queued(): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      "select id from message where status = 'queued' order by seq",
    );
    return rows.map(({ id }) => id);
  }

  /** @throws Error where the platform did not accept it */
  async send(messageId: string): Promise<void> {
    const { rows } = await this.database.query<Claimed>(CLAIM, [messageId, newId()]);
    const claimed = rows[0];
    if (claimed === undefined) return;
    const response = await this.platform.request({
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
    if (response.statusCode !== 200 || id === undefined) {
      throw new Error(`the simulator answered ${response.statusCode}`);
    }
    await this.database.query(OUTCOME, [messageId, claimed.attempt_id, id, response.statusCode]);
  }
}

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
