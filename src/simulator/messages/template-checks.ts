import { GraphError } from '../graph-error.js';
import type { Template, TemplateButton, TemplateComponent } from '../templates/template.types.js';
import type { TemplateStore } from '../templates/template-store.js';
import {
  invalidParam,
  isObject,
  type JsonObject,
  longerThan,
  missing,
  requireObject,
  requireString,
} from './checks.js';
import { checkMediaReference } from './media-checks.js';

const BODY_LIMIT = 1024;
const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;
const MEDIA_FORMATS: Readonly<Record<string, 'image' | 'video' | 'document'>> = {
  IMAGE: 'image',
  VIDEO: 'video',
  DOCUMENT: 'document',
  GIF: 'video',
};

/**
 * Checks a template message against the stored template.
 * @param toUserId true where the recipient is a business-scoped user id
 * @throws GraphError 100, 131008, 131062 or one of 132000 ... 132018
 */
export function checkTemplateMessage(
  body: JsonObject,
  wabaId: string,
  templates: TemplateStore,
  toUserId: boolean,
): Template {
  const message = requireObject(body, 'template');
  const name = requireString(message, 'name', "template['name']", 512);
  const code = requireString(
    requireObject(message, 'language', "template['language']"),
    'code',
    "language['code']",
    32,
  );
  const template = templates.find(wabaId, name, code);
  if (template === undefined || !checkStatus(template)) {
    throw new GraphError(132001, { details: `template name (${name}) does not exist in ${code}` });
  }
  if (toUserId && template.category === 'AUTHENTICATION') {
    throw new GraphError(131062, { details: 'Authentication templates need a phone number' });
  }
  const components = readComponents(message);
  checkHeader(template, components);
  checkBody(template, components);
  checkButtons(template, components);
  return template;
}

/** True where it may be sent; false where it is as good as missing. */
function checkStatus({ status, name }: Template): boolean {
  if (status === 'PAUSED')
    throw new GraphError(132015, { details: `template (${name}) is paused for its low quality` });
  if (status === 'DISABLED') throw new GraphError(132016, { details: `template (${name}) is disabled` });
  return status === 'APPROVED';
}

function readComponents(message: JsonObject): JsonObject[] {
  const { components } = message;
  if (components === undefined || components === null) return [];
  if (!Array.isArray(components)) throw invalidParam("Param template['components'] must be an array.");
  return components.map((component, i) => {
    if (!isObject(component)) throw invalidParam(`Param template['components'][${i}] must be a JSON object.`);
    return component;
  });
}

function typed(value: unknown): string {
  return typeof value === 'string' ? value.toUpperCase() : '';
}

function parametersOf(components: JsonObject[], type: string): JsonObject[] {
  const index = components.findIndex((component) => typed(component.type) === type);
  return index === -1 ? [] : readParameters(components[index] as JsonObject, index);
}

function readParameters(component: JsonObject, index: number): JsonObject[] {
  const { parameters } = component;
  if (parameters === undefined || parameters === null) return [];
  const path = `template['components'][${index}]['parameters']`;
  if (!Array.isArray(parameters)) throw invalidParam(`Param ${path} must be an array.`);
  return parameters.map((parameter, i) => {
    if (!isObject(parameter)) throw invalidParam(`Param ${path}[${i}] must be a JSON object.`);
    if (parameter.type === 'text' && typeof parameter.text !== 'string') {
      throw invalidParam(`Param ${path}[${i}]['text'] must be a string.`);
    }
    return parameter;
  });
}

function componentOf(template: Template, type: string): TemplateComponent | undefined {
  return template.components.find((component) => component.type === type);
}

/** Names (or positions) of the variables in a text, each once. */
export function variablesIn(text: string | undefined): string[] {
  return [...new Set([...(text ?? '').matchAll(VARIABLE)].map((match) => match[1] as string))];
}

