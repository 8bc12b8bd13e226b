import { clip } from '../../common/clip.js';
import { optOutsErrors } from './opt-outs.errors.js';

/** Words that opt a customer out and in. */
export interface Keywords {
  out: string[];
  in: string[];
}

/** By language, such as `de` or `pt-BR`. */
export type KeywordsByLanguage = Readonly<Record<string, Keywords>>;

export const MAX_KEYWORDS = 20;
export const MAX_KEYWORD_LENGTH = 64;
export const MAX_LANGUAGES = 20;

/** A longer text cannot be a keyword with decoration around it. */
const MAX_TEXT_LENGTH = 4 * MAX_KEYWORD_LENGTH;

/**
 * Invisible characters, such as those for direction, joiners and variants; and the line that stretches an Arabic word.
 */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u0640]/gu;
const AROUND = /^[\s\p{P}\p{Z}\p{Sk}]+|[\s\p{P}\p{Z}\p{Sk}]+$/gu;

/** The meaning of each word, `true`: it opts out. Built once from a workspace's keywords, which are cached. */
const meanings = new WeakMap<KeywordsByLanguage, ReadonlyMap<string, boolean>>();

/** The only word of a text, without character styles and surrounding marks. */
function wordOf(text: string): string {
  const bare = text
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(UNSEEN, '')
    .replaceAll(AROUND, '');
  // Normalisation may split a character into two, one of them a space or another mark.
  return bare.normalize('NFKC').replaceAll(UNSEEN, '').replaceAll(AROUND, '');
}

/** The form in which words are compared: without case in every language, and with one i for the four of Turkish. */
export function keywordOf(text: string): string {
  return wordOf(text).toUpperCase().toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');
}

/** True: the text is only a word that opts out; false: one that opts in; null: neither. */
export function meaningOf(text: string, keywords: KeywordsByLanguage): boolean | null {
  if (text.length > MAX_TEXT_LENGTH) return null;
  let known = meanings.get(keywords);
  if (known === undefined) {
    const all = Object.values(keywords);
    // A word in both lists opts out.
    known = new Map([
      ...all.flatMap((words) => words.in.map((word) => [keywordOf(word), false] as const)),
      ...all.flatMap((words) => words.out.map((word) => [keywordOf(word), true] as const)),
    ]);
    meanings.set(keywords, known);
  }
  return known.get(keywordOf(text)) ?? null;
}

/** @throws OPT_OUT_KEYWORDS_INVALID (422) that names the invalid word or language. */
export function readKeywords(language: string, given: Keywords): Keywords {
  if (!isLanguage(language)) {
    throw invalid(`${clip(language, 40)} is no language; give one such as en, de or pt-BR`);
  }
  const read = (words: readonly string[]): string[] => {
    const all = [...new Map(words.map((word) => [keywordOf(word), wordOf(word).toLocaleLowerCase(language)])).values()];
    const unfit = all.find((word) => word === '' || word.length > MAX_KEYWORD_LENGTH);
    if (unfit !== undefined) throw invalid(`a keyword has 1 to ${MAX_KEYWORD_LENGTH} characters`);
    if (all.length > MAX_KEYWORDS) throw invalid(`at most ${MAX_KEYWORDS} keywords of a kind`);
    return all;
  };
  return { out: read(given.out), in: read(given.in) };
}

/** @throws OPT_OUT_KEYWORDS_INVALID (422) where a word opts out in one language, and in in the same or another one. */
export function refuseConflicts(keywords: KeywordsByLanguage): void {
  const outs = new Map(
    Object.entries(keywords).flatMap(([language, words]) => words.out.map((word) => [keywordOf(word), language])),
  );
  for (const [language, words] of Object.entries(keywords)) {
    for (const word of words.in) {
      const other = outs.get(keywordOf(word));
      if (other === language) throw invalid(`${word} cannot opt out and in`);
      if (other === undefined) continue;
      throw invalid(
        `${word} opts out (${other}) and cannot opt in (${language}): one word means one thing in all languages`,
      );
    }
  }
}

const invalid = (reason: string): Error => optOutsErrors.OPT_OUT_KEYWORDS_INVALID({ reason });

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf([tag]).length > 0;
  } catch {
    // It is not a well-formed language tag.
    return false;
  }
}
