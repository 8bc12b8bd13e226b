import { invalidParam, isObject } from '../messages/checks.js';
import { checkButtons } from './button-checks.js';
import { checkBody, checkHeader, type ComponentFrame } from './component-parts.js';
import { missingField, objectList, tooLong } from './template-error.js';
import type { TemplateCategory, TemplateComponent } from './template.types.js';

const CARD_BODY_LIMIT = 160;
const OFFER_LIMIT = 16;

/** Checks a CAROUSEL: 2 to 10 cards of one shape, each with a header, and one or two buttons. */
export function checkCards(carousel: TemplateComponent, frame: ComponentFrame): void {
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

/** Checks a LIMITED_TIME_OFFER and what may stand beside it. */
export function checkLimitedTimeOffer(
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
