import type { JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { PreviewButtonResponse, PreviewData, TemplateVariableResponse } from '../dto/templates.response.js';
import type { ParameterFormat, TemplateForm } from '../templates.types.js';
import {
  asText,
  buttonVariable,
  componentOf,
  firstText,
  namesInOrder,
  ownArray,
  ownWord,
  partsOf,
  variablesOf,
} from './components.js';
import { parameterText, placeIn } from './send-parameters.js';
import { fillIn, placeholdersIn } from './template-text.js';

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
 * Renders a template with what a message would send. A link whose variable has no value shows its example; a template
 * for codes shows the code wherever it stands. Never throws, whatever the components hold.
 */
export function previewTemplate(
  template: TemplateForm,
  sent: readonly unknown[],
): Omit<PreviewData, 'name' | 'language'> {
  const [{ header, bodyText, buttons }] = partsOf(template);
  const format = ownWord(header, 'format');
  const texts = { header: headerTextOf(header), body: bodyText };
  const [missing, unused]: [string[], string[]] = [[], []];
  const render = (part: 'header' | 'body'): string | null => {
    const names = namesInOrder(texts[part] ?? '', template.parameterFormat);
    const values = valuesIn(componentOf(sent, part.toUpperCase()), names, template.parameterFormat);
    missing.push(...names.filter((name) => !values.byName.has(name)).map((name) => `${part}.{{${name}}}`));
    // A file or a place fills a header that is no text.
    if (part === 'body' || format === 'TEXT' || header === undefined || values.texts > 0)
      unused.push(...values.unused.map((place) => part + place));
    return texts[part] === null ? null : fillIn(texts[part], (name) => values.byName.get(name));
  };
  const [headerText, body] = [render('header'), render('body')];
  const isOfCodes = template.category === 'AUTHENTICATION';
  // In a template for codes the body's value fills the button too.
  const code = isOfCodes ? valuesIn(componentOf(sent, 'BODY'), ['1'], 'POSITIONAL').byName.get('1') : undefined;
  if (!isOfCodes) missing.push(...missingElsewhere(template, sent));
  unused.push(...unusedButtons(buttons, sent));
  return {
    header: header === undefined ? null : { format, text: headerText },
    body,
    footer: footerTextOf(componentOf(template.components, 'FOOTER')),
    buttons: buttons.map((button, index) => renderButton(button, code ?? buttonValue(sent, index), isOfCodes)),
    missing,
    unused,
  };
}

function headerTextOf(header: unknown): string | null {
  return ownWord(header, 'format') === 'TEXT' ? ownText(header, 'text') : null;
}

interface Values {
  byName: Map<string, string>;
  /** Places of those that no variable takes: `[2]`, or `.{{day}}` where they have names. */
  unused: string[];
  /** How many are words, and no file. */
  texts: number;
}

/** The values of one component, by the names of the variables that they fill. */
function valuesIn(component: unknown, names: readonly string[], format: ParameterFormat): Values {
  const byName = new Map<string, string>();
  const unused: string[] = [];
  let texts = 0;
  for (const [index, parameter] of ownArray(component, 'parameters').entries()) {
    const value = parameterText(parameter);
    if (value !== null) texts++;
    const given = format === 'NAMED' ? ownText(parameter, 'parameter_name') : null;
    const name = given ?? (format === 'NAMED' ? undefined : names[index]);
    if (name === undefined || !names.includes(name)) unused.push(given === null ? `[${index}]` : `.{{${given}}}`);
    else if (value !== null) byName.set(name, value);
  }
  return { byName, unused, texts };
}

/** What a send must fill outside of header and body, and does not. */
function missingElsewhere({ components, parameterFormat }: TemplateForm, sent: readonly unknown[]): string[] {
  return variablesOf(components, parameterFormat)
    .filter(({ component }) => component !== 'header' && component !== 'body')
    .filter((variable) => !isFilled(variable, sent, parameterFormat))
    .map((variable) => `${placeOf(variable)}.{{${variable.name}}}`);
}

function isFilled(variable: TemplateVariableResponse, sent: readonly unknown[], format: ParameterFormat): boolean {
  const { component, card_index: card, button_index: button, name } = variable;
  if (component === 'limited_time_offer')
    return ownArray(componentOf(sent, 'LIMITED_TIME_OFFER'), 'parameters').length > 0;
  const within = card === null ? sent : cardIn(sent, card);
  if (button !== null) return buttonValue(within, button) !== undefined;
  return valuesIn(componentOf(within, 'BODY'), [name], format === 'NAMED' ? format : 'POSITIONAL').byName.has(name);
}

/** What is sent for a card: found by `card_index`, or by its place where it has none. */
function cardIn(sent: readonly unknown[], card: number): readonly unknown[] {
  const cards = ownArray(componentOf(sent, 'CAROUSEL'), 'cards');
  return ownArray(
    cards.find((one, place) => (placeIn(one, 'card_index') ?? place) === card),
    'components',
  );
}

/** What fills the button at this place, from 0. */
function buttonValue(sent: readonly unknown[], index: number): string | undefined {
  const component = sent.find((one) => ownWord(one, 'type') === 'BUTTON' && (placeIn(one, 'index') ?? 0) === index);
  const [parameter] = ownArray(component, 'parameters');
  return asText(own(parameter, 'coupon_code')) ?? parameterText(parameter) ?? undefined;
}

/** Values for buttons that are not there, or that have no variable. */
function unusedButtons(buttons: readonly unknown[], sent: readonly unknown[]): string[] {
  return sent.flatMap((component) => {
    if (ownWord(component, 'type') !== 'BUTTON' || ownArray(component, 'parameters').length === 0) return [];
    const index = placeIn(component, 'index') ?? 0;
    const button = buttons[index];
    const isFixed = ['URL', 'PHONE_NUMBER'].includes(ownWord(button, 'type')) && buttonVariable(button) === null;
    return button === undefined || isFixed ? [`buttons[${index}]`] : [];
  });
}

function placeOf({ component, card_index: card, button_index: index }: TemplateVariableResponse): string {
  const button = index === null ? null : `buttons[${index}]`;
  return card === null ? (button ?? component) : `cards[${card}].${button ?? 'body'}`;
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
