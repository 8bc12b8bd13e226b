import { GraphError, invalidParam } from '../graph-error.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** 131008: a required parameter is missing. */
export function missing(path: string): GraphError {
  return new GraphError(131008, `Parameter '${path}' is mandatory`);
}

/** 131009: a value breaks a rule. */
export function invalidValue(details: string): GraphError {
  return new GraphError(131009, details);
}

/** Counts code points, but only where UTF-16 units alone don't settle it. */
export function longerThan(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max;
}

/** Once optimised, `URL.canParse` of Node 20 refuses Latin-1 letters. */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== '' && /^https?:\/\//i.test(text);
  } catch {
    return false;
  }
}

export function requireOneOf<T extends string>(value: unknown, allowed: readonly T[], path: string): T {
  if (typeof value === 'string' && allowed.includes(value as T)) return value as T;
  throw invalidParam(
    `Param ${path} must be one of {${allowed.join(', ')}} - got ${JSON.stringify(value) ?? 'nothing'}.`,
  );
}

const MAX_TEXT_LENGTH = 10_000;

/** A value within a request, with its path: all checks use it. */
export class Param {
  constructor(
    readonly value: unknown,
    /** For messages, such as `interactive['header']`; empty for the whole body. */
    readonly path: string,
  ) {}

  get isGiven(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get(key: string): Param {
    const value = isObject(this.value) ? this.value[key] : undefined;
    return new Param(value, this.path === '' ? key : `${this.path}['${key}']`);
  }

  /** The object under `key`. @throws GraphError 131008 where it is missing, 100 where it is something else */
  object(key: string): Param {
    const param = this.get(key);
    if (!param.isGiven) throw missing(param.path);
    if (!isObject(param.value)) throw invalidParam(`Param ${param.path} must be a JSON object.`);
    return param;
  }

  /** The array of objects under `key`, with a length within the limits. */
  objects(key: string, min: number, max: number): Param[] {
    const { isGiven, path, value } = this.get(key);
    if (!isGiven) throw missing(path);
    const items = arrayOfObjects(value, path);
    if (items.length < min || items.length > max) {
      throw invalidValue(`${path}: number of elements is ${items.length}. Min: ${min}, Max: ${max}`);
    }
    return items;
  }

  /**
   * The array of texts under `key` that pass the check; undefined where it is absent.
   *
   * @param what the subject of a refusal
   */
  optionalTexts(key: string, most: number, isRight: (text: string) => boolean, what: string): string[] | undefined {
    const { value, path } = this.get(key);
    if (value === undefined) return undefined;
    const isRightText = (item: unknown) => typeof item === 'string' && isRight(item);
    if (Array.isArray(value) && value.length <= most && value.every(isRightText)) return value as string[];
    throw invalidParam(`Param ${path} must be an array of ${what}.`);
  }

  /** The string under `key`, with 1 to `max` characters (code points). */
  text(key: string, max: number): string {
    const { value, path } = this.get(key);
    if (value === '') throw missing(path);
    const text = this.optionalText(key, max);
    if (text === undefined) throw missing(path);
    return text;
  }

  /** Like {@link text}, but it may be empty or absent. */
  optionalText(key: string, max: number): string | undefined {
    const { value, path, isGiven } = this.get(key);
    if (!isGiven) return undefined;
    if (typeof value !== 'string') throw invalidParam(`Param ${path} must be a string.`);
    if (longerThan(value, max)) throw invalidParam(`Param ${path} must be at most ${max} characters long.`);
    return value;
  }

  /** Like {@link text}, but with 100 where it is missing, as in the management calls. */
  required(key: string, max = MAX_TEXT_LENGTH): string {
    const { value, isGiven } = this.get(key);
    if (!isGiven || value === '') throw invalidParam(`The parameter ${key} is required.`);
    return this.text(key, max);
  }

  /** @throws GraphError 100 unless `messaging_product` is `whatsapp` */
  product(): void {
    this.required('messaging_product');
    this.oneOf('messaging_product', ['whatsapp']);
  }

  /** A short label under `key`: 131009 with WhatsApp's own wording where its length is wrong. */
  label(key: string, what: string, max: number, min = 1): string {
    const value = this.get(key).value ?? '';
    if (typeof value !== 'string') throw invalidParam(`${what} must be a string.`);
    if (value.length >= min && !longerThan(value, max)) return value;
    throw invalidValue(`${what} length invalid. Min length: ${min}, Max length: ${max}`);
  }

  /** True or false; `otherwise` where it is absent. */
  flag(key: string, otherwise = false): boolean {
    const { value, path } = this.get(key);
    const given = value ?? otherwise;
    if (typeof given !== 'boolean') throw invalidParam(`Param ${path} must be a boolean.`);
    return given;
  }

  /** A number within the limits; undefined where it is absent. */
  optionalNumber(key: string, min: number, max: number): number | undefined {
    const { value, path } = this.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw invalidParam(`Param ${path} must be a number between ${min} and ${max}.`);
  }

  url(key: string, max: number): void {
    if (!isUrl(this.text(key, max))) throw invalidParam(`Param ${this.get(key).path} is not a valid URI.`);
  }

  /** Like {@link url}, but it may be absent or empty. */
  optionalUrl(key: string, max: number): string | undefined {
    const url = this.optionalText(key, max);
    if (url !== undefined && url !== '') this.url(key, max);
    return url;
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T {
    const { value, path } = this.get(key);
    return requireOneOf(value, allowed, path);
  }

  /** Like {@link oneOf}, in any case; undefined where it is absent. */
  optionalOneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const { value, path, isGiven } = this.get(key);
    if (!isGiven) return undefined;
    const known = allowed.find((one) => typeof value === 'string' && one.toUpperCase() === value.toUpperCase());
    return known ?? requireOneOf(value, allowed, path);
  }

  /** Latitude or longitude. WhatsApp accepts strings of digits too. */
  degrees(key: string, limit: number): void {
    const { value, path, isGiven } = this.get(key);
    if (!isGiven || value === '') throw missing(path);
    if (typeof value !== 'number' && typeof value !== 'string') throw invalidParam(`Param ${path} must be a number.`);
    if (!(Math.abs(Number(value)) <= limit)) throw invalidValue(`${key} must be within -${limit} and ${limit}`);
  }

  /** @throws GraphError 100 for a key that WhatsApp does not know there */
  only(...allowed: string[]): void {
    const unknown = Object.keys(this.value as JsonObject).find((key) => !allowed.includes(key));
    if (unknown === undefined) return;
    throw invalidParam(`Unexpected key "${unknown}" on param "${this.path}"; there are ${allowed.join(', ')}.`);
  }
}

export function arrayOfObjects(value: unknown, path: string): Param[] {
  if (!Array.isArray(value)) throw invalidParam(`Param ${path} must be an array.`);
  return value.map((element: unknown, i) => {
    if (!isObject(element)) throw invalidParam(`Param ${path}[${i}] must be a JSON object.`);
    return new Param(element, `${path}[${i}]`);
  });
}
