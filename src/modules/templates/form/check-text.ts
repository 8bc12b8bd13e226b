import type { ErrorDetail } from '../../../common/app-error.js';
import type { JsonObject } from '../../../common/json.js';
import { own } from '../../../infrastructure/whatsapp/json-access.js';
import type { ParameterFormat } from '../templates.types.js';
import { examplesIn, placeholdersIn, variableNamesIn } from './components.js';

/** Violations, found one by one; `R` is the value that the check has read. */
export type Violations<R = void> = Generator<ErrorDetail, R>;

/** A text with variables. */
export interface TextRules {
  readonly part: 'header' | 'body';
  readonly longest: number;
  /** Most different variables. */
  readonly mostVariables?: number;
  /** It must not begin or end with a variable. */
  readonly inside?: boolean;
}

/** Marks that WhatsApp renders as bold, italic, strikethrough or monospace, at word boundaries. */
export const MARKDOWN = /(^|[\s\p{P}])([*_~])[^\s*_~]([^*_~\n]*[^\s*_~])?\2(?=$|[\s\p{P}])|```/u;

/** Checks `component.text`, its variables and their examples. */
export function* checkText(
  component: JsonObject,
  field: string,
  format: ParameterFormat,
  rules: TextRules,
): Violations {
  const at = `${field}.text`;
  const text = yield* textOf(own(component, 'text'), at, rules.longest);
  // A text that is far too long is refused for its length only, which bounds the work.
  if (text === null || text.length > 4 * rules.longest) return;
  const names = variableNamesIn(text);
  const malformed = malformedName(names, format);
  if (malformed !== null) {
    yield violation(at, ...malformed);
    return;
  }
  yield* checkPlaces(text, at, format, rules);
  const examples = examplesIn(component, rules.part);
  const [first, ...others] = names.filter((name) => (examples.get(name) ?? '').trim() === '');
  if (first === undefined) return;
  const key = isNumber(first) ? `${rules.part}_text` : `${rules.part}_text_named_params`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const message = `${field}.example.${key} must hold an example for each variable: {{${shown(first)}}}${more} is without.`;
  yield { field: `${field}.example`, rule: 'variable_example', message };
}

/** Checks the positions of variables in the text, and their number. */
function* checkPlaces(
  text: string,
  at: string,
  format: ParameterFormat,
  { mostVariables = Infinity, inside = false }: TextRules,
): Violations {
  const placeholders = placeholdersIn(text);
  const names = placeholders.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (format === 'NAMED' && repeated !== undefined) {
    yield violation(at, 'variable_unique', `holds {{${shown(repeated)}}} twice: each name may stand once.`);
  }
  const count = new Set(names).size;
  if (count > mostVariables) {
    yield violation(at, 'variable_count', `takes at most ${mostVariables} variable, not ${count}.`);
  }
  if (inside && (placeholders[0]?.start === 0 || placeholders.at(-1)?.end === text.length)) {
    yield violation(at, 'variable_position', 'must neither begin nor end with a variable: add words around it.');
  }
  const touching = placeholders.find(({ start }, index) => index > 0 && placeholders[index - 1]?.end === start);
  if (touching !== undefined) {
    const must = `must have words between its variables, also before {{${shown(touching.name)}}}.`;
    yield violation(at, 'variable_adjacent', must);
  }
}

/** The fault in the names of a text's variables; null where all are well-formed. */
function malformedName(names: readonly string[], format: ParameterFormat): [rule: string, sentence: string] | null {
  const odd = names.find((name) => !(format === 'NAMED' ? /^[a-z0-9_]+$/ : /^[1-9]\d*$/).test(name));
  if (odd !== undefined) {
    const hint =
      format === 'NAMED'
        ? 'names are made of small letters, digits and underscores'
        : 'the variables of a template of parameter_format POSITIONAL are {{1}}, {{2}} and so on';
    return ['variable_format', `holds {{${shown(odd)}}}, but ${hint}.`];
  }
  if (format === 'NAMED') {
    const numbered = names.find(isNumber);
    if (numbered === undefined || names.every(isNumber)) return null;
    return ['variable_mixed', `must not mix named variables with {{${shown(numbered)}}}.`];
  }
  const present = new Set(names);
  const absent = names.map((_name, index) => String(index + 1)).find((name) => !present.has(name));
  if (absent === undefined) return null;
  return ['variable_sequence', `must number its variables from {{1}} without gaps: {{${absent}}} is missing.`];
}

/** `value` must be text of 1 to `longest` characters. Returns it if it is text at all, otherwise null. */
export function* textOf(value: unknown, field: string, longest: number): Violations<string | null> {
  if (value === undefined || value === null) {
    yield violation(field, 'required', 'is missing.');
    return null;
  }
  if (typeof value !== 'string') {
    yield violation(field, 'type', 'must be a string.');
    return null;
  }
  if (value.trim() === '') yield violation(field, 'required', 'must not be empty.');
  yield* atMost(value, field, longest);
  return value;
}

export function* atMost(text: string, field: string, longest: number): Violations {
  const length = text.length > longest ? [...text].length : 0;
  if (length > longest) yield violation(field, 'length', `must be at most ${longest} characters long, not ${length}.`);
}

export function violation(field: string, rule: string, sentence: string): ErrorDetail {
  return { field, rule, message: `${field} ${sentence}` };
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}...` : name;
}
