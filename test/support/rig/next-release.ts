import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './folder.js';
import { DIST, ROOT } from './paths.js';
import type { Scope } from './scope.js';

const MIGRATION = 'NextRelease9999999999999';
/** As a later release may do: tables and columns are added, and nothing is taken away. */
const STATEMENTS = [
  'create table next_release (id uuid primary key, organization_id uuid not null)',
  'alter table message add column next_release text',
  `alter table message_queue add column next_release integer not null default 0`,
  'create index message_state_next_release on message_state (organization_id, accepted_at)',
];

/**
 * Makes a later release out of the compiled program: it has a migration more, and the sweeps that are named have other
 * names.
 *
 * @returns its main file
 * @throws Error where the program has no such sweep
 */
export function makeNextRelease(scope: Scope, sweeps: readonly string[]): string {
  const folder = temporaryFolder(scope, 'next-release');
  for (const part of ['src', 'migrations', 'simulator'])
    cpSync(join(DIST, part), join(folder, 'dist', part), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const sweep of sweeps) rename(join(folder, 'dist/src'), sweep);

  writeFileSync(
    join(folder, 'dist/migrations/next-release.js'),
    `import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';
export class ${MIGRATION} extends SqlMigration {
  name = '${MIGRATION}';
  upSql = ${JSON.stringify(STATEMENTS)};
  async down() { throw new Error('nothing goes back'); }
}
`,
  );
  const list = join(folder, 'dist/migrations/all.js');
  const text = readFileSync(list, 'utf8');
  const end = text.lastIndexOf('];');
  if (end < 0) throw new Error('dist/migrations/all.js is no list of migrations');
  writeFileSync(
    list,
    `import { ${MIGRATION} } from './next-release.js';\n${text.slice(0, end)}${MIGRATION}${text.slice(end)}`,
  );
  return join(folder, 'dist/src/main.js');
}

function rename(folder: string, sweep: string): void {
  let found = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(`name: '${sweep}'`)) continue;
    writeFileSync(file, text.replaceAll(`name: '${sweep}'`, `name: '${sweep}_next'`));
    found++;
  }
  if (found === 0) throw new Error(`there is no sweep named ${sweep}`);
}
