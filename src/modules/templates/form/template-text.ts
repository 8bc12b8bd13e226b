/** Longest text that filling in makes. WhatsApp's own limit for a filled body is 1,024 characters. */
export const FILLED_LIMIT = 16_384;

/** Braces inside end the attempt, so that the search stays linear whatever the text. */
const VARIABLE = /\{\{([^{}]*)\}\}/g;

/** One `{{name}}` in a text. */
export interface Placeholder {
  /** `1`, `first_name`; without the white space around it. Never empty. */
  name: string;
  /** Where it begins and where the text goes on, in UTF-16 units. */
  start: number;
  end: number;
}

/** The placeholders of a text in order, repeated ones each time. `{{}}` is text. */
export function placeholdersIn(text: string): Placeholder[] {
  const found: Placeholder[] = [];
  for (const match of text.matchAll(VARIABLE)) {
    const name = (match[1] ?? '').trim();
    if (name !== '') found.push({ name, start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/** The names in a text, each once, in order of appearance. */
export function variableNamesIn(text: string): string[] {
  return [...new Set(placeholdersIn(text).map(({ name }) => name))];
}

/**
 * Puts values in the place of the placeholders, in one pass: a value that looks like a placeholder stays as it is.
 * A placeholder without a value stays too. What is longer than 16,384 UTF-16 units is cut.
 */
export function fillIn(text: string, valueOf: (name: string) => string | undefined): string {
  let filled = '';
  let from = 0;
  for (const { name, start, end } of placeholdersIn(text)) {
    filled += text.slice(from, start) + (valueOf(name) ?? text.slice(start, end));
    from = end;
    if (filled.length > FILLED_LIMIT) return cut(filled);
  }
  return cut(filled + text.slice(from));
}

function cut(text: string): string {
  if (text.length <= FILLED_LIMIT) return text;
  // Half a surrogate pair could not be stored.
  const last = text.charCodeAt(FILLED_LIMIT - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? FILLED_LIMIT - 1 : FILLED_LIMIT);
}
