import { randomUUID } from 'node:crypto';
import { ApiClient } from '../support/api-client.js';
import { Factories, scenarioPhone } from '../support/factories.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { openTestDatabase, type OpenTestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

describe('a stop with a send in flight', () => {
  const dataDir = temporaryDataDir();
  let database: OpenTestDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(async () => {
    await database.close();
    dataDir.remove();
  });

  it('takes requests for a while yet, says that it is not ready, and leaves the message for the lease, neither lost nor sent again', async () => {
    const herald = await HeraldProcess.start({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir.path,
      DEMO: 'true',
      // So long that the two looks below fall into it where this process stands still for a moment.
      SHUTDOWN_TIMEOUT_MS: '10000',
      SHUTDOWN_DRAIN_MS: '3000',
      // Far beyond the stop, which must not wait for this answer.
      WHATSAPP_TIMEOUT_MS: '19000',
    });
    const demo = await demoOf(dataDir.path);
    const api = new ApiClient(herald.ready.base_url, demo.api_key);
    const slow = scenarioPhone('0007');
    const connection = { id: demo.connection_id, organizationId: demo.organization_id };
    await new Factories(database.database).conversation({ connection, phone: slow });
    const sent = await api.post(
      '/messages',
      { connection_id: demo.connection_id, to: `+${slow}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    const status = async (): Promise<string> => {
      const [row] = await database.database.query<{ status: string }>('select status from message_view where id = $1', [
        sent.body.data.id,
      ]);
      return row?.status ?? 'missing';
    };
    await waitFor(async () => (await status()) === 'processing');
    const ending = herald.end('SIGTERM');
    const ready = await waitFor(async () => {
      const answer = await api.get('/health/ready');
      return answer.status === 503 && answer;
    });
    expect(ready.headers.get('connection')).toBe('close');
    const late = await api.get('/messages');
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    const ended = await ending;
    expect(ended).toMatchObject({ code: 0, signal: null });
    // While requests are still taken, the platform's own notification may settle it.
    expect(['processing', 'outcome_unknown', 'sent', 'delivered', 'read']).toContain(await status());
  });
});

async function demoOf(dataDir: string) {
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(`${dataDir}/demo.json`, 'utf8')) as {
    api_key: string;
    connection_id: string;
    organization_id: string;
  };
}
