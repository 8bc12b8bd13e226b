import { createApiClient } from './generated/typed-openapi';
import type { Connect } from './integration';

export const connect: Connect = (baseUrl, apiKey) => {
  const client = createApiClient(
    {
      fetch: ({ method, url, parameters }) =>
        fetch(url, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            ...(parameters?.header as Record<string, string> | undefined),
          },
          ...(parameters?.body === undefined ? {} : { body: JSON.stringify(parameters.body) }),
        }),
    },
    baseUrl,
  );
  return {
    async send(connectionId, to, body) {
      const { data } = await client.post('/api/v1/messages', {
        header: { 'Idempotency-Key': crypto.randomUUID() },
        body: { connection_id: connectionId, to, type: 'text', text: { body } },
      });
      return data.id;
    },
    async status(id) {
      const { data } = await client.get('/api/v1/messages/{id}', { path: { id } });
      return data.status;
    },
  };
};
