import { create, insert } from './tree.js';

/** Adds a migration and names it in migrations/all.ts, after all that are there. */
export async function addMigration(tree, name, up, down, about) {
  const newest = Math.max(0, ...tree.getDir('migrations').subfiles.map((file) => Number(file.slice(0, 13)) || 0));
  const timestamp = Math.max(Date.now(), newest + 1);
  const className = `${name.replaceAll(/(^|-)([a-z0-9])/g, (_all, _dash, letter) => letter.toUpperCase())}${timestamp}`;
  await create(tree, `migrations/${timestamp}-${name}.ts`, content(className, up, down, about));
  const importLine = `import { ${className} } from './${timestamp}-${name}.js';\n`;
  await insert(tree, 'migrations/all.ts', '\n/** Oldest first', importLine);
  await insert(tree, 'migrations/all.ts', '];', `  ${className},\n`);
}

function content(className, up, down, about) {
  return `import { SqlMigration, type Up } from '../src/infrastructure/database/sql-migration.js';

/** ${about} */
export class ${className} extends SqlMigration {
  readonly name = '${className}';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP: Up = [${up.map((sql) => `\`${sql}\``).join(',\n')}];

/** Also from an UP that ended after one of its steps: \`if exists\`. */
const DOWN: readonly string[] = [${down.map((sql) => `\`${sql}\``).join(',\n')}];
`;
}
