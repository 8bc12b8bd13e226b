import { SCOPES, type Scope } from '../../../src/infrastructure/http/scopes.js';
import { codeOf, type ErrorBody } from './checks.js';
import type { Fuzzer } from './fuzzer.js';
import { plainRequest, withHeaders } from './matrix.js';
import { encode } from './request.js';

/** What the specification says, written down apart from the code: a route that is not here fails the test. */
export const SCOPE_OF_ROUTE: Readonly<Record<string, Scope | 'any_key'>> = {
  'GET /api/v1/connections': 'connections:read',
  'GET /api/v1/connections/{id}/profile': 'profile:read',
  'PUT /api/v1/connections/{id}/profile': 'profile:write',
  'GET /api/v1/connections/{id}/templates': 'templates:read',
  'POST /api/v1/connections/{id}/templates': 'templates:write',
  'POST /api/v1/connections/{id}/templates/preview': 'templates:read',
  'GET /api/v1/connections/{id}/templates/{name}': 'templates:read',
  'PATCH /api/v1/connections/{id}/templates/{name}': 'templates:write',
  'DELETE /api/v1/connections/{id}/templates/{name}': 'templates:write',
  'GET /api/v1/conversations': 'messages:read',
  'GET /api/v1/conversations/{id}': 'messages:read',
  'POST /api/v1/conversations/{id}/control': 'messages:write',
  'GET /api/v1/events': 'webhooks:read',
  'GET /api/v1/key': 'any_key',
  'GET /api/v1/media': 'media:read',
  'POST /api/v1/media': 'media:write',
  'DELETE /api/v1/media/{id}': 'media:write',
  'GET /api/v1/media/{id}': 'media:read',
  'GET /api/v1/media/{id}/url': 'media:read',
  'GET /api/v1/messages': 'messages:read',
  'POST /api/v1/messages': 'messages:write',
  'POST /api/v1/messages/batch': 'messages:write',
  'POST /api/v1/messages/batch/check': 'messages:write',
  'POST /api/v1/messages/check': 'messages:write',
  'GET /api/v1/messages/{id}': 'messages:read',
  'POST /api/v1/messages/{id}/cancel': 'messages:write',
  'GET /api/v1/messages/{id}/timeline': 'messages:read',
  'POST /api/v1/messages/{id}/read': 'messages:write',
  'POST /api/v1/messages/{id}/retry': 'messages:write',
  'GET /api/v1/opt-outs': 'messages:read',
  'PUT /api/v1/opt-outs': 'messages:write',
  'DELETE /api/v1/opt-outs/{id}': 'messages:write',
  'POST /api/v1/otp/send': 'otp:send',
  'POST /api/v1/otp/verify': 'otp:verify',
  'GET /api/v1/otp/{id}': 'otp:read',
  'GET /api/v1/tags': 'messages:read',
  'GET /api/v1/tags/{tag}': 'messages:read',
  'PUT /api/v1/tags/{tag}': 'messages:write',
  'POST /api/v1/tags/{tag}/cancel': 'messages:write',
  'POST /api/v1/tags/{tag}/pause': 'messages:write',
  'POST /api/v1/tags/{tag}/resume': 'messages:write',
  'POST /api/v1/tags/{tag}/retry': 'messages:write',
  'GET /api/v1/usage': 'messages:read',
  'GET /api/v1/usage/codes': 'otp:read',
  'GET /api/v1/webhook': 'webhooks:read',
  'PUT /api/v1/webhook': 'webhooks:write',
  'DELETE /api/v1/webhook': 'webhooks:write',
  'GET /api/v1/webhook/deliveries': 'webhooks:read',
  'GET /api/v1/webhook/deliveries/{id}': 'webhooks:read',
  'POST /api/v1/webhook/deliveries/{id}/replay': 'webhooks:write',
  'POST /api/v1/webhook/replay': 'webhooks:write',
  'GET /api/v1/webhook/replay/{id}': 'webhooks:read',
  'POST /api/v1/webhook/rotate-secret': 'webhooks:write',
  'POST /api/v1/webhook/test': 'webhooks:write',
};

/** Every route with every scope, each alone on a key of a workspace that has nothing; returns what is not as it should be. */
export async function everyScope(fuzzer: Fuzzer): Promise<string[]> {
  const { factories } = fuzzer.stage.test;
  const { id: organizationId } = await factories.workspace();
  const wrong: string[] = [];
  for (const scope of SCOPES) {
    const { text } = await factories.apiKey({ organizationId, scopes: [scope] });
    await Promise.all(
      fuzzer.checks.description.operations.map(async (operation) => {
        const route = `${operation.method} ${operation.path}`;
        const wanted = SCOPE_OF_ROUTE[route];
        const call = withHeaders(encode(await plainRequest(fuzzer, operation)), { authorization: `Bearer ${text}` });
        const answer = await fuzzer.caller.send(call);
        const refusal = codeOf(answer) === 'SCOPE_REQUIRED' ? (answer.json as RefusalBody).error.required_scope : null;
        const right =
          scope === wanted || wanted === 'any_key' ? refusal === null && answer.status !== 401 : refusal === wanted;
        if (!right) wrong.push(`${route} with ${scope}: ${answer.status} ${codeOf(answer)} ${refusal ?? ''}`);
      }),
    );
  }
  return wrong;
}

type RefusalBody = ErrorBody & { error: { required_scope: string } };
