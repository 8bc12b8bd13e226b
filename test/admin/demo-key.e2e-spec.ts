import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoFile } from '../../src/bootstrap/demo-file.js';
import { makeDemo } from '../../src/bootstrap/demo.js';
import { changedConfig } from '../../src/infrastructure/config/config.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const LIST = '/api/admin/v1/workspaces';

describe('the operator key of the demo', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({ env: { DEMO: 'true' } });
  });

  afterAll(() => test?.stop());

  const written = (): DemoFile => JSON.parse(readFileSync(join(test.dataDir, 'demo.json'), 'utf8')) as DemoFile;
  const again = (process: Partial<TestApp['config']['process']>): Promise<DemoFile> => {
    const config = changedConfig(test.config, { process: { ...test.config.process, ...process } });
    return makeDemo(test.app, config, test.baseUrl, null);
  };

  it('opens the admin API, and is the same at the next start', async () => {
    const { operator_key: key, organization_id: id } = written();
    const { status, body } = await test.api.get(LIST, { key });
    expect([status, body.data.map((workspace: { id: string }) => workspace.id)]).toEqual([200, [id]]);
    expect((await again({})).operator_key).toBe(key);
  });

  it.each([{ host: '0.0.0.0' }, { host: '10.0.0.1' }, { production: true }, { adminApi: false }])(
    'is not there with %j',
    async (process) => {
      expect((await again(process)).operator_key).toBeNull();
      expect(written().operator_key).toBeNull();
    },
  );
});
