import { jsonAnswer, type Answer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import type { Handler } from '../http/router.js';

/** A control call that can't be carried out; its message says what to send instead. */
export class ControlError extends Error {
  constructor(
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

/** Turns what a control handler throws into `{error: {message}}`. */
export function controlHandler(handler: Handler): Handler {
  return (call) => {
    try {
      requireJson(call);
      const answer = handler(call);
      return answer instanceof Promise ? answer.catch(answerTo) : answer;
    } catch (error) {
      return answerTo(error);
    }
  };
}

/** A form or a script of any web page may send the other types without asking (CORS). */
function requireJson({ text, request }: Call): void {
  if (text === '' || /^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) return;
  throw new ControlError('Send the body with the header Content-Type: application/json.', 415);
}

function answerTo(error: unknown): Answer {
  if (error instanceof ControlError) return jsonAnswer({ error: { message: error.message } }, error.status);
  throw error;
}

/** The body as an object; an empty body is an empty object. */
export function controlBody(call: Call): Record<string, unknown> {
  if (call.text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(call.text);
  } catch {
    throw new ControlError('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ControlError('The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

export function textField(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw new ControlError(`"${name}" must be a text that is not empty.`);
  return value;
}

export function optionalText(body: Record<string, unknown>, name: string): string | undefined {
  return body[name] === undefined || body[name] === null ? undefined : textField(body, name);
}

export function optionalFlag(body: Record<string, unknown>, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw new ControlError(`"${name}" must be true or false.`);
  return value;
}

/** One of the given texts; undefined where it is left out. */
export function optionalChoice<T extends string>(
  body: Record<string, unknown>,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  const known = allowed.find((one) => one === value);
  if (known === undefined) throw new ControlError(`"${name}" must be one of ${allowed.join(', ')}.`);
  return known;
}

/** A number within the limits; undefined where it is left out. */
export function optionalNumber(
  body: Record<string, unknown>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new ControlError(`"${name}" must be a number from ${min} to ${max}.`);
  }
  return value;
}
