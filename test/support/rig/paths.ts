import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with the compiled application and, beside it, these instruments. */
export const DIST = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
export const ROOT = dirname(DIST);

/** A compiled file, by its path from the root without the ending: `src/main`. */
export function compiled(path: string): string {
  return join(DIST, `${path}.js`);
}
