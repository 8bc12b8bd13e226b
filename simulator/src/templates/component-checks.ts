import { type GraphError, invalidParam } from '../graph-error.js';
import { arrayOfObjects, isObject, isUrl, type JsonObject, longerThan, requireOneOf } from '../http/param.js';
import {
  componentOf,
  type ParameterFormat,
  type TemplateButton,
  type TemplateCategory,
  type TemplateComponent,
  templateError,
} from './template-store.js';

const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'CALL_PERMISSION_REQUEST'];
/** Keys with nested parts. */
const PARTS = ['buttons', 'cards', 'components'];
const BODY_LIMIT = 1024;
/** A body beside a limited-time offer has a lower limit. */
const OFFER_BODY_LIMIT = 600;

/**
 * Checks the components of a new or edited template like WhatsApp, and returns them in stored form: types in capitals,
 * an authentication template with its fixed texts.
 *
 * @throws GraphError 100, most with a subcode
 */
export function checkComponents(given: unknown, frame: ComponentFrame): TemplateComponent[] {
  if (given === undefined || given === null) throw invalidParam('The parameter components is required.');
  const components = objectList(normalised(given), 'components', 1, 10) as TemplateComponent[];
  const types = components.map(({ type }, i) => requireOneOf(type, TYPES, `components[${i}]['type']`));
  const twice = types.find((type, i) => types.indexOf(type) !== i);
  if (twice !== undefined) throw invalidParam(`Param components has more than one component of type ${twice}.`);
  if (!types.includes('BODY')) throw missingField('BODY', 'text');
  if (frame.category === 'AUTHENTICATION') return checkAuthenticationComponents(components);
  const offer = componentOf(components, 'LIMITED_TIME_OFFER');
  for (const component of components) checkComponent(component, frame, offer !== undefined);
  if (offer !== undefined) checkLimitedTimeOffer(offer, components, frame.category);
  return components;
}

function checkComponent(component: TemplateComponent, frame: ComponentFrame, hasOffer: boolean): void {
  if (component.type === 'HEADER') checkHeader(component, frame);
  else if (component.type === 'BODY') {
    checkTextWithVariables('body', component, hasOffer ? OFFER_BODY_LIMIT : BODY_LIMIT, frame.format);
  } else if (component.type === 'FOOTER') checkFooter(component);
  else if (component.type === 'BUTTONS') checkButtons(component);
  else if (component.type === 'CAROUSEL') checkCards(component, frame);
}

/** Types and formats are accepted in any case and stored in capitals. */
function normalised(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalised);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    if ((key === 'type' || key === 'format') && typeof inner === 'string') return [key, inner.toUpperCase()];
    return [key, PARTS.includes(key) ? normalised(inner) : inner];
  });
  return Object.fromEntries(entries);
}

const HEADER_FORMATS = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'GIF', 'LOCATION', 'PRODUCT'];
const SHORT_LIMIT = 60;

