import { GraphError } from '../graph-error.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** 100 whose message names the parameter. */
export function invalidParam(message: string): GraphError {
  return new GraphError(100, { message: `(#100) ${message}` });
}

/** 131008: a required parameter is missing. */
export function missing(details: string): GraphError {
  return new GraphError(131008, { details });
}

/** 131009: a value breaks a rule. */
export function invalidValue(details: string): GraphError {
  return new GraphError(131009, { details });
}

/** The object under `key`. @throws GraphError 131008 where it is missing, 100 where it is something else */
export function requireObject(parent: JsonObject, key: string, path = key): JsonObject {
  const value = parent[key];
  if (value === undefined || value === null) throw missing(`Parameter '${path}' is mandatory`);
  if (!isObject(value)) throw invalidParam(`Param ${path} must be a JSON object.`);
  return value;
}

/** The array under `key`, of objects, its length within the limits. */
export function requireObjects(parent: JsonObject, key: string, path: string, min: number, max: number): JsonObject[] {
  const value = parent[key];
  if (value === undefined || value === null) throw missing(`Parameter '${path}' is mandatory`);
  if (!Array.isArray(value)) throw invalidParam(`Param ${path} must be an array.`);
  if (value.length < min || value.length > max) {
    throw invalidValue(`${path}: number of elements is ${value.length}. Min: ${min}, Max: ${max}`);
  }
  return value.map((element, i) => {
    if (!isObject(element)) throw invalidParam(`Param ${path}[${i}] must be a JSON object.`);
    return element;
  });
}

/** The string under `key`, with 1 to `max` characters (code points). */
export function requireString(parent: JsonObject, key: string, path: string, max: number): string {
  const value = parent[key];
  if (value === undefined || value === null || value === '') throw missing(`Parameter '${path}' is mandatory`);
  return checkString(value, path, max);
}

/** As {@link requireString}; undefined where it is left out. */
export function optionalString(parent: JsonObject, key: string, path: string, max: number): string | undefined {
  const value = parent[key];
  return value === undefined || value === null ? undefined : checkString(value, path, max);
}

function checkString(value: unknown, path: string, max: number): string {
  if (typeof value !== 'string') throw invalidParam(`Param ${path} must be a string.`);
  if (longerThan(value, max)) throw invalidParam(`Param ${path} must be at most ${max} characters long.`);
  return value;
}

/** Counts code points, but only where UTF-16 units alone don't settle it. */
export function longerThan(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max;
}

export function requireOneOf<T extends string>(value: unknown, allowed: readonly T[], path: string): T {
  if (typeof value !== 'string' || !allowed.includes(value as T)) {
    throw invalidParam(
      `Param ${path} must be one of {${allowed.join(', ')}} - got ${JSON.stringify(value) ?? 'nothing'}.`,
    );
  }
  return value as T;
}

/** @throws GraphError 100 for a key that the platform does not know there */
export function rejectOtherKeys(object: JsonObject, allowed: readonly string[], path: string): void {
  for (const key in object) {
    if (!allowed.includes(key)) throw invalidParam(`Unexpected key "${key}" on param "${path}".`);
  }
}

/** `URL.canParse` of Node 20 refuses letters of Latin-1 once it is optimised. */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '';
  } catch {
    return false;
  }
}

export function requireUrl(value: string, path: string): void {
  if (!/^https?:\/\//i.test(value) || !isUrl(value)) throw invalidParam(`Param ${path} is not a valid URI.`);
}
