import { isUuid } from '../../../common/ids.js';
import { MAX_DETAILS, type ErrorDetail } from '../../../common/app-error.js';
import { isObject, type JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { TemplateCategory, TemplateDraft, TemplateForm } from '../templates.types.js';
import { atMost, checkText, MARKDOWN, textOf, violation, type TextRules, type Violations } from './check-text.js';
import { asText, componentOf, firstText, ownArray, ownWord, placeholdersIn } from './components.js';

/** What the checks of a component depend on, besides the component. */
interface Context extends TemplateForm {
  /** It contains a limited-time offer. */
  readonly isOffer: boolean;
}

type Check = (component: JsonObject, field: string, context: Context) => Violations;

/** Seconds that a message may wait for delivery, by category; -1 (30 days) is allowed for all but marketing. */
const TTL_SECONDS: Readonly<Record<TemplateCategory, readonly [min: number, max: number]>> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
};

/** Maximum lengths in characters (code points, the interpretation that refuses least). */
const MAX_LENGTH = { footer: 60, offer: 16, type: 64, label: 25, url: 2_000, phone: 20, coupon: 20, package: 224 };

const HEADER_TEXT: TextRules = { part: 'header', longest: 60, mostVariables: 1 };
const BODY_TEXT: TextRules = { part: 'body', longest: 1_024, inside: true };
const CARD_TEXT: TextRules = { part: 'body', longest: 160 };

const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT', 'GIF'];
const CARD_HEADER_FORMATS = [...MEDIA_FORMATS, 'PRODUCT'];

/** The components of a template; each occurs at most once. */
const COMPONENTS: Readonly<Record<string, Check>> = {
  HEADER: checkHeader,
  BODY: (body, field, { category, parameterFormat }) =>
    category === 'AUTHENTICATION' ? checkCodeBody(body, field) : checkText(body, field, parameterFormat, BODY_TEXT),
  FOOTER: checkFooter,
  BUTTONS: checkButtons,
  CAROUSEL: checkCarousel,
  LIMITED_TIME_OFFER: checkOffer,
};
export const COMPONENT_TYPES = Object.keys(COMPONENTS);

/** The components of a carousel's card; each card has a header and buttons. */
const CARD_COMPONENTS: Readonly<Record<string, Check>> = {
  HEADER: checkCardHeader,
  BODY: (body, field, { parameterFormat }) => checkText(body, field, parameterFormat, CARD_TEXT),
  BUTTONS: checkCardButtons,
};

interface ButtonRules {
  /** Limit per template; without it WhatsApp counts. */
  readonly most?: number;
  /** `own`: the template must give a plain label; `plain`: it may. Absent: any label is accepted. */
  readonly label?: 'own' | 'plain';
  readonly check?: (button: JsonObject, field: string) => Violations<unknown>;
}

/** Kinds of button; others are left to WhatsApp's check. */
const BUTTONS: Readonly<Record<string, ButtonRules>> = {
  QUICK_REPLY: { label: 'own' },
  URL: { most: 2, label: 'own', check: checkUrl },
  PHONE_NUMBER: {
    most: 1,
    label: 'own',
    check: (button, field) => textOf(own(button, 'phone_number'), `${field}.phone_number`, MAX_LENGTH.phone),
  },
  COPY_CODE: {
    most: 1,
    check: (button, field) => atMost(firstText(own(button, 'example')) ?? '', `${field}.example`, MAX_LENGTH.coupon),
  },
  VOICE_CALL: { most: 1 },
  OTP: { label: 'plain', check: checkOtpButton },
};
const MAX_BUTTONS = 10;

const MIN_CARDS = 2;
const MAX_CARDS = 10;

const MAX_APPS = 5;
const HASH_LENGTH = 11;
const MAX_MINUTES = 90;

/** Characters that are emoji by default, and the selector that turns others into emoji. */
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

/**
 * Form errors that WhatsApp is known to refuse, each violation naming its field; empty if none is known. Whatever
 * WhatsApp's documents leave open is left to WhatsApp, since a false refusal is worse than a missed one. So are values
 * of enumerations and flags, whose errors WhatsApp explains itself. Never throws, whatever the components contain; at
 * most 20 violations.
 */
export function checkTemplate(draft: TemplateDraft): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const each of violationsOf(draft)) if (details.push(each) === MAX_DETAILS) break;
  return details;
}

