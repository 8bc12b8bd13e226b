import { newId } from '../../src/common/ids.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { rowsRead } from '../support/rows-read.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const DONE = 20_000;
/** So many that the planner expects one on every page of the table. */
const WAITING = 2_000;
/** Rows of one statement: a slow machine inserts them well within the time a statement may take. */
const EACH = 1_000;

/**
 * What is written for each row, done with or due later, and waiting: $1 an id, $2 a workspace, $3 its number; `n` counts
 * the rows.
 */
const ROWS: Record<string, { prepare?: string; columns: string; done: string; waiting: string }> = {
  webhook_queue: {
    prepare: `insert into webhook_endpoint (id, organization_id, url, events, active)
      select $1::uuid, $2::uuid, 'https://hooks.example.com/', '{message.received}', true where $3::uuid is not null`,
    columns: 'event_id, organization_id, endpoint_id, due_at',
    done: `uuid_v7(), $2::uuid, $1::uuid, now() + interval '1 hour'`,
    waiting: `uuid_v7(), $2::uuid, $1::uuid, now()`,
  },
  media_object: {
    columns: `id, organization_id, connection_id, direction, type, mime_type, status, storage_key, size_bytes, sha256,
      platform_media_id, next_attempt_at`,
    done: `uuid_v7(), $2::uuid, $3::uuid, 'inbound', 'image', 'image/png', 'stored', uuid_v7(), 1, repeat('0', 64), null,
      null::timestamptz`,
    waiting: `uuid_v7(), $2::uuid, $3::uuid, 'inbound', 'image', 'image/png', 'pending', null::uuid, null::bigint,
      null::text, n::text, now()`,
  },
  platform_notification: {
    columns: 'id, body, state',
    done: `uuid_v7(), '{}'::bytea, 'applied'`,
    waiting: `uuid_v7(), '{}'::bytea, 'stored'`,
  },
  otp_challenge: {
    columns: `id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint, status, code_hash,
      code_key_version, template_language, attempt_id, created_at, expires_at`,
    done: `uuid_v7(), $2::uuid, $1::uuid, 'live', '4915700000000', 'DE', uuid_v7()::text, ''::bytea, 'verified', ''::bytea,
      1, 'en', uuid_v7(), now(), now()`,
    waiting: `uuid_v7(), $2::uuid, $1::uuid, 'live', '4915700000000', 'DE', uuid_v7()::text, ''::bytea, 'queued', ''::bytea,
      1, 'en', uuid_v7(), now(), now()`,
  },
};

let test: TestApp;

// Without a worker: nothing takes what waits.
beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});
afterAll(() => test?.stop());

it.each(Object.entries(ROWS))(
  'the look for work reads a few rows of %s, where many wait behind many that are done',
  async (table, { prepare, columns, done, waiting }) => {
    const { database } = test;
    const { workspace, connection } = await test.sender();
    const ids = [newId(), workspace.id, connection.id];
    const fill = async (values: string, count: number) => {
      for (let from = 1; from <= count; from += EACH) {
        await database.execute(
          `with known as (select $1::uuid, $2::uuid, $3::uuid)
           insert into ${table} (${columns}) select ${values} from known, generate_series(${from}, ${from + EACH - 1}) n`,
          ids,
        );
      }
    };
    if (prepare !== undefined) await database.execute(prepare, ids);
    await fill(done, DONE);
    await fill(waiting, WAITING);
    await database.execute(`analyze ${table}`);
    const sweeps = test.app.get(Sweeps);
    const rows = await rowsRead(database, table, async () => {
      const look = await sweeps['look'](sweeps['sweeps'], false, performance.now());
      expect(look?.work.some((since) => since !== null)).toBe(true);
    });
    expect(rows).toBeLessThan(50);
  },
);