/** Facts about the components' template that the checks need. */
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
  const text = checkTextWithVariables('header', header, SHORT_LIMIT, format);
  if (/[\r\n*_~`\p{Extended_Pictographic}]/u.test(text.replaceAll(VARIABLE, ''))) {
    const rule = "The message header can't have any new lines, formatting characters, emojis or asterisks.";
    throw wrongFormat('header', rule);
  }
  if (variablesOfText(text).length > 1) throw wrongFormat('header', 'The message header can have one variable only.');
}

/** The example of a media header is a handle from a resumable upload. */
function checkHandle(header: TemplateComponent): void {
  const handles = isObject(header.example) ? header.example.header_handle : undefined;
  const handle: unknown = Array.isArray(handles) ? handles[0] : undefined;
  if (typeof handle !== 'string' || handle === '') throw missingField('HEADER', 'example');
  if (!/^\d+:/.test(handle)) {
    throw invalidParam("Param components['HEADER']['example']['header_handle'] is not a handle of a resumable upload.");
  }
}

function checkFooter(footer: TemplateComponent): void {
  const text = textOf(footer.text, 'FOOTER', 'text', SHORT_LIMIT);
  checkGaps('footer', text);
  if (EMOJI.test(text)) throw wrongFormat('footer', "The message footer can't have any emojis.");
  if (variablesOfText(text).length > 0) throw wrongFormat('footer', "The message footer can't have variables.");
  if (/[\r\n]/.test(text)) throw wrongFormat('footer', "The message footer can't have any new lines.");
}

const CARD_BODY_LIMIT = 160;
const OFFER_LIMIT = 16;

/** Checks a CAROUSEL: 2 to 10 cards with the same components, each with a header, and one or two buttons. */
function checkCards(carousel: TemplateComponent, frame: ComponentFrame): void {
  const path = "components['CAROUSEL']['cards']";
  const shapes = objectList(carousel.cards, path, 2, 10).map((card, i) => {
    const parts = objectList(card.components, `${path}[${i}]['components']`, 1, 3) as TemplateComponent[];
    const [header, buttons, body] = ['HEADER', 'BUTTONS', 'BODY'].map((type) => componentOf(parts, type));
    if (header === undefined) throw missingField('CAROUSEL', 'HEADER');
    if (buttons === undefined) throw missingField('CAROUSEL', 'BUTTONS');
    if (!['IMAGE', 'VIDEO', 'PRODUCT'].includes(header.format ?? '')) {
      throw invalidParam(`Param ${path}[${i}]: the header of a card is an IMAGE, a VIDEO or a PRODUCT.`);
    }
    checkHeader(header, frame);
    checkButtons(buttons, 2);
    if (body !== undefined) checkTextWithVariables('body', body, CARD_BODY_LIMIT, frame.format);
    const types = (buttons.buttons ?? []).map(({ type }) => type);
    return JSON.stringify([header.format, body !== undefined, types]);
  });
  if (new Set(shapes).size > 1) throw invalidParam(`Param ${path}: all cards must have the same components.`);
}

/** Checks a LIMITED_TIME_OFFER and the components beside it. */
function checkLimitedTimeOffer(
  offer: TemplateComponent,
  components: readonly TemplateComponent[],
  category: TemplateCategory,
): void {
  if (category !== 'MARKETING') throw invalidParam('A limited-time offer needs the category MARKETING.');
  const content = isObject(offer.limited_time_offer) ? offer.limited_time_offer : {};
  textOf(content.text, 'LIMITED_TIME_OFFER', 'text', OFFER_LIMIT);
  if (componentOf(components, 'FOOTER') !== undefined) {
    throw invalidParam('A template with a limited-time offer has no FOOTER.');
  }
  const types = componentOf(components, 'BUTTONS')?.buttons?.map(({ type }) => type) ?? [];
  if (types.includes('COPY_CODE') && types[0] !== 'COPY_CODE') {
    throw invalidParam('The COPY_CODE button of a limited-time offer must be its first one.');
  }
}

// prettier-ignore
const BUTTON_TYPES = [
  'QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'VOICE_CALL', 'FLOW', 'CATALOG', 'MPM', 'SPM', 'REQUEST_CONTACT_INFO',
];
/** Limit per type in one template, where it is more than one. */
const MAX_OF_TYPE: Readonly<Record<string, number>> = { QUICK_REPLY: 10, URL: 2 };
const MAX_TOGETHER = 10;
const LABEL_LIMIT = 25;
const URL_LIMIT = 2000;
const PHONE_LIMIT = 20;
const CODE_LIMIT = 20;

const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u;
/** Hosts of links that lead back into WhatsApp. */
const WHATSAPP_LINK = /^https?:\/\/(?:[^/?#]*\.)?(?:wa\.me|whatsapp\.com)(?:[:/?#]|$)/i;

/** Line breaks, emoji, and pairs of the characters for bold, italic, strikethrough or monospace. */
const DRESSED = [/[\n\r]/, EMOJI, /(?<![\p{L}\p{N}])([*_~`])(?! )[^]*[^ ]\1(?![\p{L}\p{N}])/u];

/** Types whose label WhatsApp writes itself. */
const WITHOUT_LABEL = ['COPY_CODE', 'REQUEST_CONTACT_INFO'];

