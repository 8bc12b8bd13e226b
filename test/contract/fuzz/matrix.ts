import { newKey } from '../../../src/modules/keys/api-key-format.js';
import type { Answer, Call } from './caller.js';
import { codeOf, violation, type Violation } from './checks.js';
import type { Operation } from './description.js';
import type { Fuzzer } from './fuzzer.js';
import { encode, type Request } from './request.js';

/** Requests that need no chance: every operation against every key, every address against every method. */
export function matrixOf(fuzzer: Fuzzer): (() => Promise<void>)[] {
  const { operations } = fuzzer.checks.description;
  return [
    ...operations.map((operation) => () => everyKey(fuzzer, operation)),
    ...operations.map((operation) => () => everyMethod(fuzzer, operation)),
    ...operations.map((operation) => () => everyTrick(fuzzer, operation)),
  ];
}

const PLAIN = { pick: 0, query: {}, body: {} };

export async function plainRequest(fuzzer: Fuzzer, operation: Operation, fresh = false): Promise<Request> {
  const [body = {}] = Object.values(operation.body?.examples ?? {});
  return fuzzer.requestOf(operation, { ...PLAIN, body: operation.body === null ? undefined : body }, fresh);
}

type Headers = Record<string, string | string[] | undefined>;

/** `ignored_auth`: no answer but a refusal without a key, with a dead one, or with one that lacks the scope. */
async function everyKey(fuzzer: Fuzzer, operation: Operation): Promise<void> {
  const { stage } = fuzzer;
  const request = await plainRequest(fuzzer, operation);
  const { key } = request;
  const isOtp = operation.scope.startsWith('otp:');
  const other = isOtp ? stage.own.key : stage.own.otp.key;
  const last = key.at(-1) === 'a' ? 'b' : 'a';
  const bearer = (text: string): Headers => ({ authorization: `Bearer ${text}` });
  const cases: [name: string, headers: Headers, wanted: string][] = [
    ['no header', { authorization: undefined }, 'API_KEY_MISSING'],
    ['empty header', { authorization: '' }, 'API_KEY_MISSING'],
    ['no token', { authorization: 'Bearer' }, 'API_KEY_MISSING'],
    ['another scheme', { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }, 'API_KEY_MISSING'],
    ['two headers', { authorization: [`Bearer ${key}`, `Bearer ${key}`] }, 'API_KEY_MISSING'],
    ['in another header', { authorization: undefined, 'x-api-key': key }, 'API_KEY_MISSING'],
    ['garbage', bearer('x'.repeat(60)), 'API_KEY_INVALID'],
    ['two in one', bearer(`${key}, Bearer ${key}`), 'API_KEY_INVALID'],
    ['mistyped', bearer(`${key.slice(0, -1)}${last}`), 'API_KEY_INVALID'],
    ['well made but unknown', bearer(newKey('live').text), 'API_KEY_INVALID'],
    ['in capitals', bearer(key.toUpperCase()), 'API_KEY_INVALID'],
    ['too long', bearer(key.repeat(20)), 'API_KEY_INVALID'],
    ['expired', bearer(stage.expiredKey), 'API_KEY_EXPIRED'],
    ['revoked', bearer(stage.revokedKey), 'API_KEY_REVOKED'],
  ];
  // Without a scope any key will do.
  if (operation.scope !== '') {
    cases.push(['without the scope', bearer(await stage.keyWithout(operation.scope)), 'SCOPE_REQUIRED']);
    cases.push(['of the other kind', bearer(other), 'SCOPE_REQUIRED']);
  }
  for (const [name, headers, wanted] of cases) {
    const call = withHeaders(encode(request), headers);
    await judge(fuzzer, operation, `auth.${name}`, call, (answer) =>
      codeOf(answer) === wanted ? [] : [violation('ignored_auth', `${answer.status} ${codeOf(answer)}, not ${wanted}`)],
    );
  }
}

export function withHeaders(call: Call, headers: Headers): Call {
  const given = Object.entries({ ...call.headers, ...headers });
  const kept = given.filter((pair): pair is [string, string | string[]] => pair[1] !== undefined);
  return { ...call, headers: Object.fromEntries(kept) };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'SEARCH'];

