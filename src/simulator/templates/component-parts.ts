import { invalidParam, isObject, type JsonObject, longerThan, requireOneOf } from '../messages/checks.js';
import { missingField, tooLong, wrongFormat } from './template-error.js';
import { checkTextVariables, variablesOfText } from './template-text.js';
import type { ParameterFormat, TemplateCategory, TemplateComponent } from './template.types.js';

const HEADER_FORMATS = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'GIF', 'LOCATION', 'PRODUCT'];
const SHORT_LIMIT = 60;

/** What the checks need to know of the template that the components are for. */
export interface ComponentFrame {
  category: TemplateCategory;
  format: ParameterFormat;
}

export function checkHeader(header: TemplateComponent, frame: ComponentFrame): void {
  const format = requireOneOf(header.format, HEADER_FORMATS, "components['HEADER']['format']");
  if (format === 'TEXT') checkTextHeader(header, frame);
  else if (format === 'LOCATION' || format === 'PRODUCT') return;
  else checkHandle(header);
}

function checkTextHeader(header: TemplateComponent, { format }: ComponentFrame): void {
  const text = textOf(header, SHORT_LIMIT);
  if (/[\r\n*_~`\p{Extended_Pictographic}]/u.test(text.replaceAll(/\{\{[^{}]*\}\}/g, ''))) {
    const rule = "The message header can't have any new lines, formatting characters, emojis or asterisks.";
    throw wrongFormat('header', rule);
  }
  if (variablesOfText(text).length > 1) throw wrongFormat('header', 'The message header can have one variable only.');
  const example = exampleOf(header);
  checkTextVariables('header', text, format, {
    positional: example.header_text,
    named: example.header_text_named_params,
  });
}

/** The example of a media header is a handle that a resumable upload gave. */
function checkHandle(header: TemplateComponent): void {
  const handles = exampleOf(header).header_handle;
  const handle: unknown = Array.isArray(handles) ? handles[0] : undefined;
  if (typeof handle !== 'string' || handle === '') throw missingField('HEADER', 'example');
  if (!/^\d+:/.test(handle)) {
    throw invalidParam("Param components['HEADER']['example']['header_handle'] is not a handle of a resumable upload.");
  }
}

export function checkBody(body: TemplateComponent, { format }: ComponentFrame, limit: number): void {
  const text = textOf(body, limit);
  const example = exampleOf(body);
  checkTextVariables('body', text, format, { positional: example.body_text, named: example.body_text_named_params });
}

export function checkFooter(footer: TemplateComponent): void {
  const text = textOf(footer, SHORT_LIMIT);
  if (variablesOfText(text).length > 0) throw wrongFormat('footer', "The message footer can't have variables.");
  if (/[\r\n]/.test(text)) throw wrongFormat('footer', "The message footer can't have any new lines.");
}

function textOf(component: TemplateComponent, max: number): string {
  const text: unknown = component.text;
  if (text === undefined || text === null || text === '') throw missingField(component.type, 'text');
  if (typeof text !== 'string') throw invalidParam(`Param components['${component.type}']['text'] must be a string.`);
  if (longerThan(text, max)) throw tooLong(component.type, max);
  return text;
}

function exampleOf(component: TemplateComponent): JsonObject {
  return isObject(component.example) ? component.example : {};
}
