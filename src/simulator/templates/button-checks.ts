import { invalidParam } from '../graph-error.js';
import { isUrl, longerThan, requireOneOf } from '../http/param.js';
import type { TemplateButton, TemplateComponent } from './template-store.js';
import { missingField, objectList, templateError, tooLong, variablesOfText } from './template-text.js';

/** How many of each type one template may have. */
const MOST: Readonly<Record<string, number>> = {
  QUICK_REPLY: 10,
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  VOICE_CALL: 1,
  FLOW: 1,
  CATALOG: 1,
  MPM: 1,
  SPM: 1,
  REQUEST_CONTACT_INFO: 1,
};
const MOST_TOGETHER = 10;
const LABEL_LIMIT = 25;
const URL_LIMIT = 2000;
const PHONE_LIMIT = 20;
const CODE_LIMIT = 20;

export const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u;
/** Hosts of links that lead back into WhatsApp. */
const WHATSAPP_LINK = /^https?:\/\/(?:[^/?#]*\.)?(?:wa\.me|whatsapp\.com)(?:[:/?#]|$)/i;

/** Line breaks, emoji, and pairs of the characters that make words bold, italic, struck through or monospaced. */
const DRESSED = [/[\n\r]/, EMOJI, /(?<![\p{L}\p{N}])([*_~`])(?! )[^]*[^ ]\1(?![\p{L}\p{N}])/u];

/** Types whose label the platform writes itself. */
const WITHOUT_LABEL = ['COPY_CODE', 'REQUEST_CONTACT_INFO'];

/** Checks a BUTTONS component. @throws GraphError 100, with 2388040 or 2388043 for lengths and missing fields */
export function checkButtons(component: TemplateComponent, most = MOST_TOGETHER): void {
  const path = "components['BUTTONS']['buttons']";
  const buttons = objectList(component.buttons, path, 1, most) as TemplateButton[];
  const types = buttons.map(({ type }, i) => requireOneOf(type, Object.keys(MOST), `${path}[${i}]['type']`));
  for (const [type, limit] of Object.entries(MOST)) {
    const count = types.filter((other) => other === type).length;
    if (count > limit) throw invalidParam(`Param ${path} has ${count} buttons of type ${type}; there can be ${limit}.`);
  }
  const first = types.indexOf('QUICK_REPLY');
  const last = types.lastIndexOf('QUICK_REPLY');
  if (types.slice(Math.max(first, 0), last + 1).some((type) => type !== 'QUICK_REPLY')) {
    throw invalidParam(`Param ${path}: buttons of type QUICK_REPLY must stand together.`);
  }
  for (const button of buttons) checkButton(button);
  const labels = buttons.flatMap(({ text }) => (text === undefined ? [] : [text.trim().toLowerCase()]));
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
export function checkLabel(given: unknown): void {
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
  if (value === undefined || value === null || value === '') throw missingField('BUTTONS', field);
  if (typeof value !== 'string') throw invalidParam(`Param ${field} must be a string.`);
  if (longerThan(value, max)) throw tooLong(`button ${field}`, max);
  return value;
}

function firstOf(example: unknown): unknown {
  return Array.isArray(example) ? (example[0] as unknown) : example;
}