/** `unsupported_method`: 405 with the methods that there are, and HEAD as GET is without its body. */
async function everyMethod(fuzzer: Fuzzer, operation: Operation): Promise<void> {
  const request = await plainRequest(fuzzer, operation);
  const call = encode(request);
  const [address = ''] = call.target.split('?');
  const allowed = fuzzer.checks.description.methodsAt(address);
  for (const method of METHODS.filter((one) => !allowed.includes(one))) {
    for (const key of [call.headers, { authorization: '' }]) {
      const odd: Call = { method, target: call.target, headers: key };
      const answer = await fuzzer.caller.send(odd);
      fuzzer.ledger.count(operation.id, 'method', answer);
      const violations = fuzzer.checks.ofAnything(odd, answer);
      const allow = String(answer.headers.allow);
      const said = method === 'HEAD' || codeOf(answer) === 'METHOD_NOT_ALLOWED';
      if (answer.status !== 405 || !said || allow !== allowed.join(', ')) {
        violations.push(
          violation('unsupported_method', `${answer.status}, Allow: ${allow}, not ${allowed.join(', ')}`),
        );
      }
      fuzzer.ledger.find(`${operation.id} method.${method}`, odd, answer, violations);
    }
  }
  if (operation.method !== 'GET') return;
  const head = { ...call, method: 'HEAD' };
  const answer = await fuzzer.caller.send(head);
  fuzzer.ledger.count(operation.id, 'method', answer);
  const same = answer.status === (await fuzzer.caller.send(call)).status && answer.text === '';
  if (!same)
    fuzzer.ledger.find(`${operation.id} method.HEAD`, head, answer, [violation('unsupported_method', 'not as GET')]);
}

/** Spellings of an address that parsers read differently. Without a key none may answer as the operation does. */
async function everyTrick(fuzzer: Fuzzer, operation: Operation): Promise<void> {
  const call = encode(await plainRequest(fuzzer, operation));
  const [path = '', query = ''] = call.target.split('?');
  const rest = path.slice('/api/v1'.length);
  const tricks = [
    `/${path}`,
    `${path}/`,
    `${path}//`,
    `/api/v1/${rest}`,
    `/api//v1${rest}`,
    `/api/v1/.${rest}`,
    `/api/v1/x/..${rest}`,
    `/api/v1/%2e${rest}`,
    `/api/v1/x/%2e%2e${rest}`,
    `/api/v1%2f${rest.slice(1)}`,
    `/%61pi/v1${rest}`,
    `/API/v1${rest}`,
    `/api/V1${rest}`,
    path.replace('/api/v1/', '/api/v1/\\'),
    `${path};x=1`,
    `${path}%00`,
    `${path}%20`,
    `${path}.json`,
    `${path}?${query}?&#`,
    `http://other.example${path}`,
    `//other.example${path}`,
    `/api/v2${rest}`,
    `/api/v0${rest}`,
    `/api${rest}`,
    `${path}/${'x/'.repeat(200)}`,
  ];
  for (const target of tricks) {
    const odd: Call = { method: call.method, target, headers: { authorization: '' } };
    const answer = await fuzzer.caller.send(odd);
    fuzzer.ledger.count(operation.id, 'address', answer);
    // Behind two slashes stands another path, which is not below /api.
    const violations = fuzzer.checks.ofAnything(odd, answer);
    if (answer.status < 400) violations.push(violation('ignored_auth', `${answer.status} without a key`));
    fuzzer.ledger.find(`${operation.id} address ${target.replace(rest, '...')}`, odd, answer, violations);
  }
}

async function judge(
  fuzzer: Fuzzer,
  operation: Operation,
  kind: string,
  call: Call,
  check: (answer: Answer) => Violation[],
): Promise<void> {
  const answer = await fuzzer.caller.send(call);
  fuzzer.ledger.count(operation.id, 'auth', answer);
  const violations = [...fuzzer.checks.ofOperation(operation, call, answer), ...check(answer)];
  fuzzer.ledger.find(`${operation.id} ${kind}`, call, answer, violations);
}
