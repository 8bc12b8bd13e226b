export interface ConstraintSentence {
  /** Name of the rule in `details`; several constraints may be one rule. */
  rule: string;
  /** Of several broken constraints the one with the lowest rank is told. */
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
