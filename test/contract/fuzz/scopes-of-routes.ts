import { SCOPES, type Scope } from '../../../src/infrastructure/http/scopes.js';
import { codeOf, type ErrorBody } from './checks.js';
import type { Operation } from './description.js';
import type { Fuzzer } from './fuzzer.js';
import { plainRequest, withHeaders } from './matrix.js';
import { encode } from './request.js';

/** What the specification says, written down apart from the code, below /api/v1. */
const OWN: Readonly<Record<string, Scope | 'any_key'>> = {
  'GET /key': 'any_key',
  'GET /members': 'messages:read',
  'POST /connections/{id}/templates/preview': 'templates:read',
  'GET /usage/codes': 'otp:read',
  'POST /otp/send': 'otp:send',
  'POST /otp/verify': 'otp:verify',
};
/** Whose scopes other routes have: where none of these is meant, those of the first word of the path. */
const RESOURCES: readonly (readonly [RegExp, string])[] = [
  [/^\/connections\/\{id\}\/templates/, 'templates'],
  [/^\/connections\/\{id\}\/profile/, 'profile'],
  [/^\/(conversations|opt-outs|tags|usage)/, 'messages'],
  [/^\/(webhook|events|destinations)/, 'webhooks'],
];

/** To read needs the scope to read, and all else the one to write. */
export function scopeOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  const below = path.replace('/api/v1', '');
  const own = OWN[`${method} ${below}`];
  if (own !== undefined) return own;
  const [, resource = below.split('/')[1]] = RESOURCES.find(([pattern]) => pattern.test(below)) ?? [];
  return `${resource}:${method === 'GET' ? 'read' : 'write'}`;
}

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
        const wanted = scopeOf(operation);
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
