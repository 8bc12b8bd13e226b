import type { JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { PreviewButtonResponse, PreviewData } from '../dto/templates.response.js';
import type { ParameterFormat, TemplateForm, TemplateValues } from '../templates.types.js';
import {
  asText,
  bodyTextOf,
  buttonVariable,
  componentOf,
  endsInTime,
  fillIn,
  firstText,
  namesInOrder,
  ownArray,
  ownWord,
  partsOf,
  placeholdersIn,
  sentButtons,
  sentCards,
  type TemplatePart,
} from './components.js';
import { headerMediaOf, WITHOUT_PARAMETERS } from './send-parameters.js';

/** WhatsApp's English labels for buttons without one. */
const OWN_LABELS: Readonly<Record<string, string>> = { COPY_CODE: 'Copy code', ONE_TAP: 'Autofill' };

/**
 * The components that a message with these values would send, in the order of the variables. In a template for codes
 * the body's value also fills the button. Surplus values are kept: the check of the send reports them.
 */
export function componentsOf(template: TemplateForm, parameters: TemplateValues = {}): JsonObject[] {
  const [whole] = partsOf(template);
  const texts = { header: headerTextOf(whole.header), body: whole.bodyText };
  const file = headerMediaOf(template.components);
  const { body: [code] = [], buttons = template.category === 'AUTHENTICATION' && code !== undefined ? [code] : [] } =
    parameters;
  const inTexts = (['header', 'body'] as const).map((type) => {
    const names = namesInOrder(texts[type] ?? '', template.parameterFormat);
    const named = (text: string, index: number): JsonObject => {
      const name = template.parameterFormat === 'NAMED' ? names[index] : undefined;
      return { type: 'text', text, ...(name !== undefined && { parameter_name: name }) };
    };
    const fill = (text: string, index: number): JsonObject =>
      type === 'header' && file !== null ? { type: file, [file]: fileOf(text) } : named(text, index);
    return { type, parameters: (parameters[type] ?? []).map(fill) };
  });
  const places = whole.buttons.flatMap((button, index) => (buttonVariable(button) === null ? [] : [index]));
  const inButtons = buttons.map((text, nth) => {
    const index = places[nth] ?? whole.buttons.length + nth - places.length;
    const isCoupon = ownWord(whole.buttons[index], 'type') === 'COPY_CODE';
    return {
      type: 'button',
      sub_type: isCoupon ? 'copy_code' : 'url',
      index: String(index),
      parameters: [isCoupon ? { type: 'coupon_code', coupon_code: text } : { type: 'text', text }],
    };
  });
  return [...inTexts.filter(({ parameters: given }) => given.length > 0), ...inButtons];
}

function fileOf(text: string): JsonObject {
  return /^https:\/\//i.test(text) ? { link: text } : { id: text };
}

/**
 * The body as its reader sees it, for the journal; null where the template has no body text. Variables without a value
 * stay, and text beyond 16,384 characters is cut. Never throws, whatever was sent.
 */
export function renderBody(template: TemplateForm, sent: readonly unknown[]): string | null {
  const text = bodyTextOf(template);
  if (text === null) return null;
  // Runs for every message, so without `valuesIn`, which would parse the text again.
  const values = new Map<string, string>();
  for (const [index, parameter] of parametersIn(sent, 'BODY').entries()) {
    const value = parameterText(parameter);
    const name = template.parameterFormat === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    if (value !== null) values.set(name ?? String(index + 1), value);
  }
  return fillIn(text, (name) => values.get(name));
}

/**
 * Renders a template with the parameters of a message. A link without a value shows its example; a template for codes
 * shows the code everywhere. Never throws, whatever the components contain.
 */
export function previewTemplate(
  template: TemplateForm,
  sent: readonly unknown[],
): Omit<PreviewData, 'name' | 'language'> {
  const { parameterFormat, components } = template;
  const [whole, ...cards] = partsOf(template);
  const { header, buttons } = whole;
  const format = ownWord(header, 'format');
  const isOfCodes = template.category === 'AUTHENTICATION';
  // In a template for codes the body's value also fills the button.
  const code = isOfCodes ? parameterText(parametersIn(sent, 'body')[0]) : null;
  const filled = fill(isOfCodes ? { ...whole, buttons: [] } : whole, parameterFormat, sent);
  const given = sentCards(sent);
  const missingInCards = cards.flatMap(
    (card) => fill(card, parameterFormat, given.find(([index]) => index === card.card)?.[1] ?? []).missing,
  );
  // A file or a location fills a header that is not text.
  const takesWords = format === 'TEXT' || header === undefined || filled.header.texts > 0;
  const offer = componentOf(components, 'LIMITED_TIME_OFFER');
  const isEndMissing = endsInTime(offer) && parametersIn(sent, 'limited_time_offer').length === 0;
  return {
    header: header === undefined ? null : { format, text: filled.header.text },
    body: filled.body.text,
    footer: footerTextOf(componentOf(components, 'FOOTER')),
    buttons: buttons.map((button, index) => renderButton(button, code ?? buttonValue(sent, index), isOfCodes)),
    missing: [
      ...filled.missing,
      ...(isEndMissing ? ['limited_time_offer.{{expiration_time_ms}}'] : []),
      ...missingInCards,
    ],
    unused: [...(takesWords ? filled.header.unused : []), ...filled.body.unused, ...unusedButtons(buttons, sent)],
  };
}

function headerTextOf(header: unknown): string | null {
  return ownWord(header, 'format') === 'TEXT' ? ownText(header, 'text') : null;
}

function parametersIn(sent: readonly unknown[], part: string): readonly unknown[] {
  return ownArray(componentOf(sent, part.toUpperCase()), 'parameters');
}

/** A text filled with a send's values. */
interface FilledText {
  text: string | null;
  /** Variables without a value: `body.{{day}}`. */
  missing: string[];
  /** Values without a variable: `body[2]`, or `body.{{day}}` with named variables. */
  unused: string[];
  /** How many values are text rather than a file. */
  texts: number;
}

/** The text of one parameter; null where it has none. Money and times contain a fallback text. */
function parameterText(parameter: unknown): string | null {
  const type = ownText(parameter, 'type')?.toLowerCase();
  if (type === 'currency' || type === 'date_time') return ownText(own(parameter, type), 'fallback_value');
  return asText(own(parameter, 'text'));
}

function fillText(
  sent: readonly unknown[],
  part: 'header' | 'body',
  text: string | null,
  format: ParameterFormat,
): FilledText {
  const names = namesInOrder(text ?? '', format);
  const values = new Map<string, string>();
  const unused: string[] = [];
  let texts = 0;
  for (const [index, parameter] of parametersIn(sent, part).entries()) {
    const value = parameterText(parameter);
    if (value !== null) texts++;
    const given = format === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    const name = given ?? (format === 'NAMED' ? undefined : names[index]);
    if (name === undefined || !names.includes(name))
      unused.push(given === null ? `${part}[${index}]` : `${part}.{{${given}}}`);
    else if (value !== null) values.set(name, value);
  }
  const missing = names.filter((name) => !values.has(name)).map((name) => `${part}.{{${name}}}`);
  return { text: text === null ? null : fillIn(text, (name) => values.get(name)), missing, unused, texts };
}

/** The filled texts of the template itself or of one card, with missing and surplus values. */
function fill(
  { card, header: given, bodyText, buttons }: TemplatePart,
  format: ParameterFormat,
  sent: readonly unknown[],
) {
  const header = fillText(sent, 'header', headerTextOf(given), format);
  const body = fillText(sent, 'body', bodyText, format);
  const inButtons = buttons.flatMap((button, index) => {
    const variable = buttonValue(sent, index) === null ? buttonVariable(button) : null;
    return variable === null ? [] : [`buttons[${index}].{{${variable.name}}}`];
  });
  const at = card === undefined ? '' : `cards[${card}].`;
  const missing = [...header.missing, ...body.missing, ...inButtons].map((place) => at + place);
  return { header, body, missing };
}

/** The value for the button at this index, from 0. */
function buttonValue(sent: readonly unknown[], place: number): string | null {
  const [parameter] = sentButtons(sent).find(({ index }) => index === place)?.parameters ?? [];
  return asText(own(parameter, 'coupon_code')) ?? parameterText(parameter);
}

/** Values for missing buttons, or for buttons without a variable. */
function unusedButtons(buttons: readonly unknown[], sent: readonly unknown[]): string[] {
  const unused = sentButtons(sent).filter(({ index, parameters }) => {
    const button = buttons[index];
    const isFixed = WITHOUT_PARAMETERS.has(ownWord(button, 'type')) && buttonVariable(button) === null;
    return parameters.length > 0 && (button === undefined || isFixed);
  });
  return unused.map(({ index }) => `buttons[${index}]`);
}

/** The footer of a template for codes says how long a code is valid. */
function footerTextOf(footer: unknown): string | null {
  const text = ownText(footer, 'text');
  const minutes = own(footer, 'code_expiration_minutes');
  return text ?? (typeof minutes === 'number' ? `This code expires in ${minutes} minutes.` : null);
}

function renderButton(button: unknown, value: string | null, isOfCodes: boolean): PreviewButtonResponse {
  const type = ownWord(button, 'type');
  const kind = type === 'OTP' ? ownWord(button, 'otp_type') : type;
  const rendered: PreviewButtonResponse = { type, text: ownText(button, 'text') ?? OWN_LABELS[kind] ?? '' };
  const url = ownText(button, 'url');
  if (url !== null) {
    const isFilledLink = value !== null && placeholdersIn(url).length > 0;
    rendered.url = isFilledLink ? fillIn(url, () => value) : urlWithExample(url, button);
    if (isFilledLink && isOfCodes) rendered.code = value;
  }
  const phoneNumber = ownText(button, 'phone_number');
  if (phoneNumber !== null) rendered.phone_number = phoneNumber;
  if (type === 'OTP' && value !== null) rendered.code = value;
  const coupon = type === 'COPY_CODE' ? (value ?? firstText(own(button, 'example'))) : null;
  if (coupon !== null) rendered.code = coupon;
  return rendered;
}

/** An example is either the whole address or only the variable's part. */
function urlWithExample(url: string, button: unknown): string {
  const example = firstText(own(button, 'example'));
  const [variable] = placeholdersIn(url);
  if (example === null || variable === undefined) return url;
  const fixed = url.slice(0, variable.start);
  if (fixed !== '' && example.startsWith(fixed)) return example;
  return /^https?:\/\//i.test(example) && fixed !== '' ? example : fillIn(url, () => example);
}
