// Writes the generated files, or with --check says which of them are out of date.
import 'reflect-metadata';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { format, resolveConfig } from 'prettier';
import { buildIfStale } from './build-if-stale.mjs';
import { renderCliPage } from './lib/cli-page.mjs';
import { renderClientTypes } from './lib/client-types.mjs';
import { renderChartSchema } from './lib/chart-schema.mjs';
import { renderMcpTools } from './lib/mcp-tools.mjs';
import { renderN8nActions } from './lib/n8n-actions.mjs';
import { renderPythonClient } from './lib/python-client.mjs';
import { renderEnvExample } from './lib/env-example.mjs';
import { renderErrorsPage } from './lib/errors-page.mjs';
import { renderSchema } from './lib/schema-page.mjs';
import { withStatesDiagram } from './lib/states-diagram.mjs';
import { makeRunFolder, startTestPostgres } from './lib/test-postgres.mjs';
import { ROOT } from './lib/root.mjs';

const COMMAND = 'npm run generate';
const CHART_SCHEMA = 'deploy/helm/herald/values.schema.json';
const STATUSES = 'docs/statuses-and-retries.md';

await buildIfStale();

/** A module of the built application; the API's descriptions exist only there, since the compiler makes them. */
const built = (path) => import(new URL(`../dist/src/${path}`, import.meta.url).href);

async function describeApis() {
  const [{ NestFactory }, { AppModule }, { loadConfig }, { buildOpenApiDocument }, { buildAdminDocument }] =
    await Promise.all([
      import('@nestjs/core'),
      built('app.module.js'),
      built('infrastructure/config/load-config.js'),
      built('infrastructure/http/openapi.js'),
      built('infrastructure/http/openapi-admin.js'),
    ]);
  // A preview instantiates nothing: no database, no queue.
  const config = loadConfig({ env: {}, persistSecrets: false });
  const app = await NestFactory.create(AppModule.with(config), { preview: true, logger: false, abortOnError: false });
  return { description: buildOpenApiDocument(app), administration: buildAdminDocument(app) };
}

async function describeSchema() {
  const { migrate } = await built('infrastructure/database/migrate.js');
  const folder = await makeRunFolder();
  const server = await startTestPostgres(folder.path);
  const client = new pg.Client({ connectionString: server.url });
  try {
    await migrate(server.url);
    await client.connect();
    return await renderSchema(async (sql, params) => (await client.query(sql, params)).rows);
  } finally {
    await client.end();
    await server.stop();
    folder.remove();
  }
}

const formatted = async (text) =>
  format(text, { ...(await resolveConfig(join(ROOT, 'docs/README.md'))), parser: 'markdown' });

async function generate() {
  const { description, administration } = await describeApis();
  const { listSettings } = await built('infrastructure/config/settings.js');
  // Their tables were loaded with the application.
  const { declaredErrors } = await built('common/define-errors.js');
  const { ERROR_STATUS } = await built('common/app-error.js');
  const { buildProgram } = await built('cli/program.js');
  const { commandsOf, GUIDES } = await built('cli/guides.js');
  const { placeOf } = await built('cli/runner.js');
  const messages = await built('modules/message-state/message-state.types.js');
  const { TOOLS_OF_ROUTES } = await built('modules/mcp/mcp-tools.js');
  return {
    '.env.example': renderEnvExample(listSettings()),
    [CHART_SCHEMA]: await renderChartSchema(join(ROOT, CHART_SCHEMA), listSettings()),
    'docs/errors.md': renderErrorsPage(declaredErrors(), ERROR_STATUS),
    'docs/command-line.md': await formatted(renderCliPage(commandsOf(buildProgram()), GUIDES, placeOf)),
    'docs/schema.sql': await describeSchema(),
    'openapi.json': `${JSON.stringify(description, null, 2)}\n`,
    'src/modules/mcp/mcp-tools.json': renderMcpTools(description, TOOLS_OF_ROUTES),
    'openapi-admin.json': `${JSON.stringify(administration, null, 2)}\n`,
    'clients/typescript/src/schema.ts': await renderClientTypes('openapi.json', description),
    'clients/typescript/src/admin-schema.ts': await renderClientTypes('openapi-admin.json', administration),
    'integrations/n8n/nodes/Herald/actions.ts': await renderN8nActions(description),
    ...renderPythonClient(description, administration),
    [STATUSES]: withStatesDiagram(readFileSync(join(ROOT, STATUSES), 'utf8'), messages),
  };
}

const isCheck = process.argv.includes('--check');
const stale = [];
for (const [path, content] of Object.entries(await generate())) {
  const file = join(ROOT, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === content) continue;
  stale.push(path);
  if (isCheck) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
if (isCheck && stale.length > 0) {
  process.stderr.write(`out of date: ${stale.join(', ')}\nmend it with: ${COMMAND}\n`);
  process.exitCode = 1;
} else if (stale.length > 0) {
  process.stdout.write(`wrote ${stale.join(', ')}\n`);
}
