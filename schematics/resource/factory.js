import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addMigration } from '../lib/migration.js';
import { namesOf } from '../lib/names.js';
import { create, filled, insert, inserted } from '../lib/tree.js';

const FILES = fileURLToPath(new URL('./files/', import.meta.url));
const SUFFIX = '.template';

/** `npx nest g resource labels`: everything that a resource of the API needs, from the route to the test. */
export function main(options) {
  return async (tree, context) => {
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
    await addClientMethods(tree, names);
    context.logger.info(
      'Next: npm run generate, which writes the API description, the client and docs/schema.sql anew.',
    );
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

async function addClientMethods(tree, { files, Many, One, many }) {
  const resources = 'clients/typescript/src/resources.ts';
  const bodies = `export type Create${One} = Body<'${many}_create'>;\nexport type Update${One} = Body<'${many}_update'>;\n`;
  await insert(tree, resources, 'export type Media =', `export type ${One} = Schemas['${One}Response'];\n`);
  await insert(tree, resources, 'export type PutOptOut', bodies);
  const filter = `export type ${Many}Filter = Omit<Query<'${many}_list'>, 'before_id'>;\n`;
  await insert(tree, resources, 'export type OptOutFilter', filter);
  const path = `'/api/v1/${files}`;
  const methods = `    ${many}: {
      list: (filter: R.${Many}Filter = {}) =>
        everyItem(async (place) => answerOf(await api.GET(${path}', { params: { query: { ...filter, ...place } } }))),
      get: async (id: string) => dataOf(await api.GET(${path}/{id}', { params: { path: { id } } })),
      create: async (body: R.Create${One}) => dataOf(await api.POST(${path}', { body })),
      update: async (id: string, body: R.Update${One}) =>
        dataOf(await api.PATCH(${path}/{id}', { params: { path: { id } }, body })),
      delete: async (id: string) => check(await api.DELETE(${path}/{id}', { params: { path: { id } } })),
    },
`;
  await insert(tree, 'clients/typescript/src/client.ts', '    otp: {', methods);
}
