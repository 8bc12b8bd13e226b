import { newId } from '../../src/common/ids.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { StoredNotifications } from '../../src/modules/inbound/inbound.processor.js';
import { INBOUND_LANE } from '../../src/modules/inbound/inbound.repository.js';
import { Counters } from '../../src/infrastructure/operations/counters.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import type { ConnectionRow } from '../support/factories.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { claimRequest } from '../support/claim-request.js';
import { waitFor } from '../support/wait-for.js';

export const WEBHOOK = '/platform/whatsapp/webhook';

export interface Posted {
  status: number;
  text: string;
}

/** A body as the platform writes it: everything beyond ASCII and every slash is escaped. */
export function bytesOf(payload: unknown): Buffer {
  const escaped = JSON.stringify(payload)
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');
  return Buffer.from(escaped);
}

export function changeOf(connection: Pick<ConnectionRow, 'phoneNumberId' | 'phoneNumber'>, value: object): object {
  return {
    field: 'messages',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: connection.phoneNumber, phone_number_id: connection.phoneNumberId },
      ...value,
    },
  };
}

export function envelope(connection: ConnectionRow, value: object): object {
  return entries([{ id: connection.wabaId, changes: [changeOf(connection, value)] }]);
}

export function entries(entry: unknown): object {
  return { object: 'whatsapp_business_account', entry };
}

/** Posts bytes, signed with the app secret unless another signature (null: none) is given. */
export async function post(test: TestApp, body: Buffer, signature?: string | null): Promise<Posted> {
  const signed = signature === undefined ? signBody(body, test.config.whatsapp.appSecrets[0] ?? '') : signature;
  const response = await fetch(`${test.baseUrl}${WEBHOOK}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signed === null ? {} : { 'x-hub-signature-256': signed }),
    },
    body: new Uint8Array(body),
  });
  return { status: response.status, text: await response.text() };
}

/** Posts a payload that must be acknowledged. */
export async function notify(test: TestApp, payload: unknown): Promise<void> {
  const { status, text } = await post(test, bytesOf(payload));
  if (status !== 200) throw new Error(`not acknowledged: ${status} ${text}`);
}

export function statusOf(
  message: { attemptId: string | null; metaMessageId: string | null; id: string },
  status: string,
  change: object = {},
): object {
  return {
    id: message.metaMessageId ?? `wamid.${message.id}`,
    status,
    timestamp: String(secondsNow() - 5),
    recipient_id: '15550001234',
    ...(message.attemptId === null ? {} : { biz_opaque_callback_data: `${message.id}.${message.attemptId}` }),
    ...change,
  };
}

export function secondsNow(): number {
  return Math.floor(Date.now() / 1_000);
}

export async function rowOf(test: TestApp, table: string, id: string): Promise<Record<string, unknown>> {
  const rows = await test.database.query(`select * from ${table} where id = $1`, [id]);
  return rows[0] ?? {};
}

export async function inboundOf(test: TestApp, connection: ConnectionRow): Promise<Record<string, unknown>[]> {
  return test.database.query(
    `select * from message_view where connection_id = $1 and direction = 'inbound' order by created_at, id`,
    [connection.id],
  );
}

/** Stored notifications by their state, once every mark has been written. */
export async function statesOf(test: TestApp, marker: string): Promise<string[]> {
  const rows = await test.database.query<{ state: string }>(
    'select state from platform_notification where position($1::bytea in body) > 0 order by received_at, id',
    [Buffer.from(marker)],
  );
  return rows.map((row) => row.state);
}

export async function waitForStates(test: TestApp, marker: string, expected: string[]): Promise<void> {
  await waitFor(async () => JSON.stringify(await statesOf(test, marker)) === JSON.stringify(expected), {
    what: `notifications to be ${expected.join(', ')}`,
  });
}

/** Writes a notification as a process does that dies before it has applied it; its turn is now. */
export async function leaveStored(test: TestApp, id: string, body: Buffer): Promise<void> {
  await test.database.execute('insert into platform_notification (id, body) values ($1, $2)', [id, body]);
  await test.database.execute(
    `update notification_queue set due_at = now() - interval '1 second' where notification_id = $1`,
    [id],
  );
}

const OWNER = newId();

/** Stored notifications that contain the marker are due now. */
export async function letBecomeDue(test: TestApp, marker: string): Promise<void> {
  await test.database.execute(
    `update notification_queue q set due_at = now() - interval '1 second' from platform_notification n
     where n.id = q.notification_id and position($1::bytea in n.body) > 0`,
    [Buffer.from(marker)],
  );
}

/**
 * Tries what is due, as a worker does, until nothing is; returns how many. With \`marker\`, the turn of the notifications that
 * contain it comes now.
 */
export async function tryAgain(test: TestApp, marker?: string): Promise<number> {
  if (marker !== undefined) await letBecomeDue(test, marker);
  const kind = test.app.get(StoredNotifications, { strict: false });
  await test.app.get(LaneRepository, { strict: false }).ensure(INBOUND_LANE);
  for (let tried = 0; ;) {
    const [claim] = await kind.claim([claimRequest(INBOUND_LANE, OWNER, kind.maxPerLane)]);
    if (claim === undefined || claim instanceof Error) throw claim ?? new Error('a claim without an answer');
    if (claim.items.length === 0) return tried;
    await Promise.all(claim.items.map((notification) => kind.work(notification)));
    tried += claim.items.length;
  }
}

/** Tries again until the notifications that contain the marker are in these states: another try may hold their rows. */
export async function tryUntil(test: TestApp, marker: string, expected: string[]): Promise<void> {
  const look = async (): Promise<boolean> => {
    await tryAgain(test, marker);
    return JSON.stringify(await statesOf(test, marker)) === JSON.stringify(expected);
  };
  await waitFor(look, { what: `notifications to be ${expected.join(', ')}` });
}

export function counter(test: TestApp, name: string): number {
  return test.app.get(Counters, { strict: false }).snapshot()[name] ?? 0;
}

/** A message of a minute ago: older than what a test reports of it. */
export function earlierMessage(
  test: TestApp,
  { connection }: TestSender,
  status: 'processing' | 'accepted' | 'outcome_unknown',
  recipient = '15550001234',
) {
  const createdAt = new Date((secondsNow() - 60) * 1_000);
  return test.factories.message({ connection, status, recipient, createdAt });
}

/** As its workspace sees it. */
export async function messageOf({ api }: TestSender, id: string) {
  return (await api.get(`/messages/${id}`)).body.data;
}
