import { GraphError, invalidParam } from '../graph-error.js';
import { VARIABLE, variablesOfText } from '../templates/component-checks.js';
import {
  componentOf,
  type ParameterFormat,
  type Template,
  type TemplateButton,
  type TemplateComponent,
  type TemplateStore,
} from '../templates/template-store.js';
import { checkMedia, checkPlace } from './content-checks.js';
import { arrayOfObjects, invalidValue, isObject, longerThan, missing, Param, requireOneOf } from '../http/param.js';

const BODY_LIMIT = 1024;
const CARD_BODY_LIMIT = 160;
const CODE_LIMIT = 15;
const PAYLOAD_LIMIT = 256;
const COUPON_LIMIT = 20;
// prettier-ignore
const COMPONENT_TYPES = [
  'HEADER', 'BODY', 'FOOTER', 'BUTTON', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'ORDER_STATUS', 'CALL_PERMISSION_REQUEST',
];
const HEADER_MEDIA: Readonly<Record<string, 'image' | 'video' | 'document'>> = {
  IMAGE: 'image',
  VIDEO: 'video',
  DOCUMENT: 'document',
  GIF: 'video',
};

/** A component of a template message: its type in capitals, its fields, and its parameters. */
interface SentComponent {
  type: string;
  content: Param;
  parameters: Param[];
}

/**
 * Checks a template message against the stored template.
 * @param toUserId true where the recipient is a business-scoped user id
 * @throws GraphError 100, 131008, 131009, 131062 or one of 132000 ... 132018
 */
export function checkTemplateMessage(
  body: Param,
  wabaId: string,
  templates: TemplateStore,
  toUserId: boolean,
): Template {
  const message = body.object('template');
  const name = message.text('name', 512);
  const code = message.object('language').text('code', 32);
  const template = templates.find(wabaId, name, code);
  if (template?.status === 'PAUSED') {
    throw new GraphError(132015, `template (${name}) is paused for its low quality`);
  }
  if (template?.status === 'DISABLED') throw new GraphError(132016, `template (${name}) is disabled`);
  if (template?.status !== 'APPROVED') {
    throw new GraphError(132001, `template name (${name}) does not exist in ${code}`);
  }
  const isCode = template.category === 'AUTHENTICATION';
  if (toUserId && isCode) throw new GraphError(131062, 'Authentication templates need a phone number');
  const sent = readComponents(message);
  checkParts(template.components, sent, template.parameterFormat, BODY_LIMIT);
  checkOffer(template, sent);
  checkCards(template, sent);
  const password = parametersOf(sent, 'BODY')[0]?.get('text').value;
  if (isCode && typeof password === 'string' && longerThan(password, CODE_LIMIT)) {
    throw invalidValue(`A one-time password has at most ${CODE_LIMIT} characters`);
  }
  return template;
}

/** Reads `components`, of the message or of a card. @throws GraphError 100 */
function readComponents(parent: Param): SentComponent[] {
  const { value, path, isGiven } = parent.get('components');
  if (!isGiven) return [];
  return arrayOfObjects(value, path).map((content) => {
    const type = requireOneOf(upper(content.get('type')), COMPONENT_TYPES, `${content.path}['type']`);
    const { value: given, path: at, isGiven: hasAny } = content.get('parameters');
    const parameters = hasAny ? arrayOfObjects(given, at) : [];
    for (const parameter of parameters) {
      const text = parameter.get('text');
      if (parameter.get('type').value === 'text' && typeof text.value !== 'string') {
        throw invalidParam(`Param ${text.path} must be a string.`);
      }
    }
    return { type, content, parameters };
  });
}

/** The parameters of the only component of a type; none where it is absent. */
function parametersOf(components: readonly SentComponent[], type: string): Param[] {
  return components.find((one) => one.type === type)?.parameters ?? [];
}