function* violationsOf(draft: TemplateDraft): Violations {
  if (typeof draft.name !== 'string' || !/^[a-z0-9_]{1,512}$/.test(draft.name)) {
    yield violation('name', 'format', 'must be 1 to 512 small letters, digits and underscores.');
  }
  yield* checkComponents(draft);
  const { category, messageSendTtlSeconds: seconds } = draft;
  // WhatsApp may add categories.
  const range = TTL_SECONDS[category] as (typeof TTL_SECONDS)[TemplateCategory] | undefined;
  if (seconds === undefined || range === undefined) return;
  const [min, max] = range;
  const mayBeLongest = category !== 'MARKETING';
  if ((seconds >= min && seconds <= max) || (mayBeLongest && seconds === -1)) return;
  const must = `must be ${min} to ${max}${mayBeLongest ? ', or -1 for 30 days' : ''}.`;
  yield violation('message_send_ttl_seconds', 'range', `of a template of category ${category} ${must}`);
}

function* checkComponents(form: TemplateForm): Violations {
  const components = yield* objectsIn(form.components, 'components');
  if (components === null) return;
  const context = { ...form, isOffer: componentOf(form.components, 'LIMITED_TIME_OFFER') !== undefined };
  const seen = new Set<string>();
  for (const [component, field] of components) {
    if (ownText(component, 'type') === null) {
      yield violation(`${field}.type`, 'required', `must be one of ${COMPONENT_TYPES.join(', ')}.`);
      continue;
    }
    const type = ownWord(component, 'type');
    const check = COMPONENTS[type];
    if (seen.has(type) && check !== undefined) {
      yield violation(field, 'duplicate', `is a second ${type}: a template has one of each component.`);
    }
    seen.add(type);
    if (check !== undefined) yield* check(component, field, context);
  }
  if (!seen.has('BODY') && form.category !== 'AUTHENTICATION') {
    yield violation('components', 'required', 'must hold a BODY.');
  }
}

/** The objects among the first `most` of a list, with their indexes; null where it is not a list. */
function* objectsIn(
  list: unknown,
  field: string,
  most = Infinity,
): Violations<[item: JsonObject, field: string][] | null> {
  if (!Array.isArray(list)) {
    yield violation(field, 'type', 'must be an array.');
    return null;
  }
  const objects: [JsonObject, string][] = [];
  for (const [index, item] of (list as unknown[]).slice(0, most).entries()) {
    if (isObject(item)) objects.push([item, `${field}[${index}]`]);
    else yield violation(`${field}[${index}]`, 'type', 'must be a JSON object.');
  }
  return objects;
}

function* checkHeader(header: JsonObject, field: string, { category, parameterFormat }: Context): Violations {
  const format = ownWord(header, 'format');
  if (format === 'LOCATION' && category === 'AUTHENTICATION') {
    yield violation(`${field}.format`, 'one_of', 'LOCATION is for UTILITY and MARKETING templates only.');
  } else if (format !== 'TEXT') {
    yield* checkMediaHeader(header, field);
  } else {
    yield* checkText(header, field, parameterFormat, HEADER_TEXT);
    // A text that is too long is refused already; below the limit the search is short. Names of variables contain
    // underscores that mean nothing.
    const text = ownText(header, 'text') ?? '';
    if (text.length <= 2 * HEADER_TEXT.longest && MARKDOWN.test(text.replaceAll(/\{\{[^{}]*\}\}/g, 'x'))) {
      yield violation(`${field}.text`, 'markdown', 'must be plain: *bold*, _italic_, ~struck~ are for the body.');
    }
  }
}

function* checkCardHeader(header: JsonObject, field: string): Violations {
  const format = ownWord(header, 'format');
  if (format !== '' && !CARD_HEADER_FORMATS.includes(format)) {
    yield violation(`${field}.format`, 'one_of', `must be ${CARD_HEADER_FORMATS.join(', ')}.`);
  }
  yield* checkMediaHeader(header, field);
}

/** A format, and a sample for media. */
function* checkMediaHeader(header: JsonObject, field: string): Violations {
  const format = ownWord(header, 'format');
  if (format === '') yield violation(`${field}.format`, 'required', 'is missing.');
  if (!MEDIA_FORMATS.includes(format)) return;
  const example = own(header, 'example');
  const handle = asText(ownArray(example, 'header_handle')[0]) ?? ownText(example, 'header_handle') ?? '';
  const file = own(example, 'media_object_id');
  if (file !== undefined) {
    const place = `${field}.example.media_object_id`;
    if (!isUuid(file)) yield violation(place, 'format', 'must be the id of a file: take it from POST /media.');
    if (handle !== '')
      yield violation(place, 'exclusive', 'stands in the place of header_handle: give one of the two.');
  } else if (handle.trim() === '') {
    const must =
      'must hold the handle of an uploaded sample file, or example the media_object_id of a file from POST /media.';
    yield violation(`${field}.example.header_handle`, 'required', must);
  }
}

