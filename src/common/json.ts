export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Characters that PostgreSQL stores neither in text nor in jsonb: U+0000 and unpaired surrogates. */
// oxlint-disable-next-line no-control-regex -- U+0000 is the point
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;
const EVERY_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');

export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** The text with U+FFFD for each character that cannot be stored. */
export function storableText(text: string): string {
  return isStorable(text) ? text : text.replace(EVERY_UNSTORABLE, '\uFFFD');
}

/** JSON text with the keys of every object sorted, so that equal values give equal texts. Undefined is left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  // Runs for every accepted message, so it builds the text in one pass, without lists of pairs.
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}
