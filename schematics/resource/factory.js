import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addMigration } from '../lib/migration.js';
import { namesOf } from '../lib/names.js';
import { create, filled, insert, inserted } from '../lib/tree.js';

const FILES = fileURLToPath(new URL('./files/', import.meta.url));
const SUFFIX = '.template';

/** `npx nest g resource labels`: everything that a resource of the API needs, from the route to the test. */
export function main(options) {
  return async (tree) => {
    const names = namesOf(options.name);
    if (tree.exists(`src/modules/${names.files}/${names.files}.module.ts`)) {
      throw new Error(`src/modules/${names.files} is there already`);
    }
    for (const template of readdirSync(FILES, { recursive: true })
      .map(String)
      .filter((path) => path.endsWith(SUFFIX))) {
      const path = template.replaceAll('\\', '/').slice(0, -SUFFIX.length);
      const target = inserted(path, names);
      await create(tree, target, filled(FILES + template, names));
    }
    await addTable(tree, names);
    await makeKnown(tree, names);
  };
}

async function addTable(tree, { files, table, wordsMany }) {
  const up = [
    `create table ${table} (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    name text not null check (char_length(name) between 1 and 100),
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  )`,
    `create index ${table}_list on ${table} (organization_id, created_at desc, id desc)`,
  ];
  const about = `The ${wordsMany} of the workspaces.`;
  await addMigration(tree, files, up, [`drop table ${table}`], about);
}

/** Names the module wherever the codebase keeps a list. */
async function makeKnown(tree, { files, Many, Title, wordsMany }) {
  const app = 'src/app.module.ts';
  const importLine = `import { ${Many}Module } from './modules/${files}/${files}.module.js';\n`;
  await insert(tree, app, 'import { MediaModule }', importLine);
  await insert(tree, app, '    TemplatesModule,\n', `    ${Many}Module,\n`);
  await insert(tree, '.dependency-cruiser.cjs', '  messages: [', `  '${files}': [],\n`);
  await insert(tree, 'src/infrastructure/http/scopes.ts', "  'otp:send',", `  '${files}:read',\n  '${files}:write',\n`);
  const tag = `  ['${Title}', 'The ${wordsMany} of the workspace. Scopes: \`${files}:read\`, \`${files}:write\`.'],\n`;
  await insert(tree, 'src/infrastructure/http/openapi.ts', "  ['One-time codes'", tag);
}
