import type { Type } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { fieldPath, MAX_FIELD_LENGTH, MAX_DETAILS, type ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';

/** One detail per invalid field or list item, at most 20, with its whole path and a sentence that says what to do. */
export function detailsOf(errors: readonly ValidationError[], parent = '', details: ErrorDetail[] = []): ErrorDetail[] {
  for (const error of errors) {
    if (details.length >= MAX_DETAILS) break;
    const key = Array.isArray(error.target) ? Number(error.property) : error.property;
    const field = clip(fieldPath(parent, key), MAX_FIELD_LENGTH);
    // The inside of a value of the wrong type is not checked.
    if (error.constraints !== undefined) details.push(...describe(error, field).slice(0, MAX_DETAILS - details.length));
    else detailsOf(error.children ?? [], field, details);
  }
  return details;
}

/** If several rules are broken, the most basic one: for a number instead of text, its length does not matter. */
function describe(error: ValidationError, field: string): ErrorDetail[] {
  const { constraints = {}, property, target, value } = error;
  if (value === undefined && constraints.whitelistValidation === undefined) {
    return [{ field, rule: 'required', message: `${field} is missing.` }];
  }
  const rules = rulesOf(target?.constructor);
  const siblings = new Set(rules.map((rule) => rule.propertyName));
  const broken = Object.entries(constraints)
    .sort(([a], [b]) => rankOf(a) - rankOf(b))
    .map(([name, message]): Broken => {
      const declared = rules.find((rule) => rule.propertyName === property && nameOf(rule) === name);
      return { name, message, property, declared, siblings };
    });
  const ofWhole = broken.find(({ declared }) => declared?.each !== true);
  if (ofWhole !== undefined || !Array.isArray(value)) {
    return [ofWhole ?? broken[0]].flatMap((rule) => (rule === undefined ? [] : [detailOf(rule, field)]));
  }
  // The library reports that some item breaks the rule, but not which.
  return value.flatMap((item, index) => {
    const first = broken.find(({ declared }) => declared !== undefined && !holds(declared, item, error));
    return first === undefined ? [] : [detailOf(first, clip(fieldPath(field, index), MAX_FIELD_LENGTH))];
  });
}

interface Broken {
  name: string;
  /** The message of the library, or of the declaration. */
  message: string;
  property: string;
  declared: Rule | undefined;
  siblings: ReadonlySet<string>;
}

function detailOf({ name, message, property, declared, siblings }: Broken, field: string): ErrorDetail {
  const known = CONSTRAINTS[name];
  // A rule with its own message keeps it.
  if (known === undefined || typeof declared?.message === 'string' || typeof declared?.message === 'function') {
    return { field, rule: known?.rule ?? snakeCase(name), message: sentence(message, property, field) };
  }
  const args = (declared?.constraints ?? []) as unknown[];
  return { field, rule: known.rule, message: known.sentence(field, args, siblings) };
}

/** Whether an item of a list fulfils a rule that is declared for each. */
function holds(rule: Rule, item: unknown, { property, target, value }: ValidationError): boolean {
  const args = {
    targetName: '',
    property,
    object: target ?? {},
    value: value as unknown,
    constraints: rule.constraints,
  };
  return getMetadataStorage()
    .getTargetValidatorConstraints(rule.constraintCls)
    .every(({ instance }) => instance.validate(item, args) === true);
}

/** The rules that a class declares for its properties. */
function rulesOf(dto: unknown) {
  return typeof dto === 'function' ? getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false) : [];
}

/** The properties for which a DTO class declares rules. */
export function propertiesOf(dto: Type<object>): Set<string> {
  return new Set(rulesOf(dto).map((rule) => rule.propertyName));
}

type Rule = ReturnType<typeof rulesOf>[number];

function nameOf(rule: Rule): string {
  if (rule.name !== undefined) return rule.name;
  const [constraint] = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  return constraint?.name ?? rule.type;
}

/** The library's messages begin with the property's bare name and have no full stop. */
function sentence(message: string, property: string, field: string): string {
  const text = message.startsWith(`${property} `) ? field + message.slice(property.length) : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface Constraint {
  /** Name of the rule in `details`; several constraints may be one rule. */
  rule: string;
  sentence(field: string, args: readonly unknown[], siblings: ReadonlySet<string>): string;
}

const must = (rule: string, be: string): Constraint => ({ rule, sentence: (field) => `${field} must be ${be}.` });
const length = (text: (args: readonly unknown[]) => string): Constraint => ({
  rule: 'length',
  sentence: (field, args) => `${field} must ${text(args)}.`,
});

/**
 * Sentences for class-validator's constraints that say what to do. If several are broken, the first in this list is
 * reported.
 */
const CONSTRAINTS: Readonly<Record<string, Constraint>> = {
  whitelistValidation: {
    rule: 'unknown_field',
    sentence: (field, _args, siblings) =>
      siblings.size === 0
        ? `${field} is not known here; the body takes no keys.`
        : `${field} is not known here; allowed: ${[...siblings].join(', ')}.`,
  },
  isDefined: { rule: 'required', sentence: (field) => `${field} is missing.` },
  isNotEmpty: { rule: 'required', sentence: (field) => `${field} must not be empty.` },
  isString: must('type', 'a string'),
  isBoolean: must('type', 'true or false'),
  isInt: must('type', 'a whole number'),
  isNumber: must('type', 'a number'),
  isArray: must('type', 'an array'),
  isObject: must('type', 'a JSON object'),
  nestedValidation: must('type', 'a JSON object'),
  isLength: length(([min, max]) =>
    max === undefined
      ? `be at least ${String(min)} characters long`
      : `be ${String(min)} to ${Number(max)} characters long`,
  ),
  minLength: length(([min]) => `be at least ${String(min)} characters long`),
  maxLength: length(([max]) => `be at most ${String(max)} characters long`),
  min: { rule: 'range', sentence: (field, [min]) => `${field} must be at least ${String(min)}.` },
  max: { rule: 'range', sentence: (field, [max]) => `${field} must be at most ${String(max)}.` },
  arrayMinSize: length(([min]) => `have at least ${String(min)} items`),
  arrayMaxSize: length(([max]) => `have at most ${String(max)} items`),
  arrayNotEmpty: length(() => 'have at least 1 items'),
  arrayUnique: { rule: 'unique', sentence: (field) => `${field} must not have the same item twice.` },
  isIn: { rule: 'one_of', sentence: (field, [words]) => `${field} must be ${oneOf(words)}.` },
  isEnum: { rule: 'one_of', sentence: (field, [, words]) => `${field} must be ${oneOf(words)}.` },
  isUuid: must('format', 'a UUID'),
  isUrl: must('format', 'a URL'),
  isEmail: must('format', 'an e-mail address'),
  isIso8601: must('format', 'an ISO 8601 date-time, such as 2026-11-21T08:00:00.000Z'),
  isDateString: must('format', 'an ISO 8601 date-time, such as 2026-11-21T08:00:00.000Z'),
  matches: {
    rule: 'format',
    sentence: (field, [pattern]) =>
      `${field} must match ${pattern instanceof RegExp ? pattern.source : String(pattern)}.`,
  },
};

const ORDER = Object.keys(CONSTRAINTS);

function rankOf(constraint: string): number {
  const rank = ORDER.indexOf(constraint);
  return rank < 0 ? ORDER.length : rank;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function oneOf(words: unknown): string {
  const list = Array.isArray(words) ? words.map(String) : [];
  if (list.length < 2) return list.join('');
  return `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`;
}
