/**
 * The URL of a text, or null where it is none. `URL.canParse` is not used anywhere: on Node 20 its optimised form takes
 * Latin-1 letters for broken UTF-8, so that it refuses `https://bücher.de` once it has been called often enough.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
