import { isDeepStrictEqual } from 'node:util';
import type { Answer, Call } from './caller.js';
import type { Description, Operation } from './description.js';
import type { Refusal } from './mutation.js';
import { SchemaChecks } from './schema-check.js';

/** What was found wrong with an answer: the check as Schemathesis or RESTler name it, and what it saw. */
export interface Violation {
  check: string;
  message: string;
}

export interface ErrorBody {
  error?: { code?: unknown; message?: unknown; request_id?: unknown; doc_url?: unknown };
}

const violation = (check: string, message: string): Violation => ({ check, message });

export const codeOf = ({ json }: Answer): string => String((json as ErrorBody | undefined)?.error?.code);

/** The checks that every answer must pass, whatever was asked. */
export class Checks {
  readonly schemas: SchemaChecks;

  constructor(readonly description: Description) {
    this.schemas = new SchemaChecks(description.document);
  }

  /** Of an answer of an operation. */
  ofOperation(operation: Operation, call: Call, answer: Answer): Violation[] {
    const violations = this.ofAnything(call, answer);
    const documented = operation.answers[answer.status];
    if (documented === undefined) {
      return [...violations, violation('status_code_conformance', `${answer.status} is not documented`)];
    }
    const types = Object.keys(documented.content);
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
    if (types.length === 0) {
      if (answer.text !== '') violations.push(violation('content_type_conformance', 'a body where none is documented'));
      return violations;
    }
    if (!types.includes(type)) violations.push(violation('content_type_conformance', `${type} is not documented`));
    const content = documented.content[type] ?? { schema: {}, examples: {} };
    const wrong = this.schemas.answer(content.schema)(answer.json);
    if (wrong !== null) violations.push(violation('response_schema_conformance', wrong));
    for (const name of ['ratelimit', 'ratelimit-policy']) {
      const declared = documented.headers.some((header) => header.toLowerCase() === name);
      if (declared && answer.headers[name] === undefined)
        violations.push(violation('response_headers_conformance', name));
    }
    if (answer.status >= 400 && content.examples[codeOf(answer)] === undefined) {
      violations.push(violation('error_code_conformance', `${codeOf(answer)} is not documented with ${answer.status}`));
    }
    return violations;
  }

  /** Of any answer below /api. */
  ofAnything(call: Call, answer: Answer): Violation[] {
    const violations: Violation[] = [];
    if (answer.status >= 500) violations.push(violation('not_a_server_error', String(answer.status)));
    const { headers } = answer;
    if (headers['x-herald-api-version'] !== 'v1') {
      violations.push(violation('response_headers_conformance', 'X-HERALD-API-Version'));
    }
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(String(headers['x-request-id']))) {
      violations.push(violation('response_headers_conformance', 'X-Request-Id'));
    }
    if (answer.status === 401 && headers['www-authenticate'] !== 'Bearer') {
      violations.push(violation('response_headers_conformance', 'WWW-Authenticate'));
    }
    if ((answer.status === 429 || answer.status === 503) && !/^\d+$/.test(String(headers['retry-after']))) {
      violations.push(violation('response_headers_conformance', 'Retry-After'));
    }
    if (answer.status >= 400 && call.method !== 'HEAD') violations.push(...envelopeViolations(answer));
    if (Object.getOwnPropertyNames(Object.prototype).includes('admin')) {
      violations.push(violation('prototype_pollution', 'every object has a property more'));
    }
    return violations;
  }

  /** `negative_data_rejection`. The check of a batch says what it would refuse, message by message, and refuses nothing itself. */
  ofRefusal({ statuses, codes }: Refusal, answer: Answer): Violation[] {
    if (statuses.includes(answer.status) && codes.includes(codeOf(answer))) return [];
    const checked = answer.status === 200 && answer.text.startsWith('{"data":{"messages":') ? answer.text : '';
    if (codes.some((code) => checked.includes(`"code":"${code}"`))) return [];
    const wanted = `${statuses.join(', ')} with ${codes.join(', ')}`;
    return [violation('negative_data_rejection', `${answer.status} ${codeOf(answer)} in the place of ${wanted}`)];
  }

  /** `positive_data_acceptance`. */
  ofAcceptance(states: readonly string[], answer: Answer): Violation[] {
    if (answer.status < 400 || states.includes(codeOf(answer))) return [];
    return [violation('positive_data_acceptance', `${answer.status} ${codeOf(answer)}`)];
  }
}

function envelopeViolations({ json, headers }: Answer): Violation[] {
  const error = (json as ErrorBody | undefined)?.error;
  const violations: Violation[] = [];
  const isSentence = typeof error?.message === 'string' && error.message.length > 10;
  if (typeof error?.code !== 'string' || !/^[A-Z][A-Z_]+$/.test(error.code) || !isSentence) {
    violations.push(violation('error_envelope', 'no code or no message'));
  }
  if (error?.request_id !== headers['x-request-id']) violations.push(violation('error_envelope', 'another request_id'));
  if (!String(error?.doc_url).endsWith(`/docs/errors#${String(error?.code)}`)) {
    violations.push(violation('error_envelope', 'doc_url leads elsewhere'));
  }
  const text = JSON.stringify(json ?? '');
  if (/node_modules|\bat \S+ \(|select .* from |insert into|QueryFailed|Cannot read prop/i.test(text)) {
    violations.push(violation('error_envelope', 'it shows what is inside'));
  }
  return violations;
}

/** `namespace_rule`: an answer as it looks to a caller who must not be able to distinguish ids. */
export function anonymous({ status, headers, text }: Answer, ids: readonly string[]): Record<string, unknown> {
  const requestId = String(headers['x-request-id']);
  const { date: _date, ratelimit: _left, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
  const body = [requestId, ...ids]
    .reduce((all, id) => all.replaceAll(id, '<id>'), text)
    // It is of the moment of the question.
    .replaceAll(/"estimated_send_at":"[^"]+"/g, '"estimated_send_at":"<time>"');
  return { status, headers: rest, body };
}

export function sameAnswer(one: Record<string, unknown>, other: Record<string, unknown>): Violation[] {
  if (isDeepStrictEqual(one, other)) return [];
  return [violation('namespace_rule', `${JSON.stringify(one)} differs from ${JSON.stringify(other)}`)];
}

export { violation };
