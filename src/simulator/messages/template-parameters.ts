import { GraphError } from '../graph-error.js';
import type { ParameterFormat } from '../templates/template.types.js';
import { invalidParam, isObject, type JsonObject, missing, requireOneOf } from './checks.js';

const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;
// prettier-ignore
const COMPONENT_TYPES = [
  'HEADER', 'BODY', 'FOOTER', 'BUTTON', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'ORDER_STATUS', 'CALL_PERMISSION_REQUEST',
];

/** A component of a template message: its type in capitals, and what it carries. */
export interface SentComponent {
  type: string;
  /** Where it stands in the request, for messages. */
  path: string;
  content: JsonObject;
}

/** Reads `components`, of the message or of a card. @throws GraphError 100 */
export function readComponents(value: unknown, path: string): SentComponent[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidParam(`Param ${path} must be an array.`);
  return value.map((content: unknown, i) => {
    const at = `${path}[${i}]`;
    if (!isObject(content)) throw invalidParam(`Param ${at} must be a JSON object.`);
    return { type: requireOneOf(typed(content.type), COMPONENT_TYPES, `${at}['type']`), path: at, content };
  });
}

/** The parameters of the one component of a type; none where it is left out. */
export function parametersOf(components: readonly SentComponent[], type: string): JsonObject[] {
  const component = components.find((one) => one.type === type);
  return component === undefined ? [] : readParameters(component);
}

/** @throws GraphError 100 */
export function readParameters({ content, path }: SentComponent): JsonObject[] {
  const { parameters } = content;
  if (parameters === undefined || parameters === null) return [];
  const at = `${path}['parameters']`;
  if (!Array.isArray(parameters)) throw invalidParam(`Param ${at} must be an array.`);
  return parameters.map((parameter: unknown, i) => {
    if (!isObject(parameter)) throw invalidParam(`Param ${at}[${i}] must be a JSON object.`);
    if (parameter.type === 'text' && typeof parameter.text !== 'string') {
      throw invalidParam(`Param ${at}[${i}]['text'] must be a string.`);
    }
    return parameter;
  });
}

export function typed(value: unknown): string {
  return typeof value === 'string' ? value.toUpperCase() : '';
}

/** Names (or positions) of the variables in a text, each once. */
export function variablesIn(text: string | undefined): string[] {
  return [...new Set([...(text ?? '').matchAll(VARIABLE)].map((match) => match[1] as string))];
}

/** @throws GraphError 132000 */
export function checkCount(where: string, given: number, expected: number): void {
  if (given === expected) return;
  throw new GraphError(132000, {
    details: `${where}: number of localizable_params (${given}) does not match the expected number of params (${expected})`,
  });
}

/** 132012: a parameter of another type than the template has there. */
export function formatMismatch(where: string, expected: string, received: string): GraphError {
  return new GraphError(132012, {
    details: `${where}: Format mismatch, expected ${expected}, received ${received === '' ? 'UNKNOWN' : received}`,
  });
}

/** Puts the parameters into a text. @throws GraphError 100, 131008, 132000, 132012 or 132018 */
export function fillText(where: string, text: string, format: ParameterFormat, parameters: JsonObject[]): string {
  const variables = variablesIn(text);
  checkCount(where, parameters.length, variables.length);
  const values = new Map<string, string>();
  parameters.forEach((parameter, i) => {
    const name = format === 'NAMED' ? parameter.parameter_name : String(i + 1);
    if (typeof name !== 'string') throw invalidParam(`Parameter name is missing or empty for ${where} parameter ${i}.`);
    values.set(name, valueOf(where, parameter));
  });
  const absent = variables.find((variable) => !values.has(variable));
  if (absent !== undefined && format === 'NAMED') {
    throw new GraphError(132000, { details: `${where}: parameter ${absent} is missing` });
  }
  return text.replaceAll(VARIABLE, (whole, variable: string) => values.get(variable) ?? whole);
}

/** The text of one parameter. @throws GraphError 131008, 132012 or 132018 */
export function valueOf(where: string, parameter: JsonObject): string {
  const localised = parameter[String(parameter.type)];
  if (parameter.type === 'currency' || parameter.type === 'date_time') {
    const fallback = isObject(localised) ? localised.fallback_value : undefined;
    if (typeof fallback !== 'string')
      throw missing(`Parameter 'fallback_value' is mandatory for type '${parameter.type}'`);
    return fallback;
  }
  if (parameter.type !== 'text') throw formatMismatch(where, 'TEXT', typed(parameter.type));
  const text = parameter.text as string;
  if (text === '') throw missing('Parameter of type text is missing text value');
  if (/[\n\r\t]| {5,}/.test(text)) {
    throw new GraphError(132018, {
      details: 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
    });
  }
  return text;
}
