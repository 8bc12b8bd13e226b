import { getMetadataStorage, type ValidationError } from 'class-validator';
import { LONGEST_FIELD, MOST_DETAILS, type ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';

/** One detail for each invalid field, 20 at most, with its whole path and a sentence that says what to do. */
export function detailsOf(errors: readonly ValidationError[]): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  visitAll(errors, '', details);
  return details;
}

/**
 * Nested objects that are missing. The library lets `@ValidateNested()` pass where nothing is there, unlike its other
 * rules; here a property without `@IsOptional()` is required, whatever its rules.
 */
export function missingObjects(instance: object, parent = ''): ErrorDetail[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(instance.constructor, '', false, false);
  const optional = new Set(rules.filter((rule) => rule.type === CONDITIONAL).map((rule) => rule.propertyName));
  const nested = new Set(rules.filter((rule) => rule.type === NESTED).map((rule) => rule.propertyName));
  return [...nested].flatMap((name) => {
    const value = (instance as Record<string, unknown>)[name];
    const field = parent === '' ? name : `${parent}.${name}`;
    if (value === undefined && !optional.has(name)) {
      const othersSaySo = rules.some((rule) => rule.propertyName === name && rule.type !== NESTED);
      return othersSaySo ? [] : [{ field, rule: 'required', message: `${field} is missing.` }];
    }
    const items = Array.isArray(value)
      ? value.map((item, index) => [item, `${field}[${index}]`] as const)
      : [[value, field] as const];
    return items.flatMap(([item, path]) =>
      typeof item === 'object' && item !== null ? missingObjects(item as object, path) : [],
    );
  });
}

const NESTED = 'nestedValidation';
const CONDITIONAL = 'conditionalValidation';

function visitAll(errors: readonly ValidationError[], parent: string, details: ErrorDetail[]): void {
  for (const error of errors) {
    if (details.length >= MOST_DETAILS) return;
    visit(error, parent, details);
  }
}

function visit(error: ValidationError, parent: string, details: ErrorDetail[]): void {
  const inArray = Array.isArray(error.target);
  const path = inArray
    ? `${parent}[${error.property}]`
    : parent === ''
      ? error.property
      : `${parent}.${error.property}`;
  const field = clip(path, LONGEST_FIELD);
  // What is inside a value of the wrong kind is not looked at.
  if (error.constraints !== undefined) details.push(describe(error, field));
  else visitAll(error.children ?? [], field, details);
}

/** Of several broken rules the most basic one: for a number in place of a text its length does not matter. */
function describe(error: ValidationError, field: string): ErrorDetail {
  const broken = Object.entries(error.constraints ?? {});
  if (error.value === undefined && error.constraints?.whitelistValidation === undefined) {
    return { field, rule: 'required', message: `${field} is missing.` };
  }
  const [name, message] = broken.sort(([a], [b]) => rankOf(a) - rankOf(b))[0] ?? ['invalid', ''];
  const known = CONSTRAINTS[name];
  const rule = known?.rule ?? snakeCase(name);
  const { args, each, custom } = declarationOf(error, name);
  if (custom || known === undefined) return { field, rule, message: sentence(message, error.property, field) };
  const subject = each ? `each item of ${field}` : field;
  return { field, rule, message: known.sentence(subject, args, siblingsOf(error)) };
}

function rankOf(constraint: string): number {
  return CONSTRAINTS[constraint]?.rank ?? 9;
}

interface Declaration {
  args: readonly unknown[];
  each: boolean;
  /** The rule brings its own message. */
  custom: boolean;
}

function declarationOf(error: ValidationError, constraint: string): Declaration {
  const target = error.target?.constructor;
  const rules = target === undefined ? [] : getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  const rule = rules.find((candidate) => candidate.propertyName === error.property && nameOf(candidate) === constraint);
  return { args: (rule?.constraints ?? []) as unknown[], each: rule?.each ?? false, custom: hasMessage(rule) };
}

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

function nameOf(rule: Rule): string {
  if (rule.name !== undefined) return rule.name;
  const [constraint] = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  return constraint?.name ?? rule.type;
}