function* checkFooter(footer: JsonObject, field: string, { category, isOffer }: Context): Violations {
  if (isOffer) yield { field, rule: 'not_allowed', message: `${field}: a limited-time offer has no footer.` };
  if (category === 'AUTHENTICATION') {
    yield* checkNoText(footer, field, 'code_expiration_minutes');
    const minutes = own(footer, 'code_expiration_minutes') ?? 1;
    if (!Number.isInteger(minutes) || Number(minutes) < 1 || Number(minutes) > MAX_MINUTES) {
      yield violation(`${field}.code_expiration_minutes`, 'range', `must be a whole number from 1 to ${MAX_MINUTES}.`);
    }
  } else {
    const text = yield* textOf(own(footer, 'text'), `${field}.text`, MAX_LENGTH.footer);
    if (text !== null && placeholdersIn(text).length > 0) {
      yield violation(`${field}.text`, 'variable_not_allowed', 'takes no variables.');
    }
  }
}

/** The body of a template for codes: WhatsApp writes the sentence; the template only requests the advice after it. */
function* checkCodeBody(body: JsonObject, field: string): Violations {
  yield* checkNoText(body, field, 'add_security_recommendation');
}

function* checkNoText(component: JsonObject, field: string, instead: string): Violations {
  if ((own(component, 'text') ?? null) === null) return;
  const must = `is not for AUTHENTICATION templates, whose words are fixed: use ${instead}.`;
  yield violation(`${field}.text`, 'not_allowed', must);
}

function* checkOffer(component: JsonObject, field: string): Violations {
  const at = `${field}.limited_time_offer`;
  const offer = own(component, 'limited_time_offer');
  if (!isObject(offer)) {
    yield violation(at, 'required', 'must be a JSON object with text and has_expiration.');
    return;
  }
  yield* textOf(own(offer, 'text'), `${at}.text`, MAX_LENGTH.offer);
}

/** Checks a carousel: 2 to 10 cards, each well-formed, all of one shape. */
function* checkCarousel(carousel: JsonObject, field: string, context: Context): Violations {
  const cards = own(carousel, 'cards');
  const at = `${field}.cards`;
  if (!Array.isArray(cards)) {
    yield violation(at, 'type', 'must be an array.');
    return;
  }
  if (cards.length < MIN_CARDS || cards.length > MAX_CARDS) {
    yield violation(at, 'count', `must be ${MIN_CARDS} to ${MAX_CARDS}, not ${cards.length}.`);
  }
  const checked: unknown[] = cards.slice(0, MAX_CARDS);
  for (const [index, card] of checked.entries()) yield* checkCard(card, `${at}[${index}].components`, context);
  const shapes = checked.map(shapeOf);
  const other = shapes.findIndex((shape) => shape !== shapes[0]);
  if (other !== -1) {
    const must = 'must have the same components, header format and kinds of buttons as the first card.';
    yield violation(`${at}[${other}]`, 'same_shape', must);
  }
}

function* checkCard(card: unknown, field: string, context: Context): Violations {
  const components = yield* objectsIn(own(card, 'components'), field);
  if (components === null) return;
  for (const [component, at] of components) {
    yield* CARD_COMPONENTS[ownWord(component, 'type')]?.(component, at, context) ?? [];
  }
  for (const needed of ['HEADER', 'BUTTONS']) {
    if (componentOf(ownArray(card, 'components'), needed) === undefined) {
      yield violation(field, 'required', `must hold a ${needed}.`);
    }
  }
}

/** The properties that all cards must share, as text. */
function shapeOf(card: unknown): string {
  const components = ownArray(card, 'components');
  const kindsIn = (list: readonly unknown[]): string[] => list.map((item) => ownWord(item, 'type'));
  const buttons = kindsIn(ownArray(componentOf(components, 'BUTTONS'), 'buttons'));
  const format = ownWord(componentOf(components, 'HEADER'), 'format');
  return [kindsIn(components).toSorted().join(), format, buttons.join()].join(' ');
}