/** Header, body and buttons, of a template or of one of its cards. */
function checkParts(
  components: readonly TemplateComponent[],
  sent: readonly SentComponent[],
  format: ParameterFormat,
  bodyLimit: number,
): void {
  checkHeader(componentOf(components, 'HEADER'), parametersOf(sent, 'HEADER'), format);
  const body = componentOf(components, 'BODY');
  // A body without text belongs to a code, and has one variable.
  const text = body === undefined ? '' : (body.text ?? '*{{1}}* is your verification code.');
  if (longerThan(fillText('body', text, format, parametersOf(sent, 'BODY')), bodyLimit)) {
    throw new GraphError(132005, `body: text is longer than ${bodyLimit} characters once it is filled in`);
  }
  checkButtons(componentOf(components, 'BUTTONS')?.buttons ?? [], sent);
}

function checkHeader(header: TemplateComponent | undefined, parameters: Param[], format: ParameterFormat): void {
  const kind = header?.format ?? 'TEXT';
  if (kind === 'TEXT') {
    fillText('header', header?.text ?? '', format, parameters);
    return;
  }
  const [parameter] = parameters;
  const media = HEADER_MEDIA[kind];
  const received = upper(parameter?.get('type'));
  if (parameter === undefined || received !== (media?.toUpperCase() ?? kind)) {
    throw formatMismatch('header', kind, received);
  }
  checkCount('header', parameters.length, 1);
  if (media !== undefined) checkMedia(parameter, media);
  else if (kind === 'LOCATION') checkPlace(parameter.object('location'));
  else parameter.object('product').text('product_retailer_id', 100);
}

function checkOffer(template: Template, sent: readonly SentComponent[]): void {
  const where = 'limited_time_offer';
  const offer = componentOf(template.components, 'LIMITED_TIME_OFFER')?.limited_time_offer;
  if (!isObject(offer) || offer.has_expiration === false) return;
  const [parameter] = parametersOf(sent, 'LIMITED_TIME_OFFER');
  if (parameter?.get('type').value !== where) {
    throw formatMismatch(where, 'LIMITED_TIME_OFFER', upper(parameter?.get('type')));
  }
  const { value, isGiven } = parameter.object(where).get('expiration_time_ms');
  if (!isGiven) throw missing('expiration_time_ms');
  if (typeof value !== 'number' || value <= Date.now()) throw invalidValue('expiration_time_ms must lie in the future');
}

function checkCards(template: Template, sent: readonly SentComponent[]): void {
  const carousel = componentOf(template.components, 'CAROUSEL');
  const cards = Array.isArray(carousel?.cards) ? (carousel.cards as { components: TemplateComponent[] }[]) : [];
  const given = sent.find(({ type }) => type === 'CAROUSEL')?.content.get('cards');
  const values = Array.isArray(given?.value) ? (given.value as unknown[]) : [];
  if (values.length !== cards.length) {
    throw new GraphError(
      132000,
      `carousel: number of cards (${values.length}) does not match the expected number (${cards.length})`,
    );
  }
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    const card = new Param(value, `${given?.path ?? ''}[${i}]`);
    const index = isObject(value) ? Number(value.card_index ?? i) : -1;
    const stored = cards[index];
    if (stored === undefined || seen.has(index)) throw invalidValue(`${card.path}: card_index is not valid`);
    seen.add(index);
    checkParts(stored.components, readComponents(card), template.parameterFormat, CARD_BODY_LIMIT);
  }
}

/** Buttons that may have a parameter, or none at all. */
const OPTIONAL: readonly string[] = ['QUICK_REPLY', 'FLOW', 'CATALOG', 'MPM', 'SPM', 'VOICE_CALL'];

/**
 * Checks the parameters for the buttons of a template, or of a card.
 *
 * @throws GraphError 131008 for a missing value, 131009, 132000, 132012 or 132018 for a wrong one
 */
function checkButtons(buttons: readonly TemplateButton[], components: readonly SentComponent[]): void {
  const sent = new Map<number, SentComponent>();
  for (const component of components.filter(({ type }) => type === 'BUTTON')) {
    const index = Number(component.content.get('index').value ?? 0);
    if (buttons[index] === undefined) throw invalidValue(`buttons: the template has no button at index ${index}`);
    if (sent.has(index)) throw invalidValue(`buttons: index ${index} is given twice`);
    sent.set(index, component);
  }
  buttons.forEach((button, index) => {
    if (!needsParameter(button) || (sent.get(index)?.parameters.length ?? 0) > 0) return;
    const label = button.type === 'COPY_CODE' ? 'Copy code' : 'Url';
    const details = `buttons: Button at index ${index} of type ${label} requires a parameter`;
    throw new GraphError(131008, details);
  });
  for (const [index, component] of sent) checkButton(buttons[index] as TemplateButton, index, component);
}

