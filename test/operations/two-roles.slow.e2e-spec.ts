import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { ApiClient } from '../support/api-client.js';
import { readProjectFile } from '../support/project-files.js';
import { startTestApp } from '../support/test-app.js';
import { createEmptyDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

it('the password of the database is changed without an interruption, by the second role of docs/operations.md', async () => {
  const stored = await createEmptyDatabase();
  const admin = new pg.Client({ connectionString: stored.url });
  await admin.connect();
  const own = `own_${randomBytes(6).toString('hex')}`;
  const second = `${own}_b`;
  const urlOf = (role: string, password: string): string => {
    const url = new URL(stored.url);
    url.username = role;
    url.password = password;
    return url.href;
  };
  const database = { url: urlOf(own, 'first'), drop: () => Promise.resolve() };
  const apps: { stop: () => Promise<void> }[] = [];
  try {
    await admin.query(`create role ${own} login password 'first'`);
    await admin.query(`alter database ${new URL(stored.url).pathname.slice(1)} owner to ${own}`);
    const before = await startTestApp({ database, env: { DATABASE_MIGRATE: 'true' } });
    apps.push(before);
    const sender = await before.sender();
    const { phone } = await before.openWindow(sender);
    const clientOf = (baseUrl: string): ApiClient => new ApiClient(baseUrl, sender.key.text);
    const send = async (baseUrl: string): Promise<string> => {
      const answer = await clientOf(baseUrl).post(
        '/messages',
        { connection_id: sender.connection.id, to: phone, type: 'text', text: { body: 'Hello' } },
        { headers: { 'idempotency-key': randomUUID() } },
      );
      expect(answer.status).toBe(202);
      return answer.body.data.id as string;
    };
    const reached = async (baseUrl: string, id: string): Promise<unknown> =>
      waitFor(async () => (await clientOf(baseUrl).get(`/messages/${id}`)).body.data.status === 'read');

    const [, commands = ''] = /`(create role herald_b [^`]+)`/.exec(readProjectFile('docs/operations.md')) ?? [];
    expect(commands).toContain('alter role');
    await admin.query(commands.replaceAll('herald_b', second).replaceAll(/\bherald\b/g, own));
    const env = { DATABASE_URL: urlOf(second, '...'), WHATSAPP_API_URL: before.simulatorUrl ?? '' };
    const after = await startTestApp({ roles: ['api', 'worker'], shareWith: before, env });
    apps.push(after);
    await reached(after.baseUrl, await send(before.baseUrl));
    await admin.query(`alter role ${own} password 'changed'`);
    await reached(before.baseUrl, await send(after.baseUrl));
    const { rows } = await admin.query<{ owner: string }>(
      `select distinct tableowner as owner from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect(rows).toEqual([{ owner: own }]);
    await after.database.execute('create table made_by_the_second ()');
    const made = await admin.query(`select tableowner from pg_tables where tablename = 'made_by_the_second'`);
    expect(made.rows).toEqual([{ tableowner: own }]);
  } finally {
    for (const app of apps.toReversed()) await app.stop();
    await admin.end();
    await stored.drop();
    const server = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await server.connect();
    await server.query(`drop role if exists ${second}, ${own}`);
    await server.end();
  }
});