function* checkButtons(component: JsonObject, parent: string, { isOffer }: Context): Violations {
  const field = `${parent}.buttons`;
  const kinds = ownArray(component, 'buttons').map((button) => ownWord(button, 'type'));
  const link = kinds.indexOf('URL');
  // In a limited-time offer, the button that copies the code comes before the link.
  if (isOffer && link !== -1 && link < kinds.indexOf('COPY_CODE')) {
    yield violation(field, 'order', 'of a limited-time offer: COPY_CODE first, then URL.');
  }
  if (!(yield* checkEachButton(component, field))) return;
  if (kinds.length > MAX_BUTTONS) {
    yield violation(field, 'count', `takes at most ${MAX_BUTTONS}, not ${kinds.length}.`);
  }
  for (const [kind, { most = Infinity }] of Object.entries(BUTTONS)) {
    const count = kinds.filter((other) => other === kind).length;
    if (count > most) yield violation(field, 'count', `takes at most ${most} of type ${kind}, not ${count}.`);
  }
  const replies = kinds.slice(kinds.indexOf('QUICK_REPLY'), kinds.lastIndexOf('QUICK_REPLY'));
  if (replies.some((kind) => kind !== 'QUICK_REPLY')) {
    yield violation(field, 'order', 'must keep its quick replies together, before or after the other buttons.');
  }
}

function* checkCardButtons(component: JsonObject, parent: string): Violations {
  const field = `${parent}.buttons`;
  if (!(yield* checkEachButton(component, field))) return;
  const { length } = ownArray(component, 'buttons');
  if (length < 1 || length > 2) yield violation(field, 'count', `of a card must be 1 or 2, not ${length}.`);
}

/** Checks each button alone; returns false where there is no list. */
function* checkEachButton(component: JsonObject, field: string): Violations<boolean> {
  // Too many buttons are refused by number; checking thousands one by one would help no caller.
  const buttons = yield* objectsIn(own(component, 'buttons'), field, MAX_BUTTONS);
  for (const [button, at] of buttons ?? []) yield* checkButton(button, at);
  return buttons !== null;
}

function* checkButton(button: JsonObject, field: string): Violations {
  if ((yield* textOf(own(button, 'type'), `${field}.type`, MAX_LENGTH.type)) === null) return;
  const { label, check } = BUTTONS[ownWord(button, 'type')] ?? {};
  const text = own(button, 'text');
  const at = `${field}.text`;
  if (label === 'own') yield* textOf(text, at, MAX_LENGTH.label);
  else if (typeof text === 'string') yield* atMost(text, at, MAX_LENGTH.label);
  // WhatsApp refuses them explicitly (100, subcode 2388060). A label that is far too long is refused for its length
  // only, which bounds the work.
  if (label !== undefined && typeof text === 'string' && text.length <= 4 * MAX_LENGTH.label && !isPlain(text)) {
    yield violation(at, 'plain_text', 'must be plain words: no variables, line breaks, emoji or formatting.');
  }
  if (check !== undefined) yield* check(button, field);
}

function isPlain(label: string): boolean {
  return placeholdersIn(label).length === 0 && !/[\r\n]/.test(label) && !EMOJI.test(label) && !MARKDOWN.test(label);
}

function* checkUrl(button: JsonObject, field: string): Violations {
  const at = `${field}.url`;
  const url = yield* textOf(own(button, 'url'), at, MAX_LENGTH.url);
  const placeholders = placeholdersIn(url ?? '');
  const [variable] = placeholders;
  if (variable === undefined) return;
  if (placeholders.length > 1) {
    yield violation(at, 'variable_count', `takes one variable, not ${placeholders.length}.`);
  } else if (variable.end !== url?.length) {
    yield violation(at, 'variable_position', 'must end with its variable.');
  }
  if ((firstText(own(button, 'example')) ?? '').trim() === '') {
    yield violation(`${field}.example`, 'variable_example', 'must hold an example of the whole address.');
  }
}

function* checkOtpButton(button: JsonObject, field: string): Violations {
  const at = `${field}.supported_apps`;
  const apps = yield* objectsIn(own(button, 'supported_apps') ?? [], at);
  const { length } = ownArray(button, 'supported_apps');
  if (length > MAX_APPS) yield violation(at, 'count', `takes at most ${MAX_APPS} apps, not ${length}.`);
  for (const [app, place] of apps ?? []) {
    yield* textOf(own(app, 'package_name'), `${place}.package_name`, MAX_LENGTH.package);
    if (ownText(app, 'signature_hash')?.length !== HASH_LENGTH) {
      yield violation(`${place}.signature_hash`, 'length', `must be ${HASH_LENGTH} characters.`);
    }
  }
}
