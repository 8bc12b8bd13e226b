import { isObject } from '../../../common/json.js';
import type { TemplateCategory, TemplateForm } from '../templates.types.js';
import { checkAuthenticationBody, checkAuthenticationFooter } from './check-authentication.js';
import { checkButtons, checkOfferButtons } from './check-buttons.js';
import { checkCarousel } from './check-carousel.js';
import { checkHeader } from './check-header.js';
import { checkPlainText, checkText } from './check-text.js';
import { FaultList, type Fault } from './fault-list.js';
import { componentOf, own, ownText, ownWord, type JsonObject } from './json-reading.js';

export type { Fault } from './fault-list.js';

const NAME = /^[a-z0-9_]{1,512}$/;
const BODY_MAX = 1024;
const FOOTER_MAX = 60;
const OFFER_MAX = 16;

/** A template has at most one of each. */
const ONCE = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'];

/** Seconds that a message may wait for its delivery, by category; -1 (30 days) is for all but marketing. */
const TTL_SECONDS: Readonly<Record<TemplateCategory, readonly [min: number, max: number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

/** A template that is about to be given to the platform. */
export interface TemplateDraft extends TemplateForm {
  readonly name: string;
  readonly language: string;
  /** Left out: the platform's default. */
  readonly messageSendTtlSeconds?: number | undefined;
}

/**
 * What the platform surely refuses for its form, each fault naming its field; empty where nothing is known to be
 * wrong. Whatever the platform's documents leave open is left to the platform, since a false refusal is worse than a
 * missed one. Never throws, whatever the components hold; at most 50 faults.
 */
export function checkTemplate(draft: TemplateDraft): Fault[] {
  const list = new FaultList();
  if (typeof draft.name !== 'string' || !NAME.test(draft.name)) {
    list.add('name', 'format', 'name must be 1 to 512 small letters, digits and underscores.');
  }
  if (Array.isArray(draft.components)) checkComponents(draft, list);
  else list.add('components', 'type', 'components must be an array.');
  checkTtl(draft, list);
  return list.faults;
}

function checkTtl({ category, messageSendTtlSeconds: seconds }: TemplateDraft, faults: FaultList): void {
  // The platform may come to know more categories.
  const range = TTL_SECONDS[category] as (typeof TTL_SECONDS)[TemplateCategory] | undefined;
  if (seconds === undefined || range === undefined) return;
  const [min, max] = range;
  const mayBeLongest = category !== 'MARKETING';
  if ((seconds >= min && seconds <= max) || (mayBeLongest && seconds === -1)) return;
  const longest = mayBeLongest ? ', or -1 for 30 days' : '';
  faults.add(
    'message_send_ttl_seconds',
    'range',
    `message_send_ttl_seconds of a template of category ${category} must be ${min} to ${max}${longest}.`,
  );
}

function checkComponents(draft: TemplateDraft, faults: FaultList): void {
  const seen = new Set<string>();
  const isOffer = componentOf(draft.components, 'LIMITED_TIME_OFFER') !== undefined;
  for (const [index, component] of (draft.components as readonly unknown[]).entries()) {
    const field = `components[${index}]`;
    if (!isObject(component)) {
      faults.add(field, 'type', `${field} must be a JSON object.`);
      continue;
    }
    if (ownText(component, 'type') === null) {
      faults.add(`${field}.type`, 'required', `${field}.type must be one of ${ONCE.join(', ')}.`);
      continue;
    }
    const type = ownWord(component, 'type');
    if (seen.has(type) && ONCE.includes(type)) {
      faults.add(field, 'duplicate', `${field} is a second ${type}: a template has one of each component.`);
    }
    seen.add(type);
    checkComponent(component, type, field, { ...draft, isOffer }, faults);
  }
  if (!seen.has('BODY') && draft.category !== 'AUTHENTICATION') {
    faults.add('components', 'required', 'components must hold a BODY.');
  }
}

function checkComponent(
  component: JsonObject,
  type: string,
  field: string,
  { category, parameterFormat, isOffer }: TemplateDraft & { isOffer: boolean },
  faults: FaultList,
): void {
  switch (type) {
    case 'HEADER':
      return checkHeader(component, field, category, parameterFormat, faults);
    case 'BODY':
      if (category === 'AUTHENTICATION') return checkAuthenticationBody(component, field, faults);
      return checkText(component, field, parameterFormat, { part: 'body', max: BODY_MAX, inside: true }, faults);
    case 'FOOTER':
      if (isOffer) faults.add(field, 'not_allowed', `${field}: a limited-time offer has no footer.`);
      if (category === 'AUTHENTICATION') return checkAuthenticationFooter(component, field, faults);
      return checkPlainText(component, field, FOOTER_MAX, faults);
    case 'BUTTONS':
      if (isOffer) checkOfferButtons(component, field, faults);
      return checkButtons(component, field, faults);
    case 'CAROUSEL':
      return checkCarousel(component, field, parameterFormat, faults);
    case 'LIMITED_TIME_OFFER':
      return checkOffer(component, field, faults);
    default:
  }
}

function checkOffer(component: JsonObject, field: string, faults: FaultList): void {
  const at = `${field}.limited_time_offer`;
  const offer = own(component, 'limited_time_offer');
  if (!isObject(offer)) {
    faults.add(at, 'required', `${at} must be a JSON object with text and has_expiration.`);
    return;
  }
  faults.text(own(offer, 'text'), `${at}.text`, OFFER_MAX);
  const expires = own(offer, 'has_expiration');
  if (expires !== undefined && expires !== null && typeof expires !== 'boolean') {
    faults.add(`${at}.has_expiration`, 'type', `${at}.has_expiration must be true or false.`);
  }
}