/** Checks a BUTTONS component. @throws GraphError 100, with 2388040 or 2388043 for lengths and missing fields */
function checkButtons(component: TemplateComponent, most = MAX_TOGETHER): void {
  const path = "components['BUTTONS']['buttons']";
  const buttons = objectList(component.buttons, path, 1, most) as TemplateButton[];
  const types = buttons.map(({ type }, i) => requireOneOf(type, BUTTON_TYPES, `${path}[${i}]['type']`));
  for (const type of types) {
    const limit = MAX_OF_TYPE[type] ?? 1;
    const count = types.filter((other) => other === type).length;
    if (count > limit) throw invalidParam(`Param ${path} has ${count} buttons of type ${type}; there can be ${limit}.`);
  }
  const first = types.indexOf('QUICK_REPLY');
  const last = types.lastIndexOf('QUICK_REPLY');
  if (types.slice(Math.max(first, 0), last + 1).some((type) => type !== 'QUICK_REPLY')) {
    throw invalidParam(`Param ${path}: buttons of type QUICK_REPLY must stand together.`);
  }
  for (const button of buttons) checkButton(button);
  const labels = buttons.flatMap(({ text }) => (typeof text === 'string' ? [text.trim().toLowerCase()] : []));
  if (new Set(labels).size === labels.length) return;
  throw templateError(
    undefined,
    'Button texts are repeated',
    'The buttons of a message template must have different texts.',
  );
}

function checkButton(button: TemplateButton): void {
  if (!WITHOUT_LABEL.includes(button.type)) checkLabel(button.text);
  if (button.type === 'URL') checkUrl(button);
  if (button.type === 'PHONE_NUMBER') {
    const phone = checkText(button.phone_number, 'phone_number', PHONE_LIMIT);
    if (!/^\+?[\d\s().-]+$/.test(phone)) throw invalidParam(`Param phone_number is not a phone number: ${phone}`);
  }
  if (button.type === 'COPY_CODE') checkText(firstOf(button.example), 'example', CODE_LIMIT);
  if (button.type === 'FLOW') {
    const named = [button.flow_id, button.flow_name, button.flow_json].filter((value) => value !== undefined);
    if (named.length !== 1) throw missingField('BUTTONS', 'flow_id');
  }
}

/** The visible text of a button. @throws GraphError 100, with 2388040, 2388043 or 2388060 */
function checkLabel(given: unknown): void {
  const label = checkText(given, 'text', LABEL_LIMIT);
  if (variablesOfText(label).length === 0 && !DRESSED.some((pattern) => pattern.test(label))) return;
  throw templateError(
    2388060,
    'Button format is incorrect',
    "Buttons can't have any variables, newlines, emojis or formatting characters.",
  );
}

function checkUrl(button: TemplateButton): void {
  const url = checkText(button.url, 'url', URL_LIMIT);
  const variables = variablesOfText(url);
  if (!isUrl(url.replaceAll(/\{\{[^{}]*\}\}/g, 'x'))) throw invalidParam('Param url is not a valid URI.');
  if (WHATSAPP_LINK.test(url)) {
    throw templateError(
      undefined,
      "Direct links to WhatsApp aren't allowed for buttons",
      'Remove the direct link to WhatsApp from the button. A customer who is in a chat already needs none.',
    );
  }
  if (variables.length === 0) return;
  if (variables.length > 1 || !url.trimEnd().endsWith('}}')) {
    throw invalidParam('Param url can have one variable only, at its end.');
  }
  const example = firstOf(button.example);
  if (typeof example !== 'string' || example === '') throw missingField('BUTTONS', 'example');
}

function checkText(value: unknown, field: string, max: number): string {
  return textOf(value, 'BUTTONS', field, max, `button ${field}`);
}

function firstOf(example: unknown): unknown {
  return Array.isArray(example) ? (example[0] as unknown) : example;
}

const OTP_TYPES = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'];
const PACKAGE_LIMIT = 224;

/**
 * Checks the components of an authentication template, and adds the texts that WhatsApp fixes. Read back, its button
 * has type URL.
 *
 * @throws GraphError 100
 */
export function checkAuthenticationComponents(components: readonly TemplateComponent[]): TemplateComponent[] {
  if (componentOf(components, 'BUTTONS') === undefined) throw missingField('BUTTONS', 'buttons');
  return components.map((component) => {
    if (component.type === 'BODY') return bodyOf(component);
    if (component.type === 'FOOTER') return footerOf(component);
    if (component.type === 'BUTTONS') return buttonsOf(component);
    throw invalidParam(`Templates of the category AUTHENTICATION have no component of type ${component.type}.`);
  });
}

