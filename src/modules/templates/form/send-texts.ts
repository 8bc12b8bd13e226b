import type { ParameterFormat } from '../templates.types.js';
import { asText, own, ownText, ownWord } from './json-reading.js';
import type { ParameterMismatch, ParameterShape } from './parameter-mismatch.js';
import { variableNamesIn } from './template-text.js';

/** Kinds of parameter that stand elsewhere than in a text. Kinds that are not known here are left to the platform. */
const NOT_TEXTS = new Set([
  'IMAGE',
  'VIDEO',
  'DOCUMENT',
  'LOCATION',
  'PRODUCT',
  'PAYLOAD',
  'COUPON_CODE',
  'ACTION',
  'LIMITED_TIME_OFFER',
]);

/** What the platform refuses in a value by name: "Param text cannot have new-line/tab characters or more than 4 ...". */
const NOT_ON_ONE_LINE: readonly (readonly [found: RegExp, value: string, words: string])[] = [
  [/\n/, 'line_break', 'a line break'],
  [/\t/, 'tab', 'a tab'],
  [/ {5}/, 'five_spaces', 'more than four spaces in a row'],
];

/** What else stands in braces may be words to the platform: then only it knows what the text takes. */
const WELL_FORMED: Readonly<Record<ParameterFormat, RegExp>> = { POSITIONAL: /^\d+$/, NAMED: /^[a-z0-9_]+$/ };

/** Most names that an answer repeats, and most characters of each. */
const MOST_NAMES = 20;
const NAME_MAX = 64;

/** The place of a text: the template's own header or body, or a card's. */
export type TextPlace = Pick<ParameterShape, 'component' | 'card'>;

/** Checks the parameters of one text: how many, their names, that each is text. */
export function checkTextParameters(
  text: string,
  format: ParameterFormat,
  parameters: readonly unknown[],
  place: TextPlace,
): ParameterMismatch | null {
  const names = variableNamesIn(text);
  if (!names.every((name) => WELL_FORMED[format].test(name))) return null;
  if (parameters.length !== names.length) return wrongCount(names.length, parameters.length, place);
  for (const [index, parameter] of parameters.entries()) {
    const mismatch = checkParameter(parameter, { ...place, parameter: index });
    if (mismatch !== null) return mismatch;
  }
  return format === 'NAMED' ? checkNames(names, parameters, place) : null;
}

/** The words of one parameter; null where it holds none. Money and times bring their own text for every language. */
export function parameterText(parameter: unknown): string | null {
  const type = ownText(parameter, 'type')?.toLowerCase();
  if (type === 'currency' || type === 'date_time') return ownText(own(parameter, type), 'fallback_value');
  return asText(own(parameter, 'text'));
}

/** `the body`, `the body of card 2` (cards are counted from 0, as `card_index` is). */
export function placeName({ component, card }: TextPlace): string {
  const name = component.replaceAll('_', ' ');
  return card === undefined ? `the ${name}` : `the ${name} of card ${card}`;
}

export function wrongCount(expected: number, given: number, place: ParameterShape): ParameterMismatch {
  const sentence = `${placeName(place)} takes ${expected} ${expected === 1 ? 'parameter' : 'parameters'}, not ${given}.`;
  return {
    expected: { ...place, parameters: expected },
    given: { ...place, parameters: given },
    message: sentence[0]?.toUpperCase() + sentence.slice(1),
  };
}

function checkNames(
  names: readonly string[],
  parameters: readonly unknown[],
  place: TextPlace,
): ParameterMismatch | null {
  const given = parameters.map((parameter) => ownText(parameter, 'parameter_name') ?? '');
  const present = new Set(given);
  if (names.every((name) => present.has(name))) return null;
  return {
    expected: { ...place, names: shown(names) },
    given: { ...place, names: shown(given) },
    message: `Give each parameter of ${placeName(place)} its parameter_name: ${shown(names).join(', ')}.`,
  };
}

function checkParameter(parameter: unknown, place: ParameterShape): ParameterMismatch | null {
  const type = ownWord(parameter, 'type');
  const mismatch = (message: string, value: { expected?: string; given?: string } = {}): ParameterMismatch => ({
    expected: { ...place, type: 'text', ...(value.expected !== undefined && { value: value.expected }) },
    given: {
      ...place,
      ...(type !== '' && { type: type.slice(0, NAME_MAX).toLowerCase() }),
      ...(value.given !== undefined && { value: value.given }),
    },
    message,
  });
  if (type === '' || NOT_TEXTS.has(type)) {
    return mismatch(`The parameters of ${placeName(place)} must be objects of type text, currency or date_time.`);
  }
  if (type !== 'TEXT') return null;
  const text = ownText(parameter, 'text');
  if (text === null || text === '') {
    return mismatch(
      `A parameter of type text in ${placeName(place)} must hold its value in text, as a string of at least one character.`,
      { expected: 'text', given: kindOf(own(parameter, 'text')) },
    );
  }
  const fault = NOT_ON_ONE_LINE.find(([found]) => found.test(text));
  if (fault === undefined) return null;
  const [, value, words] = fault;
  return mismatch(
    `The value of parameters[${place.parameter ?? 0}] in ${placeName(place)} holds ${words}; write it on one line, without tabs or more than four spaces in a row.`,
    { expected: 'single_line', given: value },
  );
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === '') return 'empty';
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function shown(names: readonly string[]): string[] {
  return names.slice(0, MOST_NAMES).map((name) => name.slice(0, NAME_MAX));
}
