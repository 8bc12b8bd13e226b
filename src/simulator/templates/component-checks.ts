import { invalidParam } from '../graph-error.js';
import { isObject, type JsonObject, longerThan, requireOneOf } from '../http/param.js';
import { checkAuthenticationComponents } from './authentication-components.js';
import { checkButtons, EMOJI } from './button-checks.js';
import type { TemplateCategory, TemplateComponent } from './template-store.js';
import {
  checkGaps,
  checkTextVariables,
  type ParameterFormat,
  missingField,
  objectList,
  tooLong,
  variablesOfText,
  wrongFormat,
} from './template-text.js';

const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'CALL_PERMISSION_REQUEST'];
const BODY_LIMIT = 1024;
/** A body next to a limited-time offer is held to less. */
const OFFER_BODY_LIMIT = 600;

/**
 * Checks the components of a new or edited template the way the platform does, and gives them as it stores them: types
 * in capitals, an authentication template with its fixed texts.
 * @throws GraphError 100, most with a subcode
 */
export function checkComponents(given: unknown, frame: ComponentFrame): TemplateComponent[] {
  if (given === undefined || given === null) throw invalidParam('The parameter components is required.');
  const components = objectList(given, 'components', 1, 10).map(normalised);
  const types = components.map(({ type }, i) => requireOneOf(type, TYPES, `components[${i}]['type']`));
  const twice = types.find((type, i) => types.indexOf(type) !== i);
  if (twice !== undefined) throw invalidParam(`Param components has more than one component of type ${twice}.`);
  if (!types.includes('BODY')) throw missingField('BODY', 'text');
  if (frame.category === 'AUTHENTICATION') return checkAuthenticationComponents(components);
  const offer = components.find(({ type }) => type === 'LIMITED_TIME_OFFER');
  for (const component of components) checkComponent(component, frame, offer !== undefined);
  if (offer !== undefined) checkLimitedTimeOffer(offer, components, frame.category);
  return components;
}

function checkComponent(component: TemplateComponent, frame: ComponentFrame, hasOffer: boolean): void {
  if (component.type === 'HEADER') checkHeader(component, frame);
  else if (component.type === 'BODY') checkBody(component, frame, hasOffer ? OFFER_BODY_LIMIT : BODY_LIMIT);
  else if (component.type === 'FOOTER') checkFooter(component);
  else if (component.type === 'BUTTONS') checkButtons(component);
  else if (component.type === 'CAROUSEL') checkCards(component, frame);
}

/** Types and formats may come in either case; they are stored in capitals. */
function normalised(component: JsonObject): TemplateComponent {
  const upper = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value);
  const copy = { ...component, type: upper(component.type) } as TemplateComponent;
  if (component.format !== undefined) copy.format = upper(component.format) as string;
  if (Array.isArray(component.buttons)) {
    copy.buttons = component.buttons.map((button: unknown) => (isObject(button) ? normalised(button) : button)) as [];
  }
  if (Array.isArray(component.cards)) {
    copy.cards = component.cards.map((card: unknown) => {
      if (!isObject(card) || !Array.isArray(card.components)) return card;
      return {
        ...card,
        components: card.components.map((part: unknown) => (isObject(part) ? normalised(part) : part)),
      };
    });
  }
  return copy;
}

const HEADER_FORMATS = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'GIF', 'LOCATION', 'PRODUCT'];
const SHORT_LIMIT = 60;

/** What the checks need to know of the template that the components are for. */
interface ComponentFrame {
  category: TemplateCategory;
  format: ParameterFormat;
}

function checkHeader(header: TemplateComponent, frame: ComponentFrame): void {
  const format = requireOneOf(header.format, HEADER_FORMATS, "components['HEADER']['format']");
  if (format === 'TEXT') checkTextHeader(header, frame);
  else if (format === 'LOCATION' || format === 'PRODUCT') return;
  else checkHandle(header);
}