function checkButton(button: TemplateButton, index: number, { content, parameters }: SentComponent): void {
  const subType = upper(content.get('sub_type'));
  // A one-time password's button is sent as a link.
  const expected = button.type === 'OTP' ? 'URL' : button.type;
  if (subType !== '' && subType !== expected) throw formatMismatch(`buttons: index ${index}`, expected, subType);
  const [parameter] = parameters;
  if (parameter === undefined) return;
  if (!needsParameter(button) && !OPTIONAL.includes(button.type)) {
    throw new GraphError(
      132018,
      `buttons: Button at index ${index} of type ${button.type} does not require parameters`,
    );
  }
  checkCount('buttons', parameters.length, 1);
  if (button.type === 'COPY_CODE') checkOwnText(parameter, 'coupon_code', COUPON_LIMIT);
  else if (needsParameter(button)) textOf('buttons', parameter);
  else if (button.type === 'QUICK_REPLY') checkOwnText(parameter, 'payload', PAYLOAD_LIMIT);
}

/** A parameter whose text is under the name of its type. */
function checkOwnText(parameter: Param, type: string, max: number): void {
  if (parameter.get('type').value !== type) {
    throw formatMismatch('buttons', type.toUpperCase(), upper(parameter.get('type')));
  }
  const { value } = parameter.get(type);
  if (typeof value !== 'string' || value === '') throw missing(type);
  if (longerThan(value, max)) throw invalidValue(`${type} must be at most ${max} characters long`);
}

function needsParameter({ type, url }: TemplateButton): boolean {
  if (type === 'URL') return variablesOfText(url ?? '').length > 0;
  return type === 'OTP' || type === 'COPY_CODE';
}

/** Puts the parameters into a text. @throws GraphError 100, 131008, 132000, 132012 or 132018 */
function fillText(where: string, text: string, format: ParameterFormat, parameters: Param[]): string {
  const variables = [...new Set(variablesOfText(text))];
  checkCount(where, parameters.length, variables.length);
  const values = new Map<string, string>();
  parameters.forEach((parameter, i) => {
    const name = format === 'NAMED' ? parameter.get('parameter_name').value : String(i + 1);
    if (typeof name !== 'string') throw invalidParam(`Parameter name is missing or empty for ${where} parameter ${i}.`);
    values.set(name, textOf(where, parameter));
  });
  const absent = variables.find((variable) => !values.has(variable));
  if (absent !== undefined && format === 'NAMED') {
    throw new GraphError(132000, `${where}: parameter ${absent} is missing`);
  }
  return text.replaceAll(VARIABLE, (whole, variable: string) => values.get(variable) ?? whole);
}

/** The text of one parameter. @throws GraphError 131008, 132012 or 132018 */
function textOf(where: string, parameter: Param): string {
  const { value: type } = parameter.get('type');
  if (type === 'currency' || type === 'date_time') {
    const { value } = parameter.get(type).get('fallback_value');
    if (typeof value === 'string') return value;
    throw new GraphError(131008, `Parameter 'fallback_value' is mandatory for type '${type}'`);
  }
  if (type !== 'text') throw formatMismatch(where, 'TEXT', upper(parameter.get('type')));
  const text = parameter.get('text').value as string;
  if (text === '') throw new GraphError(131008, 'Parameter of type text is missing text value');
  if (/[\n\r\t]| {5,}/.test(text)) {
    throw new GraphError(132018, 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces');
  }
  return text;
}

function checkCount(where: string, given: number, expected: number): void {
  if (given === expected) return;
  throw new GraphError(
    132000,
    `${where}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  );
}

/** 132012: a parameter of another type than the template requires there. */
function formatMismatch(where: string, expected: string, received: string): GraphError {
  return new GraphError(
    132012,
    `${where}: Format mismatch, expected ${expected}, received ${received === '' ? 'UNKNOWN' : received}`,
  );
}

function upper(param: Param | undefined): string {
  return typeof param?.value === 'string' ? param.value.toUpperCase() : '';
}
