import { createClient } from './generated/hey-api/client';
import { messagesGet, messagesSend } from './generated/hey-api';
import type { Connect } from './integration';

export const connect: Connect = (baseUrl, apiKey) => {
  const client = createClient({ baseUrl, auth: apiKey });
  return {
    async send(connectionId, to, body) {
      const { data } = await messagesSend({
        client,
        throwOnError: true,
        headers: { 'Idempotency-Key': crypto.randomUUID() },
        body: { connection_id: connectionId, to, type: 'text', text: { body } },
      });
      return data.data.id;
    },
    async status(id) {
      const { data } = await messagesGet({ client, throwOnError: true, path: { id } });
      return data.data.status;
    },
  };
};
