import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError } from 'commander';
import { isSupportedCountry } from 'libphonenumber-js/max';
import type { OtpMode } from '../platform/access/api-keys.types.js';
import { isScope, isOtpScope, SCOPES, type Scope } from '../platform/access/scopes.js';

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** `90s`, `15m`, `12h`, `30d`, `4w` in seconds. */
export function durationSeconds(text: string): number {
  const match = /^(\d{1,6})([smhdw])$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError('give a number and a unit, such as 12h or 30d.');
  return Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
}

/** A day (`2027-01-31`: through its end, UTC) or a time of ISO 8601; `none` is null. */
export function timeOrNone(text: string): Date | null {
  if (text === 'none') return null;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = new Date(isDay ? `${text}T23:59:59.999Z` : text);
  if (Number.isNaN(time.getTime()) || !/^\d{4}-/.test(text)) {
    throw new InvalidArgumentError('give a day such as 2027-01-31, a time of ISO 8601, or none.');
  }
  return time;
}

/** Scopes separated by commas; `all` is every one that is not OTP's. */
export function scopeList(text: string): Scope[] {
  if (text === 'all') return SCOPES.filter((scope) => !isOtpScope(scope));
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  const unknown = words.filter((word) => !isScope(word));
  if (words.length === 0 || unknown.length > 0) {
    throw new InvalidArgumentError(
      `${unknown.join(', ') || 'nothing'} is no scope. Scopes: all, ${SCOPES.join(', ')}.`,
    );
  }
  return words.filter(isScope);
}

/** Digits of a phone number however it is written. */
export function phoneDigits(text: string): string {
  const digits = text.replaceAll(/[\s().+-]/g, '');
  if (!/^\d{5,20}$/.test(digits)) throw new InvalidArgumentError('give a phone number with its country code.');
  return digits;
}

export function decimalId(text: string): string {
  if (!/^\d{5,25}$/.test(text)) throw new InvalidArgumentError('give the id as the platform shows it, digits only.');
  return text;
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`give a whole number from ${min} to ${max}.`);
  };
}

export function otpMode(text: string): OtpMode {
  if (text === 'sandbox' || text === 'live') return text;
  throw new InvalidArgumentError('give sandbox or live.');
}

/** ISO 3166 alpha-2, of the countries that have phone numbers. */
export function countryCode(text: string): string {
  const code = text.trim().toUpperCase();
  if (!isSupportedCountry(code)) throw new InvalidArgumentError(`${text} is no country; give codes such as DE.`);
  return code;
}

export function countryList(text: string): string[] {
  return [...new Set(text.split(',').filter(Boolean).map(countryCode))];
}

/** `-` stands for standard input, so that a secret appears in no list of processes and no history. */
export async function secretArgument(text: string): Promise<string> {
  const secret = text === '-' ? await readStandardInput() : text;
  if (secret.trim() === '') throw new Error('the secret is empty');
  return secret.trim();
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The option that stands for a yes where nobody can be asked. */
export const YES_OPTION = ['-y, --yes', 'do it without asking'] as const;

/**
 * Has somebody at the terminal say yes before what can't be undone: `await confirm('Delete 12 files?', yes)`.
 *
 * @throws Error where the answer is another one, and where nobody can be asked and `--yes` is not given.
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Error(`${question} Nobody can be asked here: repeat the command with --yes`);
  }
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asked.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done');
  } finally {
    asked.close();
  }
}
