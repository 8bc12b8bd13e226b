import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from './scope.js';

/** A folder that is removed when the scope closes. */
export function temporaryFolder(scope: Scope, purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `herald-${purpose}-`));
  scope.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
