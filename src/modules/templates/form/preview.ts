import type { ParameterFormat, TemplateForm, TemplateVariable } from '../templates.types.js';
import { bodyTextOf, footerTextOf } from './authentication-text.js';
import { componentOf, firstText, own, ownArray, ownText, ownWord } from './json-reading.js';
import { fillIn, placeholdersIn, variableNamesIn } from './template-text.js';
import { namesInOrder, variablesOf } from './variables.js';

export interface PreviewButton {
  /** In capitals. */
  type: string;
  /** The label. */
  text: string;
  url?: string;
  phone_number?: string;
  /** What the button copies. */
  code?: string;
}

/** A template as its reader sees it. */
export interface Preview {
  header: { format: string; text: string | null } | null;
  body: string | null;
  footer: string | null;
  buttons: PreviewButton[];
  /**
   * Variables that no parameter fills, like `body.{{2}}`; their places stay in the texts. A preview takes no values for
   * buttons, cards and offers, so theirs are always here, like `buttons[0].{{1}}`.
   */
  missing: string[];
  /** Parameters that no variable takes, by their place from 0, like `body[2]`. */
  unused: string[];
}

/** `{{1}}` takes the first value, `{{2}}` the second; named variables take theirs in order of appearance. */
export interface PreviewParameters {
  readonly header?: readonly string[];
  readonly body?: readonly string[];
}

/** Labels that WhatsApp gives to buttons without one, in English. */
const OWN_LABELS: Readonly<Record<string, string>> = { COPY_CODE: 'Copy code', ONE_TAP: 'Autofill' };

/**
 * Renders a template with these parameters. Links show the example of their variable, since a preview has no values
 * for buttons; a template for codes shows the code wherever it stands. Never throws, whatever the components hold.
 */
export function previewTemplate(template: TemplateForm, parameters: PreviewParameters): Preview {
  const missing: string[] = [];
  const unused: string[] = [];
  const render = (text: string | null, part: 'header' | 'body'): string | null => {
    const filled = renderText(text ?? '', part, template.parameterFormat, parameters[part] ?? [], missing, unused);
    return text === null ? null : filled;
  };
  const header = componentOf(template.components, 'HEADER');
  const format = ownWord(header, 'format');
  const headerText = render(format === 'TEXT' ? ownText(header, 'text') : null, 'header');
  const body = render(bodyTextOf(template), 'body');
  const code = template.category === 'AUTHENTICATION' ? parameters.body?.[0] : undefined;
  const buttons = ownArray(componentOf(template.components, 'BUTTONS'), 'buttons');
  missing.push(...missingElsewhere(template));
  return {
    header: header === undefined ? null : { format, text: headerText },
    body,
    footer: footerTextOf(componentOf(template.components, 'FOOTER')),
    buttons: buttons.map((button) => renderButton(button, code)),
    missing,
    unused,
  };
}

/** What a send must fill outside of header and body. In a template for codes the body's value fills the button too. */
function missingElsewhere({ category, components, parameterFormat }: TemplateForm): string[] {
  if (category === 'AUTHENTICATION') return [];
  return variablesOf(components, parameterFormat)
    .filter(({ component }) => component !== 'header' && component !== 'body')
    .map((variable) => `${placeOf(variable)}.{{${variable.name}}}`);
}

function placeOf({ component, cardIndex, buttonIndex }: TemplateVariable): string {
  const button = buttonIndex === undefined ? null : `buttons[${buttonIndex}]`;
  return cardIndex === undefined ? (button ?? component) : `cards[${cardIndex}].${button ?? 'body'}`;
}

function renderText(
  text: string,
  part: 'header' | 'body',
  format: ParameterFormat,
  values: readonly string[],
  missing: string[],
  unused: string[],
): string {
  const names = namesInOrder(text, format);
  const byName = new Map(names.map((name, index) => [name, values[index]]));
  for (const name of names) {
    if (byName.get(name) === undefined) missing.push(`${part}.{{${name}}}`);
  }
  for (let index = names.length; index < values.length; index++) unused.push(`${part}[${index}]`);
  return fillIn(text, (name) => byName.get(name));
}

function renderButton(button: unknown, code: string | undefined): PreviewButton {
  const type = ownWord(button, 'type');
  const kind = type === 'OTP' ? ownWord(button, 'otp_type') : type;
  const rendered: PreviewButton = { type, text: ownText(button, 'text') ?? OWN_LABELS[kind] ?? '' };
  const url = ownText(button, 'url');
  if (url !== null) {
    const isLinkWithCode = code !== undefined && variableNamesIn(url).length > 0;
    rendered.url = isLinkWithCode ? fillIn(url, () => code) : urlWithExample(url, button);
    if (isLinkWithCode) rendered.code = code;
  }
  const phoneNumber = ownText(button, 'phone_number');
  if (phoneNumber !== null) rendered.phone_number = phoneNumber;
  if (type === 'OTP' && code !== undefined) rendered.code = code;
  const coupon = type === 'COPY_CODE' ? firstText(own(button, 'example')) : null;
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
