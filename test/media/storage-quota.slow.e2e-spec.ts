import { addPending, filesOf, noTemporaryFiles, pending, upload, uploaded } from './fixture.js';
import { pdf } from './samples.js';
import { runHerald } from '../support/herald-process.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const FILE = pdf(10_000);

describe('the storage of a workspace', () => {
  let test: TestApp;
  let sender: TestSender;
  let env: Record<string, string>;

  beforeAll(async () => {
    test = await startTestApp();
    env = { DATABASE_URL: test.databaseUrl, DATA_DIR: test.dataDir, MEDIA_WORKSPACE_LIMIT_MIB: '5' };
  });
  afterAll(async () => test?.stop());
  beforeEach(async () => {
    sender = await test.sender();
  });

  const limit = (bytes: number | null) =>
    test.database.execute('update organization set storage_limit_bytes = $2 where id = $1', [
      sender.workspace.id,
      bytes,
    ]);
  const used = async () =>
    (
      await test.database.query<{ used: number }>(
        'select used_bytes::float8 as used from media_usage where organization_id = $1',
        [sender.workspace.id],
      )
    )[0]?.used ?? 0;
  const send = () => upload(test, sender, { file: FILE, filename: 'a.pdf' });

  it('refuses an upload beyond its limit, and takes one again when another was deleted', async () => {
    await limit(2 * FILE.length + 1);
    const first = await uploaded(test, sender, { file: FILE });
    await uploaded(test, sender, { file: FILE });
    const { status, body } = await send();
    expect([status, body.error]).toEqual([
      400,
      expect.objectContaining({
        code: 'MEDIA_STORAGE_FULL',
        limit_bytes: 2 * FILE.length + 1,
        used_bytes: 2 * FILE.length,
        message: expect.stringContaining('delete files'),
      }),
    ]);
    const other = await test.sender();
    expect((await upload(test, other, { file: FILE })).status).toBe(201);
    await sender.api.request({ method: 'DELETE', path: `/media/${first.id}` });
    expect(await used()).toBe(FILE.length);
    expect((await send()).status).toBe(201);
  });

  it('of many uploads at once takes as many as fit, and keeps no byte of the others', async () => {
    await limit(5 * FILE.length);
    const files = (await filesOf(test.dataDir)).length;
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const codes = answers.map(({ status, body }) => `${status} ${body.error?.code ?? ''}`).sort();
    expect(codes).toEqual([...Array(5).fill('201 '), ...Array(15).fill('400 MEDIA_STORAGE_FULL')]);
    expect(await used()).toBe(5 * FILE.length);
    await noTemporaryFiles(test.dataDir);
    expect(await filesOf(test.dataDir)).toHaveLength(files + 5);
  });

  it('refuses what says that it is too large before a byte of it is stored', async () => {
    await limit(100);
    const { status, body } = await upload(test, sender, { file: pdf(300_000) });
    expect([status, body.error.code]).toEqual([400, 'MEDIA_STORAGE_FULL']);
  });

  it('lets customers’ files wait until there is space, and then fetches and counts them', async () => {
    await limit(0);
    const item = pending(sender, { platformMediaId: await incoming() });
    await addPending(test, [item]);
    const row = async () =>
      (
        await test.database.query<{ status: string; failure: string | null; tries: number }>(
          'select status, failure, tries from media_object where id = $1',
          [item.id],
        )
      )[0];
    const due = () =>
      test.database.execute('update media_object set next_attempt_at = clock_timestamp() where id = $1', [item.id]);
    await waitFor(async () => ((await row())?.failure ?? '').includes('storage is full'));
    expect(await row()).toMatchObject({ status: 'pending' });
    await limit(null);
    await due();
    await waitFor(async () => (await row())?.status === 'stored');
    expect(await used()).toBeGreaterThan(0);
  });

  it('of many customers’ files at once fetches as many as fit', async () => {
    await limit(2 * FILE.length);
    const platformMediaId = await incoming();
    const items = Array.from({ length: 8 }, () => pending(sender, { platformMediaId }));
    await addPending(test, items);
    const ids = items.map(({ id }) => id);
    const tried = `select count(*)::integer as count from media_object
      where id = any($1) and lease_owner is null and (status = 'stored' or failure is not null)`;
    await waitFor(async () => (await test.database.count(tried, [ids])) === ids.length);
    expect(await used()).toBe(2 * FILE.length);
    const waiting = `select count(*)::integer as count from media_object
      where id = any($1) and status = 'pending' and failure like '%storage is full%'`;
    expect(await test.database.count(waiting, [ids])).toBe(6);
    await noTemporaryFiles(test.dataDir);
  });

  it('is set and shown on the command line, as are the rates', async () => {
    const json = async (...command: string[]) => {
      const { code, stdout } = await runHerald([...command, '--json'], env);
      return [code, JSON.parse(stdout)] as const;
    };
    const { id } = sender.workspace;
    const [, shown] = await json('workspace', 'show', id);
    expect(shown).toMatchObject({ storage_limit_bytes: null, effective: { storage_limit_bytes: 5 * 1_048_576 } });
    const limits = ['workspace', 'limits', '--workspace', id];
    expect(await json(...limits, '--storage-bytes', '25000', '--rate', '7', '--burst', '9')).toEqual([
      0,
      expect.objectContaining({ storage_limit_bytes: 25_000, rate_per_second: 7, rate_burst: 9 }),
    ]);
    await waitFor(async () => (await sender.api.get('/media')).headers.get('ratelimit-policy') === '"default";q=9;w=2');
    await uploaded(test, sender, { file: FILE });
    const [, listed] = await json('workspace', 'list');
    expect(listed).toContainEqual(expect.objectContaining({ id, storage_used_bytes: FILE.length }));
    expect(await json(...limits, '--rate', 'default', '--storage-bytes', 'default')).toEqual([
      0,
      expect.objectContaining({ storage_limit_bytes: null, rate_per_second: null, rate_burst: 9 }),
    ]);
    for (const wrong of ['0', 'many', '-1']) {
      expect((await runHerald([...limits, '--rate', wrong], env)).code).toBe(2);
    }
    expect(await json('subscription', 'set', '--workspace', id, '--paid-until', 'none')).toEqual([
      0,
      expect.objectContaining({ api_paid_until: null }),
    ]);
    const [, project] = await json('otp-project', 'create', '--workspace', id, '--mode', 'sandbox');
    const grant = ['otp-package', 'grant', '--country', 'DE', '--limit', '5', '--project', project.id];
    expect(await json(...grant)).toEqual([
      1,
      {
        error: expect.objectContaining({
          code: 'OTP_PACKAGE_NOT_POSSIBLE',
          message: expect.stringContaining('is a sandbox'),
        }),
      },
    ]);
    const { stdout } = await runHerald(['workspace', 'list'], env);
    expect(stdout).toContain('9.8 KiB of 5 MiB');
  });

  /** A file at the simulator, as a customer's message brings it. */
  async function incoming(): Promise<string> {
    const form = new FormData();
    form.append('messaging_product', 'whatsapp');
    form.append('file', new Blob([new Uint8Array(FILE)], { type: 'application/pdf' }), 'a.pdf');
    const url = `${test.simulatorUrl}/v26.0/${sender.connection.phoneNumberId}/media`;
    const headers = { authorization: `Bearer token-${sender.connection.id}` };
    const answer = (await (await fetch(url, { method: 'POST', headers, body: form })).json()) as { id: string };
    return answer.id;
  }
});