function hasMessage(rule: Rule | undefined): boolean {
  return typeof rule?.message === 'string' || typeof rule?.message === 'function';
}

function siblingsOf(error: ValidationError): string[] {
  const target = error.target?.constructor;
  if (target === undefined) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  return [...new Set(rules.map((rule) => rule.propertyName))];
}

/** The library's own texts begin with the property's bare name and have no full stop. */
function sentence(message: string, property: string, field: string): string {
  const text = message.startsWith(`${property} `) ? field + message.slice(property.length) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export interface ConstraintSentence {
  /** Name of the rule in `details`; several constraints may be one rule. */
  rule: string;
  /** Of several broken constraints the one with the lowest rank is reported. */
  rank: number;
  sentence(field: string, args: readonly unknown[], siblings: readonly string[]): string;
}

const type = (must: string): ConstraintSentence => ({
  rule: 'type',
  rank: 1,
  sentence: (field) => `${field} must be ${must}.`,
});

const format = (must: string): ConstraintSentence => ({
  rule: 'format',
  rank: 3,
  sentence: (field) => `${field} must be ${must}.`,
});

const bounds = (rule: string, sentence: ConstraintSentence['sentence']): ConstraintSentence => ({
  rule,
  rank: 2,
  sentence,
});

/** What class-validator's constraints mean, in sentences that say what to do. */
export const CONSTRAINTS: Readonly<Record<string, ConstraintSentence>> = {
  whitelistValidation: {
    rule: 'unknown_field',
    rank: 0,
    sentence: (field, _args, siblings) =>
      siblings.length === 0
        ? `${field} is not known here; the body takes no keys.`
        : `${field} is not known here; allowed: ${siblings.join(', ')}.`,
  },
  isDefined: { rule: 'required', rank: 0, sentence: (field) => `${field} is missing.` },
  isNotEmpty: { rule: 'required', rank: 0, sentence: (field) => `${field} must not be empty.` },
  isString: type('a string'),
  isBoolean: type('true or false'),
  isInt: type('a whole number'),
  isNumber: type('a number'),
  isArray: type('an array'),
  isObject: type('a JSON object'),
  nestedValidation: type('a JSON object'),
  isLength: bounds('length', (field, [min, max]) =>
    max === undefined
      ? `${field} must be at least ${String(min)} characters long.`
      : `${field} must be ${String(min)} to ${Number(max)} characters long.`,
  ),
  minLength: bounds('length', (field, [min]) => `${field} must be at least ${String(min)} characters long.`),
  maxLength: bounds('length', (field, [max]) => `${field} must be at most ${String(max)} characters long.`),
  min: bounds('range', (field, [min]) => `${field} must be at least ${String(min)}.`),
  max: bounds('range', (field, [max]) => `${field} must be at most ${String(max)}.`),
  arrayMinSize: bounds('length', (field, [min]) => `${field} must have at least ${String(min)} items.`),
  arrayMaxSize: bounds('length', (field, [max]) => `${field} must have at most ${String(max)} items.`),
  arrayUnique: bounds('unique', (field) => `${field} must not have the same item twice.`),
  arrayNotEmpty: bounds('length', (field) => `${field} must have at least 1 items.`),
  isIn: { rule: 'one_of', rank: 3, sentence: (field, [words]) => `${field} must be ${oneOf(words)}.` },
  isEnum: { rule: 'one_of', rank: 3, sentence: (field, [, words]) => `${field} must be ${oneOf(words)}.` },
  isUuid: format('a UUID'),
  isUrl: format('a URL'),
  isEmail: format('an e-mail address'),
  isIso8601: format('an ISO 8601 date-time, such as 2026-11-21T08:00:00.000Z'),
  isDateString: format('an ISO 8601 date-time, such as 2026-11-21T08:00:00.000Z'),
  matches: {
    rule: 'format',
    rank: 3,
    sentence: (field, [pattern]) =>
      `${field} must match ${pattern instanceof RegExp ? pattern.source : String(pattern)}.`,
  },
};

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function oneOf(words: unknown): string {
  const list = Array.isArray(words) ? words.map(String) : [];
  if (list.length < 2) return list.join('');
  return `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`;
}
