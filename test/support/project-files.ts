import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folder of the project; Jest runs there. */
export const ROOT = process.cwd();

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.data', 'coverage', 'results']);

/** Paths of all files under a folder of the project, relative to its root, with `/` between folders. */
export function filesUnder(folder: string, matches: (path: string) => boolean = () => true): string[] {
  const found: string[] = [];
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) {
        if (!NOT_OURS.has(entry.name)) walk(inside);
      } else found.push(relative(ROOT, inside).replaceAll('\\', '/'));
    }
  };
  walk(join(ROOT, folder));
  return found.filter(matches).sort();
}

export function readProjectFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
