import pg from 'pg';
import { newId } from '../../../src/common/ids.js';
import { ApiKeysService } from '../../../src/modules/keys/keys.service.js';
import { OtpProjectsService } from '../../../src/modules/otp/otp-projects.service.js';
import type { TestApp } from '../test-app.js';
import { fillTables, type Filled, type Sizes } from './fill-tables.js';

/** An app whose tables are filled, and who may read them. */
export interface FilledWorld {
  filled: Filled;
  /** Of the workspace that has nearly all. */
  key: string;
  /** Of a small one. */
  foreignKey: string;
  /** Of the project of one-time codes. */
  otpKey: string;
}

export async function fillWorld(test: TestApp, sizes: Sizes): Promise<FilledWorld> {
  const { id: organizationId } = await test.factories.workspace();
  const [own, second] = [
    await test.factories.connection({ organizationId, throughputPerSecond: 1_000 }),
    await test.factories.connection({ organizationId }),
  ];
  const foreign = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
  const key = (await test.factories.apiKey({ organizationId })).text;
  const foreignKey = (await test.factories.apiKey({ organizationId: foreign.organizationId })).text;
  const project = await test.app.get(OtpProjectsService).create({ organizationId, name: 'Shop', mode: 'sandbox' });
  const { key: otpKey } = await test.app.get(ApiKeysService).create({
    organizationId,
    name: 'Shop key',
    scopes: ['otp:send', 'otp:verify', 'otp:read'],
    otpProject: project,
  });
  await test.factories.message({ connection: foreign, status: 'read' });
  const put = await test.api.as(key).request({ method: 'PUT', path: '/webhook', body: { url: 'http://127.0.0.1:9/' } });
  if (put.status !== 200) throw new Error(`PUT /webhook: ${put.status}`);
  const [endpoint] = await test.database.query<{ id: string }>('select id from webhook_endpoint');
  const filled = {
    own,
    second,
    foreign,
    otpProject: project.id,
    file: newId(),
    endpoint: endpoint?.id ?? '',
    event: newId(),
  };
  const pool = new pg.Pool({ connectionString: test.databaseUrl, max: 1 });
  try {
    await fillTables(pool, filled, sizes);
  } finally {
    await pool.end();
  }
  return { filled, key, foreignKey, otpKey };
}
