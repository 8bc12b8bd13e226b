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

/** Nothing longer than a keyword with so much around it is one. */
const MAX_TEXT_LENGTH = 4 * MAX_KEYWORD_LENGTH;

/** Marks that are not seen, such as those of direction, joiners and variants; and the line that stretches an Arabic word. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u0640]/gu;
const AROUND = /^[\s\p{P}\p{Z}\p{Sk}]+|[\s\p{P}\p{Z}\p{Sk}]+$/gu;

/** By what a text means, `true`: it opts out. Made once of the words of a workspace, which stay in a cache. */
const meanings = new WeakMap<KeywordsByLanguage, ReadonlyMap<string, boolean>>();

/** The word of a text that has only one: without the form of its characters, and without what stands around it. */
function wordOf(text: string): string {
  const bare = text
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(UNSEEN, '')
    .replaceAll(AROUND, '');
  // What is two characters by now may have brought a space or another mark.
  return bare.normalize('NFKC').replaceAll(UNSEEN, '').replaceAll(AROUND, '');
}

/** What of a text is compared: its word without case, in every language, and with one kind of i for the four of Turkish. */
export function keywordOf(text: string): string {
  return wordOf(text).toUpperCase().toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');
}

/** True: the text is only a word that opts out; false: one that opts in; null: neither. */
export function meaningOf(text: string, keywords: KeywordsByLanguage): boolean | null {
  if (text.length > MAX_TEXT_LENGTH) return null;
  let known = meanings.get(keywords);
  if (known === undefined) {
    const all = Object.values(keywords);
    // A word that is both opts out.
    known = new Map([
      ...all.flatMap((words) => words.in.map((word) => [keywordOf(word), false] as const)),
      ...all.flatMap((words) => words.out.map((word) => [keywordOf(word), true] as const)),
    ]);
    meanings.set(keywords, known);
  }
  return known.get(keywordOf(text)) ?? null;
}

/** @throws OPT_OUT_KEYWORDS_INVALID (422) that says which word or language cannot be. */
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
    // What has not the form of a tag.
    return false;
  }
}
