export const ROLES = ['api', 'worker', 'simulator'] as const;
export type Role = (typeof ROLES)[number];

/** What a setting's default and its validation may depend on. */
export interface Surroundings {
  production: boolean;
}

/** The fault in a value, as a text after the setting's name; never contains the value of a secret. */
export class InvalidSetting extends Error {}

export interface SettingOptions<T> {
  /** Without a default, an unset setting is null. */
  default?: T | ((surroundings: Surroundings) => T);
  /** The text of the default for `.env.example`, if it differs from `default`. */
  fallback?: string;
  secret?: true;
  /** Must be set when NODE_ENV=production, in every process or in those with a role. */
  required?: 'always' | Role;
  /** Minimum length of a secret when NODE_ENV=production. */
  leastLength?: number;
}

/** A setting of the environment, parsed as a `T`. */
export class Setting<T, N extends string = string> {
  /** Its purpose, with its unit. */
  meaning = '';

  constructor(
    readonly name: N,
    /** @throws InvalidSetting */
    readonly read: (text: string, surroundings: Surroundings) => T,
    readonly options: SettingOptions<T>,
    /** The allowed values, for `.env.example`, such as `From 1 to 9.`. */
    readonly range: string,
  ) {}

  means(text: string): this {
    this.meaning = text;
    return this;
  }

  defaultFor(surroundings: Surroundings): T {
    const { default: given = null } = this.options as SettingOptions<unknown>;
    return (typeof given === 'function' ? given(surroundings) : given) as T;
  }

  /** Text of the default; empty where it depends on the surroundings. */
  get fallback(): string {
    const { default: given = '', fallback } = this.options;
    return fallback ?? (typeof given === 'function' ? '' : String(given));
  }
}

type ValueOf<T, O> = O extends { default: unknown } ? T : T | null;

/** A setting that is parsed by a function of its own. */
export function setting<const N extends string, T, const O extends SettingOptions<T>>(
  name: N,
  read: (text: string, surroundings: Surroundings) => T,
  options?: O,
  range = '',
): Setting<ValueOf<T, O>, N> {
  return new Setting<unknown, N>(name, read, options ?? {}, range) as Setting<ValueOf<T, O>, N>;
}

export function text<const N extends string, const O extends SettingOptions<string>>(name: N, options?: O) {
  return setting<N, string, O>(name, (value) => value, options);
}

export function integer<const N extends string, const O extends SettingOptions<number>>(
  name: N,
  [min, max]: readonly [number, number],
  options?: O,
) {
  const read = (value: string): number => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) throw new InvalidSetting('must be a whole number');
    if (number < min || number > max) throw new InvalidSetting(`must be from ${min} to ${max}`);
    return number;
  };
  return setting<N, number, O>(name, read, options, `From ${min} to ${max}.`);
}

export function flag<const N extends string, const O extends SettingOptions<boolean>>(name: N, options?: O) {
  const read = (value: string): boolean => {
    if (value !== 'true' && value !== 'false') throw new InvalidSetting('must be true or false');
    return value === 'true';
  };
  return setting<N, boolean, O>(name, read, options, 'true or false.');
}

export function oneOf<const N extends string, const W extends string, const O extends SettingOptions<W>>(
  name: N,
  words: readonly W[],
  options?: O,
) {
  const read = (value: string): W => {
    const word = words.find((each) => each === value);
    if (word === undefined) throw new InvalidSetting(`must be one of ${words.join(', ')}`);
    return word;
  };
  return setting<N, W, O>(name, read, options, `One of: ${words.join(', ')}.`);
}

/** Words separated by commas, at least one. */
export function words(value: string): string[] {
  const found = value
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  if (found.length === 0) throw new InvalidSetting('must not be empty');
  return found;
}

/** Origins separated by commas, in the form of `URL.origin`. */
export function origins(value: string): string[] {
  return words(value).map((word) => {
    const url = URL.canParse(word) ? new URL(word) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^/?#@]+\/?$/i.test(word)) {
      throw new InvalidSetting('must be made of origins such as https://app.example.com, without a path');
    }
    return url.origin;
  });
}

/** Hosts with their ports, in lower case. */
export function hostPorts(value: string): string[] {
  return words(value).map((word) => {
    const port = Number(/^[^\s/@:]+:(\d{1,5})$|^\[[0-9a-f:.]+\]:(\d{1,5})$/i.exec(word)?.slice(1).find(Boolean));
    if (!(port >= 1 && port <= 65_535)) throw new InvalidSetting('must be host:port, separated by commas');
    return word.toLowerCase();
  });
}

/** A decimal id of WhatsApp. */
export function decimalId(value: string): string {
  if (!/^\d{1,20}$/.test(value)) throw new InvalidSetting('must be made of digits, such as 670843887433847');
  return value;
}

/**
 * In the form of the OpenTelemetry specification: `name=value,name=value`, percent-encoded. Messages never show the
 * value.
 */
export function pairs(value: string): Record<string, string> {
  const read = (pair: string): [string, string] => {
    const [name = '', ...rest] = pair.split('=');
    if (name.trim() === '' || rest.length === 0)
      throw new InvalidSetting('must be made of name=value, separated by commas');
    try {
      return [decodeURIComponent(name.trim()), decodeURIComponent(rest.join('=').trim())];
    } catch {
      throw new InvalidSetting('has a percent sign that encodes nothing; write %25');
    }
  };
  return Object.fromEntries(words(value).map(read));
}

export function ratio(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 1)) throw new InvalidSetting('must be from 0 to 1');
  return number;
}
