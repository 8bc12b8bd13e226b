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

/** What of a text is compared: without case, by the rules of the language, and without the form of its characters. */
export function keywordOf(text: string, language: string): string {
  return text.normalize('NFKC').trim().toLocaleLowerCase(language);
}

/** True: the text is exactly a word that opts out; false: one that opts in; null: neither. */
export function meaningOf(text: string, keywords: KeywordsByLanguage): boolean | null {
  // Nothing that is longer is one of them.
  if (text.length > 2 * MAX_KEYWORD_LENGTH) return null;
  for (const [language, words] of Object.entries(keywords)) {
    const given = keywordOf(text, language);
    if (words.out.includes(given)) return true;
    if (words.in.includes(given)) return false;
  }
  return null;
}

/** @throws Error that says which word or language cannot be. */
export function readKeywords(language: string, given: Keywords): Keywords {
  if (Intl.DateTimeFormat.supportedLocalesOf([language]).length === 0) {
    throw new Error(`${language} is no language; give one such as en, de or pt-BR`);
  }
  const read = (words: readonly string[]): string[] => {
    const all = [...new Set(words.map((word) => keywordOf(word, language)))];
    const unfit = all.find((word) => word === '' || word.length > MAX_KEYWORD_LENGTH);
    if (unfit !== undefined) throw new Error(`a keyword has 1 to ${MAX_KEYWORD_LENGTH} characters`);
    if (all.length > MAX_KEYWORDS) throw new Error(`at most ${MAX_KEYWORDS} keywords of a kind`);
    return all;
  };
  const keywords = { out: read(given.out), in: read(given.in) };
  const both = keywords.out.find((word) => keywords.in.includes(word));
  if (both !== undefined) throw new Error(`${both} cannot opt out and in`);
  return keywords;
}
