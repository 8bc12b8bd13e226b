import type { JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { TemplateVariableResponse } from '../dto/templates.response.js';
import type { ParameterFormat, TemplateForm } from '../templates.types.js';

/** The list under an own key, otherwise an empty one: WhatsApp does not accept a single object as a list. */
export function ownArray(value: unknown, key: string): readonly unknown[] {
  const found = own(value, key);
  return Array.isArray(found) ? found : [];
}

/** One of WhatsApp's words, such as a type: accepted in any case and stored in capitals. Otherwise ''. */
export function ownWord(value: unknown, key: string): string {
  return (ownText(value, key) ?? '').toUpperCase();
}

/** Text unchanged, a number as text, otherwise null. */
export function asText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

/** The first of a list of texts, or a single text; numbers count as text. */
export function firstText(value: unknown): string | null {
  return asText(Array.isArray(value) ? value[0] : value);
}

/** The first component of that type (in capitals), in whatever case it was written. */
export function componentOf(components: readonly unknown[], type: string): JsonObject | undefined {
  return components.find((component): component is JsonObject => ownWord(component, 'type') === type);
}

/** A position given as a number or as digits; NaN for anything else, null where absent. */
function placeIn(value: unknown, key: string): number | null {
  const index = own(value, key) ?? null;
  if (index === null || typeof index === 'number') return index;
  return typeof index === 'string' && /^\d{1,2}$/.test(index) ? Number(index) : Number.NaN;
}

/** The cards' parts of a send: by `card_index`, or by position without one. */
export function sentCards(sent: readonly unknown[]): [index: number, components: readonly unknown[]][] {
  const cards = ownArray(componentOf(sent, 'CAROUSEL'), 'cards');
  return cards.map((card, place) => [placeIn(card, 'card_index') ?? place, ownArray(card, 'components')]);
}

/** The buttons' parts of a send, for the message or for one card. */
export function sentButtons(
  sent: readonly unknown[],
): { index: number; subType?: string; parameters: readonly unknown[] }[] {
  const buttons = sent.filter((component) => ownWord(component, 'type') === 'BUTTON');
  return buttons.map((button) => ({
    index: placeIn(button, 'index') ?? 0,
    subType: ownText(button, 'sub_type')?.toLowerCase(),
    parameters: ownArray(button, 'parameters'),
  }));
}

/** The parts of the template itself, and of each card of its carousel. */
export interface TemplatePart {
  /** Index of the card, from 0; absent: the template itself. */
  readonly card?: number;
  readonly header: JsonObject | undefined;
  /** Null: no text. */
  readonly bodyText: string | null;
  readonly buttons: readonly unknown[];
}

/** The template itself, then its cards. */
export function partsOf(template: TemplateForm): [whole: TemplatePart, ...cards: TemplatePart[]] {
  const partOf = (components: readonly unknown[], bodyText = ownText(componentOf(components, 'BODY'), 'text')) => ({
    header: componentOf(components, 'HEADER'),
    bodyText,
    buttons: ownArray(componentOf(components, 'BUTTONS'), 'buttons'),
  });
  const cards = ownArray(componentOf(template.components, 'CAROUSEL'), 'cards');
  return [
    partOf(template.components, bodyTextOf(template)),
    ...cards.map((item, card) => ({ card, ...partOf(ownArray(item, 'components')) })),
  ];
}

/**
 * The body's text, null where there is none. Templates for codes have no text: WhatsApp writes a fixed sentence in the
 * template's language, of which this is the English version.
 */
export function bodyTextOf(template: TemplateForm): string | null {
  const body = componentOf(template.components, 'BODY');
  const text = ownText(body, 'text');
  if (text !== null || template.category !== 'AUTHENTICATION') return text;
  const advice = own(body, 'add_security_recommendation') === true;
  return `*{{1}}* is your verification code.${advice ? ' For your security, do not share this code.' : ''}`;
}

/**
 * The examples of a header's or body's variables, by name. Examples for `{{1}}` to `{{n}}` are in `body_text` as a
 * nested list, in `header_text` as a list; both forms are accepted in both places.
 */
export function examplesIn(component: unknown, part: 'header' | 'body'): Map<string, string> {
  const example = own(component, 'example');
  const list = ownArray(example, `${part}_text`);
  const positional: readonly unknown[] = Array.isArray(list[0]) ? list[0] : list;
  const named = ownArray(example, `${part}_text_named_params`);
  const examples = new Map<string, string>();
  for (const [name, value] of [
    ...positional.map((text, index) => [String(index + 1), text] as const),
    ...named.map((item) => [ownText(item, 'param_name'), own(item, 'example')] as const),
  ]) {
    const text = asText(value);
    if (name !== null && text !== null) examples.set(name, text);
  }
  return examples;
}

/**
 * Every variable that a send of this template fills: in the order of the components, `{{1}}` before `{{2}}`, names in
 * order of appearance. Templates for codes have the code in the body and in their button.
 */
export function variablesOf(template: TemplateForm): TemplateVariableResponse[] {
  const format = template.parameterFormat;
  return template.components.flatMap((component): TemplateVariableResponse[] => {
    switch (ownWord(component, 'type')) {
      case 'HEADER':
        return textVariables(component, 'header', format);
      case 'BODY':
        return textVariables(component, 'body', format, bodyTextOf(template));
      case 'BUTTONS':
        return buttonVariables(component);
      case 'CAROUSEL':
        return ownArray(component, 'cards').flatMap((card, card_index) => {
          const parts = ownArray(card, 'components');
          return [
            ...textVariables(componentOf(parts, 'BODY'), 'body', format),
            ...buttonVariables(componentOf(parts, 'BUTTONS')),
          ].map((variable): TemplateVariableResponse => ({ ...variable, component: 'carousel', card_index }));
        });
      case 'LIMITED_TIME_OFFER':
        return endsInTime(component)
          ? [{ ...NOWHERE, component: 'limited_time_offer', name: 'expiration_time_ms', example: null }]
          : [];
      default:
        return [];
    }
  });
}

/** Neither in a button nor in a card. */
const NOWHERE = { button_index: null, card_index: null };

/** A limited-time offer with an end that each message must state. */
export function endsInTime(offer: unknown): boolean {
  return own(own(offer, 'limited_time_offer'), 'has_expiration') === true;
}

/** The variables of a text in the order of a send's parameters: by number, or in order of appearance. */
export function namesInOrder(text: string, format: ParameterFormat): string[] {
  const names = variableNamesIn(text);
  return format === 'NAMED' ? names : names.toSorted((a, b) => Number(a) - Number(b) || 0);
}

/** The parameter of a button, null where it needs none. A code's button is a link that contains the code. */
export function buttonVariable(button: unknown): { name: string; example: string | null } | null {
  const example = firstText(own(button, 'example'));
  switch (ownWord(button, 'type')) {
    case 'URL': {
      const [name] = variableNamesIn(ownText(button, 'url') ?? '');
      return name === undefined ? null : { name, example };
    }
    case 'COPY_CODE':
      return { name: 'coupon_code', example };
    case 'OTP':
      return { name: '1', example: null };
    default:
      return null;
  }
}

function textVariables(
  component: unknown,
  part: 'header' | 'body',
  format: ParameterFormat,
  text = ownText(component, 'text'),
): TemplateVariableResponse[] {
  const examples = examplesIn(component, part);
  const names = namesInOrder(text ?? '', format);
  return names.map((name) => ({ ...NOWHERE, component: part, name, example: examples.get(name) ?? null }));
}

function buttonVariables(component: unknown): TemplateVariableResponse[] {
  return ownArray(component, 'buttons').flatMap((button, button_index): TemplateVariableResponse[] => {
    const variable = buttonVariable(button);
    return variable === null ? [] : [{ component: 'button', button_index, card_index: null, ...variable }];
  });
}

/** Maximum length of a filled text. WhatsApp's limit for a filled body is 1,024 characters. */
const FILLED_LIMIT = 16_384;

/** A brace inside ends the match, so that the search stays linear for any text. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;

/** One `{{name}}` in a text. */
export interface Placeholder {
  /** `1`, `first_name`; without surrounding white space. Never empty. */
  name: string;
  /** Start and end positions, in UTF-16 units. */
  start: number;
  end: number;
}

/** The placeholders of a text in order, including repeats. `{{}}` is plain text. */
export function placeholdersIn(text: string): Placeholder[] {
  const found: Placeholder[] = [];
  for (const match of text.matchAll(VARIABLE)) {
    const name = (match[1] ?? '').trim();
    if (name !== '') found.push({ name, start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/** The names in a text, each once, in order of appearance. */
export function variableNamesIn(text: string): string[] {
  return [...new Set(placeholdersIn(text).map(({ name }) => name))];
}

/**
 * Replaces placeholders by values in one pass: a value that looks like a placeholder stays unchanged, and so does a
 * placeholder without a value. Text beyond 16,384 UTF-16 units is cut.
 */
export function fillIn(text: string, valueOf: (name: string) => string | undefined): string {
  let filled = '';
  let from = 0;
  for (const { name, start, end } of placeholdersIn(text)) {
    filled += text.slice(from, start) + (valueOf(name) ?? text.slice(start, end));
    from = end;
    if (filled.length > FILLED_LIMIT) return cut(filled);
  }
  return cut(filled + text.slice(from));
}

function cut(text: string): string {
  if (text.length <= FILLED_LIMIT) return text;
  // Half a surrogate pair could not be stored.
  const last = text.charCodeAt(FILLED_LIMIT - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? FILLED_LIMIT - 1 : FILLED_LIMIT);
}
