import type { JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { PreviewButtonResponse, PreviewData } from '../dto/templates.response.js';
import type { ParameterFormat, TemplateForm } from '../templates.types.js';
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
import { WITHOUT_PARAMETERS } from './send-parameters.js';

/** Labels that WhatsApp gives to buttons without one, in English. */
const OWN_LABELS: Readonly<Record<string, string>> = { COPY_CODE: 'Copy code', ONE_TAP: 'Autofill' };

/** The components that a message would send with these values of header and body, in the order of their names. */
export function componentsOf(
  template: TemplateForm,
  parameters: { header?: readonly string[]; body?: readonly string[] } = {},
): JsonObject[] {
  const [whole] = partsOf(template);
  const texts = { header: headerTextOf(whole.header), body: whole.bodyText };
  return (['header', 'body'] as const).map((type) => {
    const names = namesInOrder(texts[type] ?? '', template.parameterFormat);
    const named = (text: string, index: number): JsonObject => {
      const name = template.parameterFormat === 'NAMED' ? names[index] : undefined;
      return { type: 'text', text, ...(name !== undefined && { parameter_name: name }) };
    };
    return { type, parameters: (parameters[type] ?? []).map(named) };
  });
}

/**
 * The body as its reader sees it, for the journal; null where the template has no body text. Variables without a value
 * stay, and what is longer than 16,384 characters is cut. Never throws, whatever was sent.
 */
export function renderBody(template: TemplateForm, sent: readonly unknown[]): string | null {
  const text = bodyTextOf(template);
  if (text === null) return null;
  // Each message comes through here: without `valuesIn`, which reads the text once more.
  const values = new Map<string, string>();
  for (const [index, parameter] of parametersIn(sent, 'BODY').entries()) {
    const value = parameterText(parameter);
    const name = template.parameterFormat === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    if (value !== null) values.set(name ?? String(index + 1), value);
  }
  return fillIn(text, (name) => values.get(name));
}

/**
 * Renders a template with what a message would send. A link whose variable has no value shows its example; a template
 * for codes shows the code wherever it stands. Never throws, whatever the components hold.
 */
export function previewTemplate(
  template: TemplateForm,
  sent: readonly unknown[],
): Omit<PreviewData, 'name' | 'language'> {
  const { parameterFormat, components } = template;
  const [whole, ...cards] = partsOf(template);
  const { header, bodyText, buttons } = whole;
  const format = ownWord(header, 'format');
  const headerText = headerTextOf(header);
  const inHeader = valuesIn(sent, 'header', headerText, parameterFormat);
  const inBody = valuesIn(sent, 'body', bodyText, parameterFormat);
  // A file or a place fills a header that is no text.
  const takesWords = format === 'TEXT' || header === undefined || inHeader.texts > 0;
  const isOfCodes = template.category === 'AUTHENTICATION';
  // In a template for codes the body's value fills the button too.
  const code = isOfCodes ? valuesIn(sent, 'body', '{{1}}', 'POSITIONAL').byName.get('1') : undefined;
  const offer = componentOf(components, 'LIMITED_TIME_OFFER');
  const isEndMissing = endsInTime(offer) && parametersIn(sent, 'limited_time_offer').length === 0;
  return {
    header: header === undefined ? null : { format, text: render(headerText, inHeader) },
    body: render(bodyText, inBody),
    footer: footerTextOf(componentOf(components, 'FOOTER')),
    buttons: buttons.map((button, index) => renderButton(button, code ?? buttonValue(sent, index), isOfCodes)),
    missing: [
      ...missingIn(isOfCodes ? { ...whole, buttons: [] } : whole, parameterFormat, sent),
      ...(isEndMissing ? ['limited_time_offer.{{expiration_time_ms}}'] : []),
      ...cards.flatMap((card) => missingIn(card, parameterFormat, sent)),
    ],
    unused: [...(takesWords ? inHeader.unused : []), ...inBody.unused, ...unusedButtons(buttons, sent)],
  };
}

function render(text: string | null, { byName }: Values): string | null {
  return text === null ? null : fillIn(text, (name) => byName.get(name));
}

function headerTextOf(header: unknown): string | null {
  return ownWord(header, 'format') === 'TEXT' ? ownText(header, 'text') : null;
}

function parametersIn(sent: readonly unknown[], part: string): readonly unknown[] {
  return ownArray(componentOf(sent, part.toUpperCase()), 'parameters');
}

interface Values {
  byName: Map<string, string>;
  /** Those that no variable takes: `body[2]`, or `body.{{day}}` where they have names. */
  unused: string[];
  /** How many are words, and no file. */
  texts: number;
}

/** The words of one parameter; null where it holds none. Money and times bring their own text for every language. */
function parameterText(parameter: unknown): string | null {
  const type = ownText(parameter, 'type')?.toLowerCase();
  if (type === 'currency' || type === 'date_time') return ownText(own(parameter, type), 'fallback_value');
  return asText(own(parameter, 'text'));
}

/** The values that a send has for a text, by the names of the variables that they fill. */
function valuesIn(
  sent: readonly unknown[],
  part: 'header' | 'body',
  text: string | null,
  format: ParameterFormat,
): Values {
  const names = namesInOrder(text ?? '', format);
  const values: Values = { byName: new Map(), unused: [], texts: 0 };
  for (const [index, parameter] of parametersIn(sent, part).entries()) {
    const value = parameterText(parameter);
    if (value !== null) values.texts++;
    const given = format === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    const name = given ?? (format === 'NAMED' ? undefined : names[index]);
    if (name === undefined || !names.includes(name))
      values.unused.push(given === null ? `${part}[${index}]` : `${part}.{{${given}}}`);
    else if (value !== null) values.byName.set(name, value);
  }
  return values;
}

/** What a send must fill in the template itself or in one card, and does not. */
function missingIn(
  { card, header, bodyText, buttons }: TemplatePart,
  format: ParameterFormat,
  allSent: readonly unknown[],
): string[] {
  const at = card === undefined ? '' : `cards[${card}].`;
  const sent = card === undefined ? allSent : (sentCards(allSent).find(([index]) => index === card)?.[1] ?? []);
  const inText = (part: 'header' | 'body', text: string | null): string[] => {
    const { byName } = valuesIn(sent, part, text, format);
    const names = namesInOrder(text ?? '', format).filter((name) => !byName.has(name));
    return names.map((name) => `${at}${part}.{{${name}}}`);
  };
  const inButtons = buttons.flatMap((button, index) => {
    const variable = buttonValue(sent, index) === undefined ? buttonVariable(button) : null;
    return variable === null ? [] : [`${at}buttons[${index}].{{${variable.name}}}`];
  });
  return [...inText('header', headerTextOf(header)), ...inText('body', bodyText), ...inButtons];
}

/** What fills the button at this place, from 0. */
function buttonValue(sent: readonly unknown[], place: number): string | undefined {
  const [parameter] = sentButtons(sent).find(({ index }) => index === place)?.parameters ?? [];
  return asText(own(parameter, 'coupon_code')) ?? parameterText(parameter) ?? undefined;
}

/** Values for buttons that are not there, or that have no variable. */
function unusedButtons(buttons: readonly unknown[], sent: readonly unknown[]): string[] {
  const unused = sentButtons(sent).filter(({ index, parameters }) => {
    const button = buttons[index];
    const isFixed = WITHOUT_PARAMETERS.has(ownWord(button, 'type')) && buttonVariable(button) === null;
    return parameters.length > 0 && (button === undefined || isFixed);
  });
  return unused.map(({ index }) => `buttons[${index}]`);
}

/** The footer of a template for codes says how long a code lives. */
function footerTextOf(footer: unknown): string | null {
  const text = ownText(footer, 'text');
  const minutes = own(footer, 'code_expiration_minutes');
  return text ?? (typeof minutes === 'number' ? `This code expires in ${minutes} minutes.` : null);
}

function renderButton(button: unknown, value: string | undefined, isOfCodes: boolean): PreviewButtonResponse {
  const type = ownWord(button, 'type');
  const kind = type === 'OTP' ? ownWord(button, 'otp_type') : type;
  const rendered: PreviewButtonResponse = { type, text: ownText(button, 'text') ?? OWN_LABELS[kind] ?? '' };
  const url = ownText(button, 'url');
  if (url !== null) {
    const isFilledLink = value !== undefined && placeholdersIn(url).length > 0;
    rendered.url = isFilledLink ? fillIn(url, () => value) : urlWithExample(url, button);
    if (isFilledLink && isOfCodes) rendered.code = value;
  }
  const phoneNumber = ownText(button, 'phone_number');
  if (phoneNumber !== null) rendered.phone_number = phoneNumber;
  if (type === 'OTP' && value !== undefined) rendered.code = value;
  const coupon = type === 'COPY_CODE' ? (value ?? firstText(own(button, 'example'))) : null;
  if (coupon !== null) rendered.code = coupon;
  return rendered;
}

/** Examples come as the whole address or as the part that the variable stands for. */
function urlWithExample(url: string, button: unknown): string {
  const example = firstText(own(button, 'example'));
  const [variable] = placeholdersIn(url);
  if (example === null || variable === undefined) return url;
  const fixed = url.slice(0, variable.start);
  if (fixed !== '' && example.startsWith(fixed)) return example;
  return /^https?:\/\//i.test(example) && fixed !== '' ? example : fillIn(url, () => example);
}
