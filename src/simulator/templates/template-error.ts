import { GraphError } from '../graph-error.js';
import { invalidParam, isObject, type JsonObject } from '../messages/checks.js';

/** A refusal of the template calls: code 100, told apart by its subcode, with the words that people are shown. */
export function templateError(subcode: number, userTitle: string, userMessage: string): GraphError {
  return new GraphError(100, {
    subcode,
    message: 'Invalid parameter',
    isTransient: false,
    userTitle,
    userMessage,
  });
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
