import { FAILURE_CATEGORIES } from '../../common/failure-category.js';
import { namedSchema } from './api-description.js';

/**
 * The schema of a word to which later versions may add values: a string with the known ones. With an `enum`, a new word
 * would break clients that were generated before.
 */
export function openWords(name: string, words: readonly string[], description: string): { $ref: string } {
  const more = `${description} Later versions may have more.`;
  return namedSchema(name, { type: 'string', description: more, examples: words, 'x-extensible-enum': words });
}

export const FAILURE_CATEGORY = openWords(
  'FailureCategory',
  FAILURE_CATEGORIES,
  'Why it failed, in terms that stay the same whatever WhatsApp calls it.',
);

export const nullable = (schema: { $ref: string }): { anyOf: object[] } => ({ anyOf: [schema, { type: 'null' }] });