function checkTextHeader(header: TemplateComponent, { format }: ComponentFrame): void {
  const text = textOf(header, SHORT_LIMIT);
  if (/[\r\n*_~`\p{Extended_Pictographic}]/u.test(text.replaceAll(/\{\{[^{}]*\}\}/g, ''))) {
    const rule = "The message header can't have any new lines, formatting characters, emojis or asterisks.";
    throw wrongFormat('header', rule);
  }
  checkGaps('header', text);
  if (variablesOfText(text).length > 1) throw wrongFormat('header', 'The message header can have one variable only.');
  const example = exampleOf(header);
  checkTextVariables('header', text, format, {
    positional: example.header_text,
    named: example.header_text_named_params,
  });
}

/** The example of a media header is a handle that a resumable upload gave. */
function checkHandle(header: TemplateComponent): void {
  const handles = exampleOf(header).header_handle;
  const handle: unknown = Array.isArray(handles) ? handles[0] : undefined;
  if (typeof handle !== 'string' || handle === '') throw missingField('HEADER', 'example');
  if (!/^\d+:/.test(handle)) {
    throw invalidParam("Param components['HEADER']['example']['header_handle'] is not a handle of a resumable upload.");
  }
}

function checkBody(body: TemplateComponent, { format }: ComponentFrame, limit: number): void {
  const text = textOf(body, limit);
  checkGaps('body', text);
  const example = exampleOf(body);
  checkTextVariables('body', text, format, { positional: example.body_text, named: example.body_text_named_params });
}

function checkFooter(footer: TemplateComponent): void {
  const text = textOf(footer, SHORT_LIMIT);
  checkGaps('footer', text);
  if (EMOJI.test(text)) throw wrongFormat('footer', "The message footer can't have any emojis.");
  if (variablesOfText(text).length > 0) throw wrongFormat('footer', "The message footer can't have variables.");
  if (/[\r\n]/.test(text)) throw wrongFormat('footer', "The message footer can't have any new lines.");
}

function textOf(component: TemplateComponent, max: number): string {
  const text: unknown = component.text;
  if (text === undefined || text === null || text === '') throw missingField(component.type, 'text');
  if (typeof text !== 'string') throw invalidParam(`Param components['${component.type}']['text'] must be a string.`);
  if (longerThan(text, max)) throw tooLong(component.type, max);
  return text;
}

function exampleOf(component: TemplateComponent): JsonObject {
  return isObject(component.example) ? component.example : {};
}

const CARD_BODY_LIMIT = 160;
const OFFER_LIMIT = 16;

/** Checks a CAROUSEL: 2 to 10 cards of one shape, each with a header, and one or two buttons. */
function checkCards(carousel: TemplateComponent, frame: ComponentFrame): void {
  const path = "components['CAROUSEL']['cards']";
  const shapes = objectList(carousel.cards, path, 2, 10).map((card, i) => {
    const parts = objectList(card.components, `${path}[${i}]['components']`, 1, 3) as TemplateComponent[];
    const header = parts.find(({ type }) => type === 'HEADER');
    const buttons = parts.find(({ type }) => type === 'BUTTONS');
    const body = parts.find(({ type }) => type === 'BODY');
    if (header === undefined) throw missingField('CAROUSEL', 'HEADER');
    if (buttons === undefined) throw missingField('CAROUSEL', 'BUTTONS');
    if (!['IMAGE', 'VIDEO', 'PRODUCT'].includes(header.format ?? '')) {
      throw invalidParam(`Param ${path}[${i}]: the header of a card is an IMAGE, a VIDEO or a PRODUCT.`);
    }
    checkHeader(header, frame);
    checkButtons(buttons, 2);
    if (body !== undefined) checkBody(body, frame, CARD_BODY_LIMIT);
    const types = (buttons.buttons ?? []).map(({ type }) => type);
    return JSON.stringify([header.format, body !== undefined, types]);
  });
  if (new Set(shapes).size > 1) throw invalidParam(`Param ${path}: all cards must have the same components.`);
}

/** Checks a LIMITED_TIME_OFFER and what may be beside it. */
function checkLimitedTimeOffer(
  offer: TemplateComponent,
  components: readonly TemplateComponent[],
  category: TemplateCategory,
): void {
  if (category !== 'MARKETING') throw invalidParam('A limited-time offer needs the category MARKETING.');
  const content = isObject(offer.limited_time_offer) ? offer.limited_time_offer : {};
  if (typeof content.text !== 'string' || content.text === '') throw missingField('LIMITED_TIME_OFFER', 'text');
  if (content.text.length > OFFER_LIMIT) throw tooLong('LIMITED_TIME_OFFER', OFFER_LIMIT);
  if (components.some(({ type }) => type === 'FOOTER')) {
    throw invalidParam('A template with a limited-time offer has no FOOTER.');
  }
  const types = components.find(({ type }) => type === 'BUTTONS')?.buttons?.map(({ type }) => type) ?? [];
  if (types.includes('COPY_CODE') && types[0] !== 'COPY_CODE') {
    throw invalidParam('The COPY_CODE button of a limited-time offer must be its first one.');
  }
}
