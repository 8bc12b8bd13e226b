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
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

/** ${about} */
export class ${className} implements MigrationInterface {
  name = '${className}';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [${up.map((sql) => `\`${sql}\``).join(',\n')}];

const DOWN: readonly string[] = [${down.map((sql) => `\`${sql}\``).join(',\n')}];
`;
}
