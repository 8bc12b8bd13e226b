import type { ParameterFormat } from '../templates.types.js';
import { examplesIn } from './examples.js';
import type { FaultList } from './fault-list.js';
import { own, type JsonObject } from './json-reading.js';
import { placeholdersIn, variableNamesIn, type Placeholder } from './template-text.js';

/** Marks that WhatsApp draws as bold, italic, struck through or monospaced, at the borders of words. */
export const MARKDOWN = /(^|[\s\p{P}])([*_~])[^\s*_~]([^*_~\n]*[^\s*_~])?\2(?=$|[\s\p{P}])|```/u;

/** Where a text with variables stands and what holds there. */
export interface TextRules {
  part: 'header' | 'body';
  /** Longest text, in characters. */
  max: number;
  /** Most different variables. */
  maxVariables?: number;
  /** The text may not begin or end with a variable. */
  inside?: boolean;
}

/** Checks `component.text`, its variables and their examples. `field` is the component's. */
export function checkText(
  component: JsonObject,
  field: string,
  format: ParameterFormat,
  rules: TextRules,
  faults: FaultList,
): void {
  const at = `${field}.text`;
  const text = faults.text(own(component, 'text'), at, rules.max);
  // A text far too long is refused for that alone, so that the work stays small.
  if (text === null || text.length > 4 * rules.max) return;
  const placeholders = placeholdersIn(text);
  if (placeholders.length === 0) return;
  if (!checkNames(text, at, format, faults)) return;
  checkPlaces(text, at, placeholders, rules, faults);
  checkExamples(component, field, variableNamesIn(text), rules.part, faults);
}

/** A text that takes no variables. */
export function checkPlainText(component: JsonObject, field: string, max: number, faults: FaultList): void {
  const text = faults.text(own(component, 'text'), `${field}.text`, max);
  if (text !== null && placeholdersIn(text).length > 0) {
    faults.add(`${field}.text`, 'variable_not_allowed', `${field}.text takes no variables.`);
  }
}

/** True where all names are well-formed, so that the examples can be looked at. */
function checkNames(text: string, at: string, format: ParameterFormat, faults: FaultList): boolean {
  const names = variableNamesIn(text);
  if (format === 'NAMED') return checkNamed(text, names, at, faults);
  const odd = names.find((name) => !/^[1-9]\d*$/.test(name));
  if (odd !== undefined) {
    const hint = 'the variables of a template of parameter_format POSITIONAL are {{1}}, {{2}} and so on';
    faults.add(at, 'variable_format', `${at} holds {{${clip(odd)}}}, but ${hint}.`);
    return false;
  }
  const present = new Set(names);
  const absent = names.map((_name, index) => String(index + 1)).find((name) => !present.has(name));
  if (absent === undefined) return true;
  faults.add(
    at,
    'variable_sequence',
    `${at} must number its variables from {{1}} without gaps: {{${absent}}} is missing.`,
  );
  return false;
}

function checkNamed(text: string, names: readonly string[], at: string, faults: FaultList): boolean {
  const odd = names.find((name) => !/^[a-z0-9_]+$/.test(name));
  if (odd !== undefined) {
    const hint = 'names are made of small letters, digits and underscores';
    faults.add(at, 'variable_format', `${at} holds {{${clip(odd)}}}, but ${hint}.`);
    return false;
  }
  const numbered = names.find(isNumber);
  if (numbered !== undefined && !names.every(isNumber)) {
    faults.add(at, 'variable_mixed', `${at} must not mix named variables with {{${clip(numbered)}}}.`);
    return false;
  }
  const seen = new Set<string>();
  for (const { name } of placeholdersIn(text)) {
    if (seen.has(name)) {
      faults.add(at, 'variable_unique', `${at} holds {{${clip(name)}}} twice: each name may stand once.`);
      break;
    }
    seen.add(name);
  }
  return true;
}

function checkPlaces(
  text: string,
  at: string,
  placeholders: readonly Placeholder[],
  rules: TextRules,
  faults: FaultList,
): void {
  const { maxVariables = Infinity, inside = false } = rules;
  const count = new Set(placeholders.map(({ name }) => name)).size;
  if (count > maxVariables) {
    faults.add(at, 'variable_count', `${at} takes at most ${maxVariables} variable, not ${count}.`);
  }
  if (inside && (placeholders[0]?.start === 0 || placeholders.at(-1)?.end === text.length)) {
    faults.add(at, 'variable_position', `${at} must neither begin nor end with a variable: add words around it.`);
  }
  const touching = placeholders.find(({ start }, index) => index > 0 && placeholders[index - 1]?.end === start);
  if (touching !== undefined) {
    faults.add(
      at,
      'variable_adjacent',
      `${at} must have words between its variables, also before {{${clip(touching.name)}}}.`,
    );
  }
}

function checkExamples(
  component: JsonObject,
  field: string,
  names: readonly string[],
  part: 'header' | 'body',
  faults: FaultList,
): void {
  const examples = examplesIn(component, part);
  const without = names.filter((name) => (examples.get(name) ?? '').trim() === '');
  const [first] = without;
  if (first === undefined) return;
  const key = isNumber(first) ? `${part}_text` : `${part}_text_named_params`;
  const others = without.length > 1 ? ` and ${without.length - 1} more` : '';
  faults.add(
    `${field}.example`,
    'variable_example',
    `${field}.example.${key} must hold an example for each variable: {{${clip(first)}}}${others} is without.`,
  );
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

function clip(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}...` : name;
}
