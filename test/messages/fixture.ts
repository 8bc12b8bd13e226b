import { newId } from '../../src/common/ids.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import { registerNumber } from '../support/register-number.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { scenarioPhone, testPhone, type ConnectionRow, type Factories } from '../support/factories.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** A workspace that can send: a key without a rate limit to speak of, and a number that the simulator hosts. */
export interface SendingWorkspace {
  organizationId: string;
  api: ApiClient;
  connection: ConnectionRow;
  /** A contact with an open window, whose number ends in the given digits or plays no scenario. */
  contact(lastDigits?: string): Promise<string>;
  send(to: string, options?: { body?: Record<string, unknown>; key?: string }): Promise<ApiResponse>;
  /** Sends a text that must be taken, and returns its id. */
  sendText(to: string): Promise<string>;
  /** The same; the platform reports nothing of any message until Herald has recorded that it accepted this one. */
  sendAnswered(to: string, options?: { body?: Record<string, unknown> }): Promise<string>;
  message(id: string): Promise<ApiResponse['body']['data']>;
  /** Waits until the message is in one of the states. */
  reaches(id: string, ...statuses: string[]): Promise<ApiResponse['body']['data']>;
}

export async function connectionAtSimulator(
  test: TestApp,
  organizationId: string,
  values: Partial<Parameters<Factories['connection']>[0]> = {},
): Promise<ConnectionRow> {
  const connection = await test.factories.connection({ throughputPerSecond: 1_000, ...values, organizationId });
  registerNumber(test.simulator, connection, 'Test number');
  return connection;
}

/** Posts a signed notification as the platform does; returns the status of the answer, once it is applied. */
export async function postNotification(test: TestApp, value: unknown, wabaId: string): Promise<number> {
  const body = Buffer.from(
    JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: wabaId, changes: [{ field: 'messages', value }] }],
    }),
  );
  const response = await fetch(`${test.baseUrl}/platform/whatsapp/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': signBody(body, test.config.whatsapp.appSecrets[0] ?? ''),
    },
    body,
  });
  return response.status;
}

export async function sendingWorkspace(test: TestApp): Promise<SendingWorkspace> {
  const { factories } = test;
  const { id: organizationId } = await factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 });
  const { text: key } = await factories.apiKey({ organizationId });
  const connection = await connectionAtSimulator(test, organizationId);
  const api = test.api.as(key);
  const workspace: SendingWorkspace = {
    organizationId,
    api,
    connection,
    contact: async (lastDigits) => {
      const phone = lastDigits === undefined ? testPhone() : scenarioPhone(lastDigits);
      await factories.conversation({ connection, phone });
      return phone;
    },
    send: (to, options = {}) =>
      api.post(
        '/messages',
        { connection_id: connection.id, to, type: 'text', text: { body: 'hello' }, ...options.body },
        { headers: { 'idempotency-key': options.key ?? newId() } },
      ),
    sendText: async (to) => {
      const response = await workspace.send(to);
      if (response.status !== 202) throw new Error(`not taken: ${JSON.stringify(response.body)}`);
      return response.body.data.id as string;
    },
    sendAnswered: async (to, options) => {
      test.simulator.applyFaults({ statuses: 'hold' });
      try {
        const response = await workspace.send(to, options);
        if (response.status !== 202) throw new Error(`not taken: ${JSON.stringify(response.body)}`);
        const { id } = response.body.data as { id: string };
        await workspace.reaches(id, 'accepted');
        return id;
      } finally {
        test.simulator.applyFaults({ statuses: 'on' });
      }
    },
    message: async (id) => (await api.get(`/messages/${id}`)).body.data,
    reaches: (id, ...statuses) =>
      waitFor(
        async () => {
          // A look at the row costs a fraction of a request.
          const [row] = await test.database.query<{ status: string }>('select status from message_view where id = $1', [
            id,
          ]);
          if (!statuses.includes(row?.status ?? '')) throw new Error(`it is ${row?.status}`);
          const message = await workspace.message(id);
          if (statuses.includes(message.status as string)) return message;
          throw new Error(`it is ${message.status}`);
        },
        { what: `message ${id} to be ${statuses.join(' or ')}` },
      ),
  };
  return workspace;
}

export interface FollowedEvent {
  type: string;
  data: Record<string, unknown> & { message?: Record<string, unknown> };
}

/** A workspace whose events are recorded: they are from the first look on. */
export async function followedWorkspace(test: TestApp): Promise<SendingWorkspace> {
  const workspace = await sendingWorkspace(test);
  expect((await workspace.api.get('/events?after=now')).status).toBe(200);
  return workspace;
}

/** The events of a kind, or all, once there are so many: they show once no earlier transaction is open. */
export function eventsOf({ api }: SendingWorkspace, count: number, type?: string): Promise<FollowedEvent[]> {
  return waitFor(
    async () => {
      const { data } = (await api.get('/events?limit=250')).body as { data: FollowedEvent[] };
      const found = data.filter((event) => type === undefined || event.type === type);
      return found.length >= count ? found : null;
    },
    { what: `${count} events ${type ?? 'of any kind'}` },
  );
}
