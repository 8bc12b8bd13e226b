import type { TemplateCategory, ParameterFormat } from '../templates.types.js';
import { checkText, MARKDOWN } from './check-text.js';
import type { FaultList } from './fault-list.js';
import { asText, own, ownArray, ownText, ownWord, type JsonObject } from './json-reading.js';

const HEADER_MAX = 60;
const MEDIA_FORMATS = ['IMAGE', 'VIDEO', 'DOCUMENT', 'GIF'];
const FORMATS = ['TEXT', ...MEDIA_FORMATS, 'LOCATION', 'PRODUCT'];

export function checkHeader(
  header: JsonObject,
  field: string,
  category: TemplateCategory,
  format: ParameterFormat,
  faults: FaultList,
): void {
  const kind = knownFormat(header, field, FORMATS, faults);
  if (kind === 'TEXT') {
    checkText(header, field, format, { part: 'header', max: HEADER_MAX, maxVariables: 1 }, faults);
    checkMarkdown(header, field, faults);
  } else if (kind === 'LOCATION' && category === 'AUTHENTICATION') {
    faults.add(`${field}.format`, 'one_of', `${field}.format LOCATION is for UTILITY and MARKETING templates only.`);
  } else {
    checkHandle(header, kind, field, faults);
  }
}

/** The header of a carousel's card: media or a product. */
export function checkCardHeader(header: JsonObject, field: string, faults: FaultList): void {
  const kind = knownFormat(header, field, [...MEDIA_FORMATS, 'PRODUCT'], faults);
  checkHandle(header, kind, field, faults);
}

function knownFormat(header: JsonObject, field: string, formats: readonly string[], faults: FaultList): string | null {
  const at = `${field}.format`;
  const word = ownWord(header, 'format');
  if (formats.includes(word)) return word;
  const rule = own(header, 'format') === undefined ? 'required' : 'one_of';
  faults.add(at, rule, `${at} must be ${formats.join(', ')}.`);
  return null;
}

function checkHandle(header: JsonObject, kind: string | null, field: string, faults: FaultList): void {
  if (kind === null || !MEDIA_FORMATS.includes(kind)) return;
  const example = own(header, 'example');
  const handles = ownArray(example, 'header_handle');
  const handle = asText(handles[0]) ?? ownText(example, 'header_handle');
  if (handle !== null && handle.trim() !== '') return;
  const at = `${field}.example.header_handle`;
  faults.add(at, 'required', `${at} must hold the handle of an uploaded sample file.`);
}

function checkMarkdown(header: JsonObject, field: string, faults: FaultList): void {
  const text = ownText(header, 'text');
  // What is too long is refused already; within the limit the search is short.
  if (text === null || text.length > 2 * HEADER_MAX) return;
  // Names of variables hold underscores that mean nothing.
  if (!MARKDOWN.test(text.replaceAll(/\{\{[^{}]*\}\}/g, 'x'))) return;
  faults.add(`${field}.text`, 'markdown', `${field}.text must be plain: *bold*, _italic_, ~struck~ are for the body.`);
}