function checkHeader(template: Template, components: JsonObject[]): void {
  const header = componentOf(template, 'HEADER');
  const parameters = parametersOf(components, 'HEADER');
  const format = header?.format ?? 'TEXT';
  if (format === 'TEXT') {
    const variables = variablesIn(header?.text);
    checkCount('header', parameters.length, variables.length);
    fillText('header', header?.text ?? '', template, parameters, variables);
    return;
  }
  const [parameter] = parameters;
  const received = typed(parameter?.type);
  const kind = MEDIA_FORMATS[format];
  const expected = kind?.toUpperCase() ?? format;
  if (parameter === undefined || received !== expected) {
    throw new GraphError(132012, {
      details: `header: Format mismatch, expected ${format}, received ${received === '' ? 'UNKNOWN' : received}`,
    });
  }
  if (kind !== undefined) checkMediaReference(requireObject(parameter, kind), kind, kind);
}

function checkBody(template: Template, components: JsonObject[]): void {
  const text = bodyText(template);
  const variables = variablesIn(text);
  const parameters = parametersOf(components, 'BODY');
  checkCount('body', parameters.length, variables.length);
  const filled = fillText('body', text, template, parameters, variables);
  if (longerThan(filled, BODY_LIMIT)) {
    throw new GraphError(132005, {
      details: `body: text is longer than ${BODY_LIMIT} characters once it is filled in`,
    });
  }
}

/** Authentication templates store no text of their own; the platform's has one variable, the code. */
function bodyText(template: Template): string {
  const text = componentOf(template, 'BODY')?.text;
  return text ?? (template.category === 'AUTHENTICATION' ? '*{{1}}* is your verification code.' : '');
}

function checkCount(where: string, given: number, expected: number): void {
  if (given === expected) return;
  throw new GraphError(132000, {
    details: `${where}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  });
}

function fillText(
  where: string,
  text: string,
  template: Template,
  parameters: JsonObject[],
  variables: string[],
): string {
  const values = new Map<string, string>();
  parameters.forEach((parameter, i) => {
    const name = template.parameterFormat === 'NAMED' ? parameter.parameter_name : String(i + 1);
    if (typeof name !== 'string') throw invalidParam(`Parameter name is missing or empty for ${where} parameter ${i}.`);
    values.set(name, valueOf(where, parameter));
  });
  const absent = variables.find((variable) => !values.has(variable));
  if (absent !== undefined && template.parameterFormat === 'NAMED') {
    throw new GraphError(132000, { details: `${where}: parameter ${absent} is missing` });
  }
  return text.replaceAll(VARIABLE, (whole, variable: string) => values.get(variable) ?? whole);
}

function valueOf(where: string, parameter: JsonObject): string {
  const localised = parameter[String(parameter.type)];
  if (parameter.type === 'currency' || parameter.type === 'date_time') {
    const fallback = isObject(localised) ? localised.fallback_value : undefined;
    if (typeof fallback !== 'string')
      throw missing(`Parameter 'fallback_value' is mandatory for type '${parameter.type}'`);
    return fallback;
  }
  if (parameter.type !== 'text') {
    throw new GraphError(132012, {
      details: `${where}: Format mismatch, expected TEXT, received ${typed(parameter.type)}`,
    });
  }
  const text = parameter.text as string;
  if (text === '') throw missing('Parameter of type text is missing text value');
  if (/[\n\r\t]| {5,}/.test(text)) {
    throw new GraphError(132018, {
      details: 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
    });
  }
  return text;
}

function checkButtons(template: Template, components: JsonObject[]): void {
  const buttons = template.components.find((component) => component.type === 'BUTTONS')?.buttons ?? [];
  buttons.forEach((button, index) => {
    if (!needsParameter(button)) return;
    const at = components.findIndex(
      (component) => typed(component.type) === 'BUTTON' && Number(component.index ?? 0) === index,
    );
    const parameters = at === -1 ? [] : readParameters(components[at] as JsonObject, at);
    if (parameters.length === 0) {
      const label = button.type === 'COPY_CODE' ? 'Copy code' : 'Url';
      throw missing(`buttons: Button at index ${index} of type ${label} requires a parameter`);
    }
    checkCount('buttons', parameters.length, 1);
  });
}

/** A one-time-password button is a URL button underneath: it carries the code once more. */
function needsParameter(button: TemplateButton): boolean {
  if (button.type === 'URL') return variablesIn(button.url).length > 0;
  return button.type === 'OTP' || button.type === 'COPY_CODE';
}