function bodyOf(body: TemplateComponent): TemplateComponent {
  if (body.text !== undefined) throw invalidParam('The body of an authentication template is fixed: it takes no text.');
  const warns = body.add_security_recommendation ?? false;
  if (typeof warns !== 'boolean') throw invalidParam('Param add_security_recommendation must be a boolean.');
  const warning = warns ? ' For your security, do not share this code.' : '';
  return {
    type: 'BODY',
    text: `*{{1}}* is your verification code.${warning}`,
    add_security_recommendation: warns,
    example: { body_text: [['123456']] },
  };
}

function footerOf(footer: TemplateComponent): TemplateComponent {
  const minutes = footer.code_expiration_minutes;
  if (minutes === undefined) throw missingField('FOOTER', 'code_expiration_minutes');
  if (typeof minutes !== 'number' || !Number.isInteger(minutes) || minutes < 1 || minutes > 90) {
    throw invalidParam('Param code_expiration_minutes must be a number between 1 and 90.');
  }
  return {
    type: 'FOOTER',
    text: `This code expires in ${minutes} minutes.`,
    code_expiration_minutes: minutes,
  };
}

function buttonsOf(component: TemplateComponent): TemplateComponent {
  const [button] = objectList(component.buttons, "components['BUTTONS']['buttons']", 1, 1) as TemplateButton[];
  if (button === undefined || button.type !== 'OTP') {
    throw invalidParam('An authentication template has one button, of type OTP.');
  }
  const given = typeof button.otp_type === 'string' ? button.otp_type.toUpperCase() : button.otp_type;
  const otpType = requireOneOf(given, OTP_TYPES, "components['BUTTONS']['buttons'][0]['otp_type']");
  if (button.text !== undefined && button.text !== '') checkLabel(button.text);
  if (otpType !== 'COPY_CODE') checkApps(button, otpType);
  const url = `https://www.whatsapp.com/otp/code/?otp_type=${otpType}&code=otp{{1}}`;
  return {
    type: 'BUTTONS',
    buttons: [{ type: 'URL', text: button.text ?? 'Copy code', url, example: [url.replace('{{1}}', '123456')] }],
  };
}

function checkApps(button: TemplateButton, otpType: string): void {
  // The two fields on the button itself are the older form.
  const apps = button.supported_apps ?? [{ package_name: button.package_name, signature_hash: button.signature_hash }];
  if (!Array.isArray(apps) || apps.length < 1 || apps.length > 5) {
    throw invalidParam('Param supported_apps must have one to five apps.');
  }
  for (const app of apps as unknown[]) {
    const { package_name: name, signature_hash: hash } = isObject(app) ? app : {};
    textOf(name, 'BUTTONS', 'package_name', PACKAGE_LIMIT, 'package_name');
    if (typeof hash === 'string' && hash.length === 11) continue;
    throw invalidParam('Param signature_hash must have 11 characters.');
  }
  if (otpType === 'ZERO_TAP' && button.zero_tap_terms_accepted !== true) {
    throw invalidParam('Param zero_tap_terms_accepted must be true for a ZERO_TAP button.');
  }
}

/** 2388043: a component lacks a required field, usually its examples. */
function missingField(component: string, field: string): GraphError {
  return templateError(
    2388043,
    "Message template 'components' param is missing expected field(s)",
    `component of type ${component} is missing expected field(s) (${field})`,
  );
}

/** 2388040: a text is longer than its component allows. */
function tooLong(what: string, max: number): GraphError {
  return templateError(
    2388040,
    'Character Limit Exceeded',
    `The ${what} field can't be longer than ${max} characters.`,
  );
}

const FORMAT_SUBCODES = { header: 2388047, body: 2388072, footer: 2388073 } as const;

/** 2388047, 2388072 or 2388073: a text that its component can't have. */
function wrongFormat(component: keyof typeof FORMAT_SUBCODES, userMessage: string): GraphError {
  const title = `Message ${component} Format is Incorrect`;
  return templateError(FORMAT_SUBCODES[component], title, userMessage);
}

