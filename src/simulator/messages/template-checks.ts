import { GraphError } from '../graph-error.js';
import type { ParameterFormat, Template, TemplateComponent } from '../templates/template.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import {
  invalidValue,
  isObject,
  type JsonObject,
  longerThan,
  missing,
  requireObject,
  requireString,
} from './checks.js';
import { checkMediaReference } from './media-checks.js';
import { checkSentButtons } from './template-button-checks.js';
import {
  checkCount,
  fillText,
  formatMismatch,
  parametersOf,
  readComponents,
  type SentComponent,
  typed,
} from './template-parameters.js';

const BODY_LIMIT = 1024;
const CARD_BODY_LIMIT = 160;
const CODE_LIMIT = 15;
const MEDIA_FORMATS: Readonly<Record<string, 'image' | 'video' | 'document'>> = {
  IMAGE: 'image',
  VIDEO: 'video',
  DOCUMENT: 'document',
  GIF: 'video',
};

/**
 * Checks a template message against the stored template.
 * @param toUserId true where the recipient is a business-scoped user id
 * @throws GraphError 100, 131008, 131009, 131062 or one of 132000 ... 132018
 */
export function checkTemplateMessage(
  body: JsonObject,
  wabaId: string,
  templates: TemplateStore,
  toUserId: boolean,
): Template {
  const message = requireObject(body, 'template');
  const name = requireString(message, 'name', "template['name']", 512);
  const language = requireObject(message, 'language', "template['language']");
  const code = requireString(language, 'code', "language['code']", 32);
  const template = templates.find(wabaId, name, code);
  if (template === undefined || !checkStatus(template)) {
    throw new GraphError(132001, { details: `template name (${name}) does not exist in ${code}` });
  }
  if (toUserId && template.category === 'AUTHENTICATION') {
    throw new GraphError(131062, { details: 'Authentication templates need a phone number' });
  }
  const sent = readComponents(message.components, "template['components']");
  checkParts(template.components, sent, template.parameterFormat, BODY_LIMIT);
  checkOffer(template, sent);
  checkCards(template, sent);
  if (template.category === 'AUTHENTICATION') checkCode(sent);
  return template;
}

/** True where it may be sent; false where it is as good as missing. */
function checkStatus({ status, name }: Template): boolean {
  if (status === 'PAUSED')
    throw new GraphError(132015, { details: `template (${name}) is paused for its low quality` });
  if (status === 'DISABLED') throw new GraphError(132016, { details: `template (${name}) is disabled` });
  return status === 'APPROVED';
}

/** Header, body and buttons, of a template or of one of its cards. */
function checkParts(
  components: readonly TemplateComponent[],
  sent: readonly SentComponent[],
  format: ParameterFormat,
  bodyLimit: number,
): void {
  const find = (type: string) => components.find((component) => component.type === type);
  checkHeader(find('HEADER'), sent, format);
  checkBody(find('BODY'), sent, format, bodyLimit);
  checkSentButtons(find('BUTTONS')?.buttons ?? [], sent);
}

function checkHeader(
  header: TemplateComponent | undefined,
  sent: readonly SentComponent[],
  format: ParameterFormat,
): void {
  const parameters = parametersOf(sent, 'HEADER');
  const kind = header?.format ?? 'TEXT';
  if (kind === 'TEXT') {
    fillText('header', header?.text ?? '', format, parameters);
    return;
  }
  const [parameter] = parameters;
  const media = MEDIA_FORMATS[kind];
  const received = typed(parameter?.type);
  if (parameter === undefined || received !== (media?.toUpperCase() ?? kind)) {
    throw formatMismatch('header', kind, received);
  }
  checkCount('header', parameters.length, 1);
  if (media !== undefined) checkMediaReference(requireObject(parameter, media), media, media);
  else if (kind === 'LOCATION') checkLocation(requireObject(parameter, 'location'));
  else requireString(requireObject(parameter, 'product'), 'product_retailer_id', "product['product_retailer_id']", 100);
}

function checkLocation(location: JsonObject): void {
  for (const [key, limit] of [
    ['latitude', 90],
    ['longitude', 180],
  ] as const) {
    const value = location[key];
    if (value === undefined || value === null || value === '') {
      throw missing(`Parameter 'location['${key}']' is mandatory`);
    }
    if (!(Math.abs(Number(value)) <= limit)) throw invalidValue(`${key} must be within -${limit} and ${limit}`);
  }
}

function checkBody(
  body: TemplateComponent | undefined,
  sent: readonly SentComponent[],
  format: ParameterFormat,
  limit: number,
): void {
  const filled = fillText('body', textOf(body), format, parametersOf(sent, 'BODY'));
  if (longerThan(filled, limit)) {
    throw new GraphError(132005, { details: `body: text is longer than ${limit} characters once it is filled in` });
  }
}

/** A body without a text is that of a code, which has one variable. */
function textOf(body: TemplateComponent | undefined): string {
  if (body === undefined) return '';
  return body.text ?? '*{{1}}* is your verification code.';
}

function checkOffer(template: Template, sent: readonly SentComponent[]): void {
  const offer = template.components.find(({ type }) => type === 'LIMITED_TIME_OFFER')?.limited_time_offer;
  if (!isObject(offer) || offer.has_expiration === false) return;
  const [parameter] = parametersOf(sent, 'LIMITED_TIME_OFFER');
  const where = 'limited_time_offer';
  if (parameter?.type !== where) throw formatMismatch(where, 'LIMITED_TIME_OFFER', typed(parameter?.type));
  const ends = requireObject(parameter, where).expiration_time_ms;
  if (ends === undefined) throw missing("Parameter 'expiration_time_ms' is mandatory");
  if (typeof ends !== 'number' || ends <= Date.now()) throw invalidValue('expiration_time_ms must lie in the future');
}

function checkCards(template: Template, sent: readonly SentComponent[]): void {
  const carousel = template.components.find(({ type }) => type === 'CAROUSEL');
  const component = sent.find(({ type }) => type === 'CAROUSEL');
  const cards = Array.isArray(carousel?.cards) ? (carousel.cards as { components: TemplateComponent[] }[]) : [];
  const given: unknown = component?.content.cards;
  const sentCards: unknown[] = Array.isArray(given) ? given : [];
  if (sentCards.length !== cards.length) {
    throw new GraphError(132000, {
      details: `carousel: number of cards (${sentCards.length}) does not match the expected number (${cards.length})`,
    });
  }
  const seen = new Set<number>();
  for (const [i, card] of sentCards.entries()) {
    const path = `${component?.path ?? ''}['cards'][${i}]`;
    const index = isObject(card) ? Number(card.card_index ?? i) : -1;
    const stored = cards[index];
    if (stored === undefined || seen.has(index) || !isObject(card))
      throw invalidValue(`${path}: card_index is not valid`);
    seen.add(index);
    const components = readComponents(card.components, `${path}['components']`);
    checkParts(stored.components, components, template.parameterFormat, CARD_BODY_LIMIT);
  }
}

function checkCode(sent: readonly SentComponent[]): void {
  const code = parametersOf(sent, 'BODY')[0]?.text;
  if (typeof code === 'string' && longerThan(code, CODE_LIMIT)) {
    throw invalidValue(`A one-time password has at most ${CODE_LIMIT} characters`);
  }
}
