import { isObject } from '../../../common/json.js';
import type { ParameterFormat, TemplateForm } from '../templates.types.js';
import { bodyTextOf } from './authentication-text.js';
import { asText, componentOf, own, ownArray, ownText, ownWord } from './json-reading.js';
import type { ParameterMismatch, ParameterShape } from './parameter-mismatch.js';
import { checkButtonParameters } from './send-buttons.js';
import { checkCards } from './send-cards.js';
import { checkTextParameters, parameterText, placeName, wrongCount } from './send-texts.js';
import { fillIn } from './template-text.js';

export type { ParameterMismatch } from './parameter-mismatch.js';

/** What a header of each format is sent as. What the platform calls GIF is a video, and some send it as `gif`. */
const HEADER_TYPES: Readonly<Record<string, readonly string[]>> = {
  IMAGE: ['image'],
  VIDEO: ['video'],
  DOCUMENT: ['document'],
  GIF: ['video', 'gif'],
  LOCATION: ['location'],
};

/**
 * What the platform would refuse (131008, 132000, 132012, 132018), the first of it; null where nothing is known to be
 * wrong. Media that fills the header must be put into its parameters before. Never throws, whatever was sent.
 */
export function checkSendParameters(template: TemplateForm, sent: readonly unknown[]): ParameterMismatch | null {
  const { components, parameterFormat } = template;
  return (
    checkParts({ components, parameterFormat, body: bodyTextOf(template) }, sent, {}) ??
    checkCards(components, parameterFormat, sent, (card, sentCard, place) => {
      const body = ownText(componentOf(card.components, 'BODY'), 'text');
      return checkParts({ ...card, body }, sentCard, place);
    }) ??
    checkOffer(components, sent)
  );
}

/**
 * The body as its reader sees it, for the journal; null where the template has no body text. Variables without a value
 * stay, and what is longer than 16,384 characters is cut. Never throws, whatever was sent.
 */
export function renderBody(template: TemplateForm, sent: readonly unknown[]): string | null {
  const text = bodyTextOf(template);
  if (text === null) return null;
  const values = new Map<string, string>();
  for (const [index, parameter] of ownArray(componentOf(sent, 'BODY'), 'parameters').entries()) {
    const value = parameterText(parameter);
    const name = template.parameterFormat === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    if (value !== null) values.set(name ?? String(index + 1), value);
  }
  return fillIn(text, (name) => values.get(name));
}

/** Kind of media that the header takes, null where it takes none. What the platform calls GIF is sent as a video. */
export function headerMediaOf(components: readonly unknown[]): 'image' | 'video' | 'document' | null {
  const [type] = HEADER_TYPES[ownWord(componentOf(components, 'HEADER'), 'format')] ?? [];
  return type === 'image' || type === 'video' || type === 'document' ? type : null;
}

/** Header, body and buttons of a template or of one card. */
function checkParts(
  form: { components: readonly unknown[]; parameterFormat: ParameterFormat; body: string | null },
  sent: readonly unknown[],
  place: { card?: number },
): ParameterMismatch | null {
  const body = ownArray(componentOf(sent, 'BODY'), 'parameters');
  const buttons = ownArray(componentOf(form.components, 'BUTTONS'), 'buttons');
  return (
    checkHeader(form.components, form.parameterFormat, sent, place) ??
    checkTextParameters(form.body ?? '', form.parameterFormat, body, { component: 'body', ...place }) ??
    checkButtonParameters(buttons, sent, place)
  );
}

function checkHeader(
  components: readonly unknown[],
  parameterFormat: ParameterFormat,
  sent: readonly unknown[],
  cardPlace: { card?: number },
): ParameterMismatch | null {
  const header = componentOf(components, 'HEADER');
  const parameters = ownArray(componentOf(sent, 'HEADER'), 'parameters');
  const place: ParameterShape = { component: 'header', ...cardPlace };
  const format = header === undefined ? 'TEXT' : ownWord(header, 'format');
  if (format === 'TEXT') return checkTextParameters(ownText(header, 'text') ?? '', parameterFormat, parameters, place);
  const types = HEADER_TYPES[format];
  if (types === undefined) return null;
  if (parameters.length > 1) return wrongCount(1, parameters.length, place);
  const type = ownText(parameters[0], 'type')?.toLowerCase() ?? '';
  if (types.includes(type) && isComplete(own(parameters[0], type), type)) return null;
  return {
    expected: { ...place, type: types[0], parameters: 1 },
    given: { ...place, ...(type !== '' && { type: type.slice(0, 64) }), parameters: parameters.length },
    message: `Give ${placeName(place)} one parameter of type ${types[0]}${types[0] === 'location' ? '' : ', with its id or link'}.`,
  };
}

function isComplete(value: unknown, type: string): boolean {
  if (type === 'location') return isObject(value);
  return ['id', 'link'].some((key) => (asText(own(value, key)) ?? '') !== '');
}

/** An offer that ends must say when; a template without an offer takes none. */
function checkOffer(components: readonly unknown[], sent: readonly unknown[]): ParameterMismatch | null {
  const offer = own(componentOf(components, 'LIMITED_TIME_OFFER'), 'limited_time_offer');
  const given = ownArray(componentOf(sent, 'LIMITED_TIME_OFFER'), 'parameters').length;
  const ends = own(offer, 'has_expiration') === true;
  const isWrong = ends ? given !== 1 : given > 0 && offer === undefined;
  return isWrong ? wrongCount(ends ? 1 : 0, given, { component: 'limited_time_offer' }) : null;
}
