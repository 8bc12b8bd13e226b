import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import type { PreviewParametersRequest } from '../dto/templates.request.js';
import type { PreviewButtonResponse, PreviewData, TemplateVariableResponse } from '../dto/templates.response.js';
import type { TemplateForm } from '../templates.types.js';
import { componentOf, firstText, namesInOrder, ownWord, partsOf, variablesOf } from './components.js';
import { fillIn, placeholdersIn } from './template-text.js';

/** Labels that WhatsApp gives to buttons without one, in English. */
const OWN_LABELS: Readonly<Record<string, string>> = { COPY_CODE: 'Copy code', ONE_TAP: 'Autofill' };

/**
 * Renders a template with these parameters: `{{1}}` takes the first value, `{{2}}` the second; named variables take theirs
 * in order of appearance. Links show the example of their variable, since a preview has no values
 * for buttons; a template for codes shows the code wherever it stands. Never throws, whatever the components hold.
 */
export function previewTemplate(
  template: TemplateForm,
  parameters: PreviewParametersRequest,
): Omit<PreviewData, 'name' | 'language'> {
  const [{ header, bodyText, buttons }] = partsOf(template);
  const format = ownWord(header, 'format');
  const texts = { header: format === 'TEXT' ? ownText(header, 'text') : null, body: bodyText };
  const [missing, unused]: [string[], string[]] = [[], []];
  const render = (part: 'header' | 'body'): string | null => {
    const values = parameters[part] ?? [];
    const names = namesInOrder(texts[part] ?? '', template.parameterFormat);
    const byName = new Map(names.map((name, index) => [name, values[index]]));
    missing.push(...names.filter((name) => byName.get(name) === undefined).map((name) => `${part}.{{${name}}}`));
    for (let index = names.length; index < values.length; index++) unused.push(`${part}[${index}]`);
    return texts[part] === null ? null : fillIn(texts[part], (name) => byName.get(name));
  };
  const [headerText, body] = [render('header'), render('body')];
  const isOfCodes = template.category === 'AUTHENTICATION';
  // In a template for codes the body's value fills the button too.
  if (!isOfCodes) missing.push(...missingElsewhere(template));
  return {
    header: header === undefined ? null : { format, text: headerText },
    body,
    footer: footerTextOf(componentOf(template.components, 'FOOTER')),
    buttons: buttons.map((button) => renderButton(button, isOfCodes ? parameters.body?.[0] : undefined)),
    missing,
    unused,
  };
}

/** What a send must fill outside of header and body. */
function missingElsewhere({ components, parameterFormat }: TemplateForm): string[] {
  return variablesOf(components, parameterFormat)
    .filter(({ component }) => component !== 'header' && component !== 'body')
    .map((variable) => `${placeOf(variable)}.{{${variable.name}}}`);
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

function renderButton(button: unknown, code: string | undefined): PreviewButtonResponse {
  const type = ownWord(button, 'type');
  const kind = type === 'OTP' ? ownWord(button, 'otp_type') : type;
  const rendered: PreviewButtonResponse = { type, text: ownText(button, 'text') ?? OWN_LABELS[kind] ?? '' };
  const url = ownText(button, 'url');
  if (url !== null) {
    const isLinkWithCode = code !== undefined && placeholdersIn(url).length > 0;
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
