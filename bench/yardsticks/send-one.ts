import pg from 'pg';
import { Pool } from 'undici';
import { newId } from '../../src/common/ids.js';
import { buildMessageBody } from '../../src/infrastructure/whatsapp/message-body.js';

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
      'select message_id as id from message_queue where attempt_id is null order by seq',
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
          callbackData: `${messageId}.${claimed.attempt_id}`,
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

const QUEUE_ROW = 'q.message_id = m.id';

const CLAIM = `
with claimed as (
  update message_queue q set attempt_id = $2, attempt_number = q.attempt_number + 1, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + interval '20 seconds', due_at = null
  from message m where m.id = $1 and ${QUEUE_ROW} and q.attempt_id is null
  returning q.connection_id, q.recipient, m.id, m.type
)
select $2 as attempt_id, claimed.recipient, claimed.type, t.content, c.phone_number_id
from claimed join connection c on c.id = claimed.connection_id join message_content t on t.message_id = claimed.id`;

const OUTCOME = `
with gone as (
  delete from message_queue q using message m where m.id = $1 and ${QUEUE_ROW} and q.attempt_id = $2
  returning q.*
), answered as (
  insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, http_status, meta_message_id)
  select message_id, attempt_id, organization_id, attempt_number, claimed_at, 'accepted', clock_timestamp(), $4, $3 from gone
)
update message_state s set status = 'accepted', event_count = event_count + 1, processing_at = claimed_at,
  accepted_at = greatest(clock_timestamp(), claimed_at), meta_message_id = $3, attempt_id = gone.attempt_id,
  attempt_number = gone.attempt_number, attempt_count = gone.attempt_number
from gone where s.message_id = gone.message_id`;
