import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError } from 'commander';
import { isSupportedCountry } from 'libphonenumber-js/max';
import { databaseClock } from '../common/clock.js';
import { isDateTime } from '../common/date-time.js';
import { isUuid } from '../common/ids.js';
import { isTimeZone } from '../common/time-zone.js';
import { USER_ID } from '../common/user-id.js';
import type { OtpMode } from '../modules/keys/caller.decorator.js';
import {
  isOperatorScope,
  isScope,
  isOtpScope,
  OPERATOR_SCOPES,
  SCOPES,
  type OperatorScope,
  type Scope,
} from '../infrastructure/http/scopes.js';

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** `90s`, `15m`, `12h`, `30d`, `4w` in seconds. */
export function durationSeconds(text: string): number {
  const match = /^(\d{1,6})([smhdw])$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError('give a number and a unit, such as 12h or 30d.');
  return Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
}

/** A time in the past: ISO 8601, or an age (`90m`, `2h`). */
export function pastTime(text: string): Date {
  if (/^\d+[smhdw]$/.test(text.trim())) return new Date(databaseClock.now() - durationSeconds(text) * 1_000);
  if (isDateTime(text)) return new Date(text);
  throw new InvalidArgumentError('give a time of ISO 8601 with its zone, or how long ago, such as 90m or 2h.');
}

/** A day (`2027-01-31`: up to its end, UTC) or an ISO 8601 time. */
export function dayOrTime(text: string): Date {
  const [, day, rest] = /^(\d{4}-\d{2}-\d{2})(T.+)?$/.exec(text) ?? [];
  const time = new Date(rest === undefined ? `${day}T23:59:59.999Z` : text);
  if (day === undefined || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('give a day such as 2027-01-31, or a time of ISO 8601.');
  }
  // JavaScript reads the 30th of February as the 2nd of March.
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) {
    throw new InvalidArgumentError(`the calendar has no day ${day}.`);
  }
  return time;
}

/** Like `durationSeconds`, but not zero, so that nothing expires when it is made. */
export function lifetimeSeconds(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds === 0) throw new InvalidArgumentError('it would have expired as it is made; give 1s or more.');
  return seconds;
}

/** An ISO 8601 time with a zone, or a duration from now, such as `2h`. */
export function timeAhead(text: string): Date {
  if (isDateTime(text)) return new Date(text);
  if (!/^\d+[smhdw]$/.test(text)) {
    throw new InvalidArgumentError(
      'give a time with its zone, such as 2027-01-31T09:00:00Z, or one from now, such as 2h.',
    );
  }
  return new Date(databaseClock.now() + durationSeconds(text) * 1_000);
}

/** A name for lists: 1 to 200 characters, not all of them spaces. */
export function nameText(text: string): string {
  const name = text.trim();
  if (name === '' || [...name].length > 200) throw new InvalidArgumentError('give a name of 1 to 200 characters.');
  return name;
}

/** Scopes separated by commas; `all` means every one that is not OTP's. */
export function scopeList(text: string): Scope[] {
  if (text === 'all') return SCOPES.filter((scope) => !isOtpScope(scope));
  return scopesOf(text, SCOPES, isScope);
}

/** Scopes of an operator key, separated by commas; `all` means every one. */
export function operatorScopeList(text: string): OperatorScope[] {
  return text === 'all' ? [...OPERATOR_SCOPES] : scopesOf(text, OPERATOR_SCOPES, isOperatorScope);
}

function scopesOf<S extends string>(text: string, known: readonly S[], isKnown: (word: string) => word is S): S[] {
  const words = listOf(text);
  const unknown = words.filter((word) => !isKnown(word));
  if (words.length === 0 || unknown.length > 0) {
    throw new InvalidArgumentError(`${unknown.join(', ') || 'nothing'} is no scope. Scopes: all, ${known.join(', ')}.`);
  }
  return words.filter(isKnown);
}

/** Ids of workspaces, separated by commas. */
export function uuidList(text: string): string[] {
  const ids = listOf(text);
  if (ids.length > 0 && ids.every(isUuid)) return ids.map((id) => id.toLowerCase());
  throw new InvalidArgumentError('give ids of workspaces, separated by commas.');
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
}

/** The digits of a phone number in any spelling. */
export function phoneDigits(text: string): string {
  const digits = text.replaceAll(/[\s().+-]/g, '');
  if (!/^\d{5,20}$/.test(digits)) throw new InvalidArgumentError('give a phone number with its country code.');
  return digits;
}

/** WhatsApp's business-scoped id of a user. */
export function userId(text: string): string {
  if (!USER_ID.test(text)) {
    throw new InvalidArgumentError('give the id as a notification shows it, such as DE.1795100000000001.');
  }
  return text;
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

/** An amount of money: up to nine digits and two decimal places. */
export function amount(text: string): string {
  if (!/^\d{1,9}(?:\.\d{1,2})?$/.test(text)) throw new InvalidArgumentError('must be an amount such as 250.00.');
  return text;
}

export function timeZone(text: string): string {
  if (!isTimeZone(text)) throw new InvalidArgumentError('must be a time zone such as Europe/Berlin, or UTC.');
  return text;
}

export function otpMode(text: string): OtpMode {
  if (text === 'sandbox' || text === 'live') return text;
  throw new InvalidArgumentError('give sandbox or live.');
}

/** ISO 3166 alpha-2, for countries that have phone numbers. */
export function countryCode(text: string): string {
  const code = text.trim().toUpperCase();
  if (!isSupportedCountry(code)) throw new InvalidArgumentError(`${text} is no country; give codes such as DE.`);
  return code;
}

export function countryList(text: string): string[] {
  return [...new Set(text.split(',').filter(Boolean).map(countryCode))];
}

/** Words separated by commas, each from the list of known ones. */
export function wordsOf(known: readonly string[]): (text: string) => string[] {
  return (text) => {
    const words = text.split(',').filter(Boolean);
    if (words.length > 0 && words.every((word) => known.includes(word))) return words;
    throw new InvalidArgumentError(`Allowed are ${known.join(', ')}.`);
  };
}

/** Values of an option that may be repeated, in their order. */
export function collected(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** `-` means standard input, so that a secret appears in no process list and no shell history. */
export async function secretArgument(text: string): Promise<string> {
  const secret = text === '-' ? await readStandardInput() : text;
  if (secret.trim() === '') throw new Error('the secret is empty');
  return secret.trim();
}

export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The result of `read`, or the word itself: commander reads null as an option without a value. */
export function orWord<T, W extends string>(word: W, read: (text: string) => T): (text: string) => T | W {
  return (text) => (text === word ? word : read(text));
}

/** The option that confirms without a terminal. */
export const YES_OPTION = ['-y, --yes', 'do it without asking'] as const;

/**
 * Asks at the terminal for yes, or for `word`, before an irreversible action: `await confirm('Delete 12 files?', yes)`.
 *
 * @throws Error for any other answer, and where there is no terminal and `--yes` is not given.
 */
export async function confirm(question: string, yes: boolean | undefined, word?: string): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Error(`${question} There is no terminal to ask at: repeat the command with --yes`);
  }
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = (await asked.question(`${question} ${word === undefined ? '[y/N]' : `Type ${word}:`} `)).trim();
    const agreed = word === undefined ? /^y(es)?$/i.test(answer) : answer === word;
    if (!agreed) throw new Error('nothing was done');
  } finally {
    asked.close();
  }
}