/** A list of objects, with a length within the limits. @throws GraphError 100 */
function objectList(value: unknown, path: string, min: number, max: number): JsonObject[] {
  const objects = arrayOfObjects(value, path).map((element) => element.value as JsonObject);
  if (objects.length >= min && objects.length <= max) return objects;
  throw invalidParam(`Param ${path} must have ${min} to ${max} elements, and has ${objects.length}.`);
}

/** A required text. @param what the subject of the error for one that is too long */
function textOf(value: unknown, component: string, field: string, max: number, what = component): string {
  if (value === undefined || value === null || value === '') throw missingField(component, field);
  if (typeof value !== 'string') throw invalidParam(`Param components['${component}']['${field}'] must be a string.`);
  if (longerThan(value, max)) throw tooLong(what, max);
  return value;
}

function checkGaps(component: keyof typeof FORMAT_SUBCODES, text: string): void {
  const most = / {5}/.test(text) ? '4 spaces' : /(?:\r?\n){3}/.test(text) ? '2 new lines' : null;
  if (most !== null) throw wrongFormat(component, `The message ${component} can't have more than ${most} in a row.`);
}

/** Checks a text with variables: at most 4 spaces or 2 line breaks in a row, and an example for each variable. */
function checkTextWithVariables(
  component: 'header' | 'body',
  part: TemplateComponent,
  limit: number,
  format: ParameterFormat,
): string {
  const text = textOf(part.text, part.type, 'text', limit);
  checkGaps(component, text);
  if (/\{\{|\}\}/.test(text.replaceAll(VARIABLE, ''))) {
    throw wrongFormat(component, 'A variable is written {{1}} or {{first_name}}; some braces are left over.');
  }
  const all = variablesOfText(text);
  const variables = [...new Set(all)];
  if (variables.length === 0) return text;
  checkNames(component, all, variables, format);
  if (component === 'body') checkPlaces(text, variables.length);
  const example = isObject(part.example) ? part.example : {};
  const isComplete =
    format === 'NAMED'
      ? variables.every((name) => namesOfExamples(example[`${component}_text_named_params`]).includes(name))
      : positionsOfExamples(example[`${component}_text`]).length === variables.length;
  if (!isComplete) throw missingField(part.type, 'example');
  return text;
}

/** One variable in a text; its name, or position, without surrounding white space. */
export const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Names (or positions) of the variables in a text, in order, with repeats. */
export function variablesOfText(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map((match) => match[1] as string);
}

function checkNames(component: 'header' | 'body', all: string[], variables: string[], format: ParameterFormat): void {
  if (format === 'POSITIONAL') {
    const positions = variables.map(Number).sort((a, b) => a - b);
    if (!positions.every((position, i) => position === i + 1)) {
      throw wrongFormat(component, 'Variables must be {{1}}, {{2}} and so on, with none left out.');
    }
    return;
  }
  const wrong = variables.find((name) => !/^[a-z][a-z0-9_]*$/.test(name));
  if (wrong !== undefined) {
    throw wrongFormat(component, `{{${wrong}}}: names have lowercase letters, digits and underscores only.`);
  }
  if (all.length > variables.length) throw wrongFormat(component, 'The names of the variables must be unique.');
}

function checkPlaces(text: string, count: number): void {
  const trimmed = text.trim();
  if (/^\{\{[^{}]*\}\}|\{\{[^{}]*\}\}$/.test(trimmed)) {
    const title = "Variables can't be at the start or end of the template";
    throw templateError(2388299, title, 'Put words before the first variable and after the last one.');
  }
  const words = trimmed.replaceAll(VARIABLE, ' ').match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  // The ratio is not published; every account of it refuses fewer words than variables.
  if (words < count) {
    throw templateError(
      2388293,
      'Parameters words ratio exceeds limit',
      'This template has too many variables for its length. Reduce the number of variables or increase the message length.',
    );
  }
}

function positionsOfExamples(given: unknown): unknown[] {
  if (!Array.isArray(given)) return [];
  const list: unknown[] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given;
  return list.filter((value) => typeof value === 'string' && value !== '');
}

function namesOfExamples(given: unknown): unknown[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter((item): item is JsonObject => isObject(item) && typeof item.example === 'string' && item.example !== '')
    .map((item) => item.param_name);
}

/** Two variables without text between them: accepted at first, and rejected by the review. */
export function hasAdjacentVariables(text: string): boolean {
  return /\}\}\s*\{\{/.test(text);
}
