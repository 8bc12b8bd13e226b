import { GraphError, invalidParam } from '../graph-error.js';
import { isObject, type JsonObject } from '../http/param.js';

export const PARAMETER_FORMATS = ['POSITIONAL', 'NAMED'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

/**
 * A refusal of the template calls: code 100, distinguished by its subcode, with the words that people are shown.
 * @param subcode undefined where the platform's is not published
 */
export function templateError(subcode: number | undefined, userTitle: string, userMessage: string): GraphError {
  return new GraphError(100, { subcode, message: 'Invalid parameter', isTransient: false, userTitle, userMessage });
}

/** 2388043: a component lacks a field it needs, most often its examples. */
export function missingField(component: string, field: string): GraphError {
  return templateError(
    2388043,
    "Message template 'components' param is missing expected field(s)",
    `component of type ${component} is missing expected field(s) (${field})`,
  );
}

/** 2388040: a text is longer than its component allows. */
export function tooLong(what: string, max: number): GraphError {
  return templateError(
    2388040,
    'Character Limit Exceeded',
    `The ${what} field can't be longer than ${max} characters.`,
  );
}

const FORMAT_SUBCODES = { header: 2388047, body: 2388072, footer: 2388073 } as const;

/** 2388047, 2388072 or 2388073: a text that its component can't have. */
export function wrongFormat(component: keyof typeof FORMAT_SUBCODES, userMessage: string): GraphError {
  const title = `Message ${component} Format is Incorrect`;
  return templateError(FORMAT_SUBCODES[component], title, userMessage);
}

/** A list of objects, its length within the limits. @throws GraphError 100 */
export function objectList(value: unknown, path: string, min: number, max: number): JsonObject[] {
  if (!Array.isArray(value)) throw invalidParam(`Param ${path} must be an array.`);
  if (value.length < min || value.length > max) {
    throw invalidParam(`Param ${path} must have ${min} to ${max} elements, and has ${value.length}.`);
  }
  return value.map((element, i) => {
    if (!isObject(element)) throw invalidParam(`Param ${path}[${i}] must be a JSON object.`);
    return element;
  });
}

/** @throws GraphError 100 with 2388047, 2388072 or 2388073 for more than 4 spaces or 2 line breaks in a row */
export function checkGaps(component: keyof typeof FORMAT_SUBCODES, text: string): void {
  if (/ {5}/.test(text))
    throw wrongFormat(component, `The message ${component} can't have more than 4 spaces in a row.`);
  if (/(?:\r?\n){3}/.test(text)) {
    throw wrongFormat(component, `The message ${component} can't have more than 2 new lines in a row.`);
  }
}

const VARIABLE = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Names (or positions) of the variables in a text, in their order, each as often as it is there. */
export function variablesOfText(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map((match) => match[1] as string);
}

/**
 * Checks how a text uses its variables, and that each has an example.
 * @param positional examples by position, or undefined
 * @param named examples by name, or undefined
 * @returns the distinct variables
 * @throws GraphError 100 with 2388047, 2388072, 2388043, 2388293 or 2388299
 */
export function checkTextVariables(
  component: 'header' | 'body',
  text: string,
  format: ParameterFormat,
  examples: { positional: unknown; named: unknown },
): string[] {
  const all = variablesOfText(text);
  if (/\{\{|\}\}/.test(text.replaceAll(VARIABLE, ''))) {
    throw wrongFormat(component, 'A variable is written {{1}} or {{first_name}}; some braces are left over.');
  }
  const variables = [...new Set(all)];
  if (variables.length === 0) return [];
  checkNames(component, all, variables, format);
  if (component === 'body') checkPlaces(text, variables.length);
  const given = format === 'NAMED' ? namesOfExamples(examples.named) : positionsOfExamples(examples.positional);
  const complete =
    format === 'NAMED' ? variables.every((name) => given.includes(name)) : given.length === variables.length;
  if (!complete) throw missingField(component.toUpperCase(), 'example');
  return variables;
}

function checkNames(component: 'header' | 'body', all: string[], variables: string[], format: ParameterFormat): void {
  if (format === 'POSITIONAL') {
    const positions = variables.map(Number).sort((a, b) => a - b);
    if (!positions.every((position, i) => position === i + 1)) {
      throw wrongFormat(component, 'Variables must be {{1}}, {{2}} and so on, with none left out.');
    }
    return;
  }
  const wrong = variables.find((name) => !/^[a-z][a-z0-9_]*$/.test(name));
  if (wrong !== undefined) {
    throw wrongFormat(component, `{{${wrong}}}: names have lowercase letters, digits and underscores only.`);
  }
  if (all.length > variables.length) throw wrongFormat(component, 'The names of the variables must be unique.');
}

function checkPlaces(text: string, count: number): void {
  const trimmed = text.trim();
  if (/^\{\{[^{}]*\}\}|\{\{[^{}]*\}\}$/.test(trimmed)) {
    const title = "Variables can't be at the start or end of the template";
    throw templateError(2388299, title, 'Put words before the first variable and after the last one.');
  }
  const words = trimmed.replaceAll(VARIABLE, ' ').match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  // The ratio is not published; fewer words than variables are refused by every account of it.
  if (words < count) {
    throw templateError(
      2388293,
      'Parameters words ratio exceeds limit',
      'This template has too many variables for its length. Reduce the number of variables or increase the message length.',
    );
  }
}

function positionsOfExamples(given: unknown): unknown[] {
  if (!Array.isArray(given)) return [];
  const list: unknown[] = Array.isArray(given[0]) ? (given[0] as unknown[]) : given;
  return list.filter((value) => typeof value === 'string' && value !== '');
}

function namesOfExamples(given: unknown): unknown[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter((item): item is JsonObject => isObject(item) && typeof item.example === 'string' && item.example !== '')
    .map((item) => item.param_name);
}

/** Two variables with nothing between them: taken at first, and rejected by the review. */
export function hasAdjacentVariables(text: string): boolean {
  return /\}\}\s*\{\{/.test(text);
}
