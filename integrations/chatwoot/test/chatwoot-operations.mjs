// The operations of chatwoot-api.json, each with what checks its body.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv';

const { paths, definitions } = JSON.parse(readFileSync(new URL('chatwoot-api.json', import.meta.url), 'utf8'));

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function operations() {
  const ajv = new Ajv({ strict: false });
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, body, query = {} }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '(\\d+)')}$`),
      query,
      validate:
        body &&
        ajv.compile({
          ...body,
          properties: { ...body.properties, ...body['x-undocumented'] },
          additionalProperties: false,
          definitions,
        }),
      errors: () => ajv.errorsText(),
    })),
  );
}

export const seconds = () => Math.floor(Date.now() / 1_000);

export async function bytesOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
