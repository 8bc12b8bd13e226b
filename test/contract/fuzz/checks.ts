import { isDeepStrictEqual } from 'node:util';
import type { Answer, Call } from './caller.js';
import type { Description, Operation } from './description.js';
import type { Refusal } from './mutation.js';
import { SchemaChecks } from './schema-check.js';

/** What was found wrong with an answer: the check as Schemathesis or RESTler name it, and what it saw. */
export interface Fault {
  check: string;
  message: string;
}

export interface ErrorBody {
  error?: { code?: unknown; message?: unknown; request_id?: unknown; doc_url?: unknown };
}

const fault = (check: string, message: string): Fault => ({ check, message });

export const codeOf = ({ json }: Answer): string => String((json as ErrorBody | undefined)?.error?.code);

/** The checks that every answer must pass, whatever was asked. */
export class Checks {
  readonly schemas: SchemaChecks;

  constructor(readonly description: Description) {
    this.schemas = new SchemaChecks(description.document);
  }

  /** Of an answer of an operation. */
  ofOperation(operation: Operation, call: Call, answer: Answer): Fault[] {
    const faults = this.ofAnything(call, answer);
    const documented = operation.answers[answer.status];
    if (documented === undefined) {
      return [...faults, fault('status_code_conformance', `${answer.status} is not documented`)];
    }
    const types = Object.keys(documented.content);
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
    if (types.length === 0) {
      if (answer.text !== '') faults.push(fault('content_type_conformance', 'a body where none is documented'));
      return faults;
    }
    if (!types.includes(type)) faults.push(fault('content_type_conformance', `${type} is not documented`));
    const content = documented.content[type] ?? { schema: {}, examples: {} };
    const wrong = this.schemas.answer(content.schema)(answer.json);
    if (wrong !== null) faults.push(fault('response_schema_conformance', wrong));
    for (const name of ['ratelimit', 'ratelimit-policy']) {
      const declared = documented.headers.some((header) => header.toLowerCase() === name);
      if (declared && answer.headers[name] === undefined) faults.push(fault('response_headers_conformance', name));
    }
    if (answer.status >= 400 && content.examples[codeOf(answer)] === undefined) {
      faults.push(fault('error_code_conformance', `${codeOf(answer)} is not documented with ${answer.status}`));
    }
    return faults;
  }

  /** Of any answer below /api. */
  ofAnything(call: Call, answer: Answer): Fault[] {
    const faults: Fault[] = [];
    if (answer.status >= 500) faults.push(fault('not_a_server_error', String(answer.status)));
    const { headers } = answer;
    if (headers['x-herald-api-version'] !== 'v1') {
      faults.push(fault('response_headers_conformance', 'X-HERALD-API-Version'));
    }
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(String(headers['x-request-id']))) {
      faults.push(fault('response_headers_conformance', 'X-Request-Id'));
    }
    if (answer.status === 401 && headers['www-authenticate'] !== 'Bearer') {
      faults.push(fault('response_headers_conformance', 'WWW-Authenticate'));
    }
    if ((answer.status === 429 || answer.status === 503) && !/^\d+$/.test(String(headers['retry-after']))) {
      faults.push(fault('response_headers_conformance', 'Retry-After'));
    }
    if (answer.status >= 400 && call.method !== 'HEAD') faults.push(...envelopeFaults(answer));
    if (Object.getOwnPropertyNames(Object.prototype).includes('admin')) {
      faults.push(fault('prototype_pollution', 'every object has a property more'));
    }
    return faults;
  }

  /** `negative_data_rejection`. */
  ofRefusal({ statuses, codes }: Refusal, answer: Answer): Fault[] {
    if (statuses.includes(answer.status) && codes.includes(codeOf(answer))) return [];
    const wanted = `${statuses.join(', ')} with ${codes.join(', ')}`;
    return [fault('negative_data_rejection', `${answer.status} ${codeOf(answer)} in the place of ${wanted}`)];
  }

  /** `positive_data_acceptance`. */
  ofAcceptance(states: readonly string[], answer: Answer): Fault[] {
    if (answer.status < 400 || states.includes(codeOf(answer))) return [];
    return [fault('positive_data_acceptance', `${answer.status} ${codeOf(answer)}`)];
  }
}

function envelopeFaults({ json, headers }: Answer): Fault[] {
  const error = (json as ErrorBody | undefined)?.error;
  const faults: Fault[] = [];
  const isSentence = typeof error?.message === 'string' && error.message.length > 10;
  if (typeof error?.code !== 'string' || !/^[A-Z][A-Z_]+$/.test(error.code) || !isSentence) {
    faults.push(fault('error_envelope', 'no code or no message'));
  }
  if (error?.request_id !== headers['x-request-id']) faults.push(fault('error_envelope', 'another request_id'));
  if (!String(error?.doc_url).endsWith(`/docs/errors#${String(error?.code)}`)) {
    faults.push(fault('error_envelope', 'doc_url leads elsewhere'));
  }
  const text = JSON.stringify(json ?? '');
  if (/node_modules|\bat \S+ \(|select .* from |insert into|QueryFailed|Cannot read prop/i.test(text)) {
    faults.push(fault('error_envelope', 'it shows what is inside'));
  }
  return faults;
}

/** `namespace_rule`: an answer as it looks to a caller who must not be able to distinguish ids. */
export function anonymous({ status, headers, text }: Answer, ids: readonly string[]): Record<string, unknown> {
  const requestId = String(headers['x-request-id']);
  const { date: _date, ratelimit: _left, 'x-request-id': _id, 'content-length': _length, ...rest } = headers;
  const body = [requestId, ...ids].reduce((all, id) => all.replaceAll(id, '<id>'), text);
  return { status, headers: rest, body };
}

export function sameAnswer(one: Record<string, unknown>, other: Record<string, unknown>): Fault[] {
  if (isDeepStrictEqual(one, other)) return [];
  return [fault('namespace_rule', `${JSON.stringify(one)} differs from ${JSON.stringify(other)}`)];
}

export { fault };
