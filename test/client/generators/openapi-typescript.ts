import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript';
import type { Connect } from './integration';

export const connect: Connect = (baseUrl, apiKey) => {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
  return {
    async send(connectionId, to, body) {
      const { data, error } = await client.POST('/api/v1/messages', {
        params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
        body: { connection_id: connectionId, to, type: 'text', text: { body } },
      });
      if (data === undefined) throw new Error(error.error.message);
      return data.data.id;
    },
    async status(id) {
      const { data, error } = await client.GET('/api/v1/messages/{id}', { params: { path: { id } } });
      if (data === undefined) throw new Error(error.error.message);
      return data.data.status;
    },
  };
};
