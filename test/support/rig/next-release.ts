import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './folder.js';
import { ROOT } from './paths.js';
import type { Scope } from './scope.js';

/** A compiled Herald: this build, one made of it, or that of an earlier release. */
export interface Program {
  /** For what is said of it. */
  name: string;
  main: string;
  cli: string;
  /** The name of the newest migration that it knows. */
  newest: string;
}

const MIGRATION = 'NextRelease9999999999999';
/** As a later release may do: tables and columns are added, filled and indexed, and nothing is taken away. */
const UP = `[
  'create table next_release (id uuid primary key, organization_id uuid not null)',
  'alter table message add column next_release text',
  'alter table message_queue add column next_release integer not null default 0',
  inBatches({ table: 'message', set: \`next_release = 'filled'\`, where: 'next_release is null', size: 50 }),
  indexConcurrently('message_state_next_release', 'message_state (organization_id, accepted_at)'),
  indexConcurrently('message_next_release', 'message (organization_id, next_release)'),
]`;
const DOWN = `[
  'drop index if exists message_state_next_release, message_next_release',
  'alter table message_queue drop column next_release',
  'alter table message drop column next_release',
  'drop table next_release',
]`;

/** The compiled program in a folder that has `dist`. */
export function programIn(folder: string, name: string): Program {
  const list = readFileSync(join(folder, 'dist/migrations/all.js'), 'utf8');
  const newest = [...list.matchAll(/^\s*(\w+\d{13}),?$/gm)].at(-1)?.[1];
  if (newest === undefined) throw new Error('dist/migrations/all.js is no list of migrations');
  return { name, main: join(folder, 'dist/src/main.js'), cli: join(folder, 'dist/src/cli/main.js'), newest };
}

/**
 * Makes a later release out of the compiled program: it has a migration more, and the sweeps that are named have other
 * names.
 *
 * @param root the folder of the program
 * @throws Error where the program has no such sweep
 */
export function makeNextRelease(scope: Scope, sweeps: readonly string[] = [], root = ROOT): Program {
  const folder = temporaryFolder(scope, 'next-release');
  for (const part of ['src', 'migrations', 'simulator', 'clients'])
    cpSync(join(root, 'dist', part), join(folder, 'dist', part), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const sweep of sweeps) rename(join(folder, 'dist/src'), sweep);

  writeFileSync(
    join(folder, 'dist/migrations/next-release.js'),
    `import { indexConcurrently, inBatches, SqlMigration } from '../src/infrastructure/database/sql-migration.js';
export class ${MIGRATION} extends SqlMigration {
  name = '${MIGRATION}';
  upSql = ${UP};
  downSql = ${DOWN};
}
`,
  );
  const list = join(folder, 'dist/migrations/all.js');
  const text = readFileSync(list, 'utf8');
  writeFileSync(
    list,
    `import { ${MIGRATION} } from './next-release.js';\n${text.replace(/,?\s*\];/, `,\n    ${MIGRATION}\n];`)}`,
  );
  return programIn(folder, 'the next release');
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
