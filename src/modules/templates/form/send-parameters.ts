import { isObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { ParameterFormat, TemplateForm } from '../templates.types.js';
import {
  asText,
  buttonVariable,
  componentOf,
  endsInTime,
  ownArray,
  ownWord,
  partsOf,
  sentButtons,
  sentCards,
  type TemplatePart,
  variableNamesIn,
} from './components.js';

/** The expected or given parameters at one place. */
export interface ParameterShape {
  component: 'header' | 'body' | 'button' | 'carousel' | 'limited_time_offer';
  /** Index of the card, from 0, if the component belongs to a card. */
  card?: number;
  /** Index of the button, from 0. */
  index?: number;
  sub_type?: string;
  /** Which of a text's parameters, from 1. */
  parameter?: number;
  /** Kind of the parameter: `text`, `image` ... */
  type?: string;
  /**
   * The expected value: `text`, `single_line` or, for a file, `id_or_link`. The given one: `empty`, `missing`, the type
   * of the JSON value, or the reason why it is not a single line: `line_break`, `tab`, `five_spaces`.
   */
  value?: string;
  /** How many. */
  parameters?: number;
  cards?: number;
  /** Names, if the template's variables have names. */
  names?: string[];
}

/** Why WhatsApp would refuse the parameters of a send. */
export interface ParameterMismatch {
  expected: ParameterShape;
  given: ParameterShape;
  /** One sentence that says what to do. */
  message: string;
}

type Mismatches = Generator<ParameterMismatch>;

/** The parameter types for each header format. WhatsApp's GIF is a video, and some callers send it as `gif`. */
const HEADER_TYPES: Readonly<Record<string, readonly string[]>> = {
  IMAGE: ['image'],
  VIDEO: ['video'],
  DOCUMENT: ['document'],
  GIF: ['video', 'gif'],
  LOCATION: ['location'],
};

/** Kinds of button whose `sub_type` is certain: the kind in lower case. */
const SUB_TYPES = new Set(['QUICK_REPLY', 'URL', 'COPY_CODE', 'FLOW']);

/** Kinds that never have a parameter. A link has one only for its variable. */
export const WITHOUT_PARAMETERS = new Set(['PHONE_NUMBER', 'URL']);

/** Kinds of parameter that are not part of a text. Unknown kinds are left to WhatsApp. */
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

/** Characters that WhatsApp refuses in a value: "Param text cannot have new-line/tab characters or more than 4 ...". */
const NOT_ON_ONE_LINE: readonly (readonly [found: RegExp, value: string, words: string])[] = [
  [/\n/, 'line_break', 'a line break'],
  [/\t/, 'tab', 'a tab'],
  [/ {5}/, 'five_spaces', 'more than four spaces in a row'],
];

/** Other text in braces may be plain text to WhatsApp: then only WhatsApp knows the variables. */
const WELL_FORMED: Readonly<Record<ParameterFormat, RegExp>> = { POSITIONAL: /^\d+$/, NAMED: /^[a-z0-9_]+$/ };

/** Limit of names that an answer repeats, and of characters in each. */
const MAX_NAMES = 20;
const NAME_MAX = 64;

/**
 * The first mismatch that WhatsApp would refuse (131008, 132000, 132012, 132018); null where none is known. Put the
 * header's media into the parameters first. Never throws, whatever was sent.
 */
export function checkSendParameters(template: TemplateForm, sent: readonly unknown[]): ParameterMismatch | null {
  const [first = null] = mismatchesOf(template, sent);
  return first;
}

/** Like `checkSendParameters`, for values only: missing and surplus ones are accepted. */
export function checkValues(template: TemplateForm, sent: readonly unknown[]): ParameterMismatch | null {
  for (const mismatch of mismatchesOf(template, sent)) if (mismatch.expected.parameter !== undefined) return mismatch;
  return null;
}

/** Kind of media in the header, null where there is none. WhatsApp's GIF is sent as a video. */
export function headerMediaOf(components: readonly unknown[]): 'image' | 'video' | 'document' | null {
  const [type] = HEADER_TYPES[ownWord(componentOf(components, 'HEADER'), 'format')] ?? [];
  return type === 'image' || type === 'video' || type === 'document' ? type : null;
}

function* mismatchesOf(template: TemplateForm, sent: readonly unknown[]): Mismatches {
  const [whole, ...cards] = partsOf(template);
  yield* checkPart(whole, template.parameterFormat, sent);
  yield* checkCards(cards, template.parameterFormat, sent);
  // A limited-time offer must state its end; a template without an offer has no such parameter.
  const offer = componentOf(template.components, 'LIMITED_TIME_OFFER');
  const needed = endsInTime(offer) ? 1 : 0;
  const given = ownArray(componentOf(sent, 'LIMITED_TIME_OFFER'), 'parameters').length;
  if (given !== needed && (needed === 1 || own(offer, 'limited_time_offer') === undefined)) {
    yield wrongCount(needed, given, { component: 'limited_time_offer' });
  }
}

/** Header, body and buttons of a template or of one card. */
function* checkPart(part: TemplatePart, format: ParameterFormat, sent: readonly unknown[]): Mismatches {
  const place = part.card === undefined ? {} : { card: part.card };
  const parametersOf = (type: string): readonly unknown[] => ownArray(componentOf(sent, type), 'parameters');
  yield* checkHeader(part.header, format, parametersOf('HEADER'), { component: 'header', ...place });
  yield* checkText(part.bodyText ?? '', format, parametersOf('BODY'), { component: 'body', ...place });
  yield* checkButtons(part.buttons, sent, { component: 'button', ...place });
}

function* checkCards(cards: readonly TemplatePart[], format: ParameterFormat, sent: readonly unknown[]): Mismatches {
  const given = sentCards(sent);
  const range = `a place among the template's ${cards.length} cards, from 0 to ${cards.length - 1}.`;
  for (const [index] of given) {
    if (index in cards) continue;
    yield {
      expected: { component: 'carousel', cards: cards.length },
      given: { component: 'carousel', cards: given.length },
      message:
        cards.length === 0
          ? 'This template has no carousel: leave out the carousel component.'
          : `card_index must be ${range}`,
    };
  }
  const byIndex = new Map(given);
  for (const [index, card] of cards.entries()) yield* checkPart(card, format, byIndex.get(index) ?? []);
}

function* checkHeader(
  header: unknown,
  parameterFormat: ParameterFormat,
  parameters: readonly unknown[],
  place: ParameterShape,
): Mismatches {
  const format = header === undefined ? 'TEXT' : ownWord(header, 'format');
  const [wanted, ...others] = HEADER_TYPES[format] ?? [];
  if (format === 'TEXT') yield* checkText(ownText(header, 'text') ?? '', parameterFormat, parameters, place);
  if (wanted === undefined) return;
  if (parameters.length > 1) yield wrongCount(1, parameters.length, place);
  const type = ownText(parameters[0], 'type')?.toLowerCase() ?? '';
  const value = own(parameters[0], type);
  const isComplete =
    type === 'location' ? isObject(value) : ['id', 'link'].some((key) => (asText(own(value, key)) ?? '') !== '');
  if (isComplete && [wanted, ...others].includes(type)) return;
  // The type is right, but the file is missing.
  const isEmpty = [wanted, ...others].includes(type) && wanted !== 'location';
  yield {
    expected: { ...place, type: wanted, parameters: 1, ...(isEmpty && { value: 'id_or_link' }) },
    given: {
      ...place,
      ...(type !== '' && { type: type.slice(0, NAME_MAX) }),
      parameters: parameters.length,
      ...(isEmpty && { value: 'missing' }),
    },
    message: `Give ${nameOf(place)} one parameter of type ${wanted}${wanted === 'location' ? '' : ', with its id or link'}.`,
  };
}

/**
 * Checks the buttons of a send against the template's. Links with a variable, codes and coupons need exactly one
 * parameter; quick replies and flows may have one.
 *
 * @param sent all components of the message, or of the card
 */
function* checkButtons(buttons: readonly unknown[], sent: readonly unknown[], place: ParameterShape): Mismatches {
  const given = new Map<number, number>();
  for (const { index, subType, parameters: list } of sentButtons(sent)) {
    const parameters = list.length;
    if (!given.has(index)) given.set(index, parameters);
    const at = { ...place, ...(Number.isFinite(index) && { index }) };
    const type = ownWord(buttons[index], 'type');
    if (buttons[index] === undefined && parameters > 0) {
      const isPlace = `index must be a place among the template's buttons, from 0 to ${buttons.length - 1}.`;
      yield {
        expected: { ...place, parameters: 0 },
        given: { ...at, parameters },
        message: buttons.length === 0 ? 'This template has no buttons: leave out the button components.' : isPlace,
      };
    } else if (SUB_TYPES.has(type) && subType !== undefined && subType !== type.toLowerCase()) {
      yield {
        expected: { ...at, sub_type: type.toLowerCase() },
        given: { ...at, sub_type: subType.slice(0, NAME_MAX) },
        message: `The button at index ${index} is of sub_type ${type.toLowerCase()}.`,
      };
    }
  }
  for (const [index, button] of buttons.entries()) {
    const type = ownWord(button, 'type');
    const needed = buttonVariable(button) === null ? 0 : 1;
    const parameters = given.get(index) ?? 0;
    if (parameters === needed || (needed === 0 && !WITHOUT_PARAMETERS.has(type))) continue;
    const takes =
      needed === 1 ? `takes 1 parameter, not ${parameters}` : 'takes no parameters: leave out its component';
    yield {
      expected: { ...place, index, sub_type: type === 'OTP' ? 'url' : type.toLowerCase(), parameters: needed },
      given: { ...place, index, parameters },
      message: `The button at index ${index} ${takes}.`,
    };
  }
}

/** Checks the parameters of one text: their number, names, and that each is text. */
function* checkText(
  text: string,
  format: ParameterFormat,
  parameters: readonly unknown[],
  place: ParameterShape,
): Mismatches {
  const names = variableNamesIn(text);
  if (!names.every((name) => WELL_FORMED[format].test(name))) return;
  if (parameters.length !== names.length) yield wrongCount(names.length, parameters.length, place);
  for (const [index, parameter] of parameters.entries())
    yield* checkParameter(parameter, { ...place, parameter: index + 1 });
  if (format === 'POSITIONAL') return;
  const given = parameters.map((parameter) => ownText(parameter, 'parameter_name') ?? '');
  if (names.every((name) => given.includes(name))) return;
  yield {
    expected: { ...place, names: shown(names) },
    given: { ...place, names: shown(given) },
    message: `Give each parameter of ${nameOf(place)} its parameter_name: ${shown(names).join(', ')}.`,
  };
}

function* checkParameter(parameter: unknown, place: ParameterShape): Mismatches {
  const type = ownWord(parameter, 'type');
  const isOther = type === '' || NOT_TEXTS.has(type);
  if (type !== 'TEXT' && !isOther) return;
  const text = ownText(parameter, 'text') ?? '';
  const broken = NOT_ON_ONE_LINE.find(([found]) => found.test(text));
  if (!isOther && text !== '' && broken === undefined) return;
  const expected = { ...place, type: 'text' };
  const given = { ...place, ...(type !== '' && { type: type.slice(0, NAME_MAX).toLowerCase() }) };
  if (isOther) {
    const message = `The parameters of ${nameOf(place)} must be objects of type text, currency or date_time.`;
    yield { expected, given, message };
  } else if (broken === undefined) {
    yield {
      expected: { ...expected, value: 'text' },
      given: { ...given, value: kindOf(own(parameter, 'text')) },
      message: `A parameter of type text in ${nameOf(place)} must hold its value in text, as a string of at least one character.`,
    };
  } else {
    const [, value, words] = broken;
    yield {
      expected: { ...expected, value: 'single_line' },
      given: { ...given, value },
      message: `The value of parameter ${place.parameter} in ${nameOf(place)} holds ${words}; write it on one line, without tabs or more than four spaces in a row.`,
    };
  }
}

function wrongCount(expected: number, given: number, place: ParameterShape): ParameterMismatch {
  const sentence = `${nameOf(place)} takes ${expected} ${expected === 1 ? 'parameter' : 'parameters'}, not ${given}.`;
  return {
    expected: { ...place, parameters: expected },
    given: { ...place, parameters: given },
    message: sentence[0]?.toUpperCase() + sentence.slice(1),
  };
}

/** `the body`, `the body of card 2` (cards are counted from 0, as `card_index` is). */
function nameOf({ component, card }: ParameterShape): string {
  const name = component.replaceAll('_', ' ');
  return card === undefined ? `the ${name}` : `the ${name} of card ${card}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === '') return 'empty';
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function shown(names: readonly string[]): string[] {
  return names.slice(0, MAX_NAMES).map((name) => name.slice(0, NAME_MAX));
}
