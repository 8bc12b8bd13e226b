import type { Request } from 'express';
import { PlainError } from '../graph-error.js';
import { bodyText } from '../http/route.js';
import { isObject, type JsonObject } from '../messages/param.js';

/** A control call that can't be carried out; its message says what to send instead. */
export function refused(message: string): PlainError {
  return new PlainError(400, message);
}

/** The body as an object; an empty body is an empty object. */
export function controlBody(request: Request): JsonObject {
  const text = bodyText(request);
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused('The body is not valid JSON.');
  }
  if (!isObject(value)) throw refused('The body must be a JSON object.');
  return value;
}

export function textField(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw refused(`"${name}" must be a text that is not empty.`);
  return value;
}

export function optionalText(body: JsonObject, name: string): string | undefined {
  return body[name] === undefined || body[name] === null ? undefined : textField(body, name);
}

export function flag(body: JsonObject, name: string, otherwise = false): boolean {
  const value = body[name] ?? otherwise;
  if (typeof value !== 'boolean') throw refused(`"${name}" must be true or false.`);
  return value;
}

export function optionalObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw refused(`"${name}" must be an object.`);
  return value;
}

/** One of the given texts; undefined where it is left out. */
export function optionalChoice<T extends string>(body: JsonObject, name: string, allowed: readonly T[]): T | undefined {
  return body[name] === undefined ? undefined : choice(body[name], name, allowed);
}

export function choice<T extends string>(value: unknown, name: string, allowed: readonly T[]): T {
  const known = allowed.find((one) => one === value);
  if (known === undefined) throw refused(`"${name}" must be one of ${allowed.join(', ')}.`);
  return known;
}

/** A number within the limits; undefined where it is left out. */
export function optionalNumber(body: JsonObject, name: string, min: number, max: number): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw refused(`"${name}" must be a number from ${min} to ${max}.`);
  }
  return value;
}

/** @throws PlainError 400 for a key that is none of these */
export function requireKnown(body: JsonObject, known: readonly string[], complaint: string): void {
  const unknown = Object.keys(body).find((key) => !known.includes(key));
  if (unknown !== undefined) throw refused(`"${unknown}" ${complaint}. There are ${known.join(', ')}.`);
}
