import { NO_AUDIT } from '../../../test/support/no-audit.js';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { systemClock } from '../../common/clock.js';
import { loadConfig } from '../../infrastructure/config/load-config.js';
import { dataSourceOptions } from '../../infrastructure/database/data-source.js';
import { Database } from '../../infrastructure/database/database.js';
import { newKey, parseKey } from './api-key-format.js';
import { ApiKeysRepository } from './keys.repository.js';
import { KeyUsage } from './key-usage.js';
import { ApiKeysService } from './keys.service.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import type { Caller } from './caller.decorator.js';
import { OrganizationEntity } from '../workspaces/entities/workspace.entity.js';
import { ApiKeyEntity } from './entities/api-key.entity.js';
import { WorkspacesRepository } from '../workspaces/workspaces.repository.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';

let test: TestDatabase;
let source: DataSource;
let database: Database;
let organizationId: string;
let workspaces: WorkspacesService;

class CountingRepository extends ApiKeysRepository {
  reads: string[][] = [];

  override readStored(ids: readonly string[]) {
    this.reads.push([...ids]);
    return super.readStored(ids);
  }
}

function processOf() {
  const config = loadConfig({
    env: { NODE_ENV: 'test', DATABASE_URL: test.url, RATE_LIMIT_PER_SECOND: '50', RATE_LIMIT_BURST: '100' },
    persistSecrets: false,
  });
  const invalidation = new PgNotifier(database, config);
  const repository = new CountingRepository(database);
  const keys = new ApiKeysService(repository, database, invalidation, config, NO_AUDIT);
  return { keys, repository, invalidation, config };
}

beforeAll(async () => {
  test = await createTestDatabase();
  const options = dataSourceOptions({ url: test.url, poolSize: 5, queryTimeoutMs: 10_000 });
  source = new DataSource({ ...options, entities: [OrganizationEntity, ApiKeyEntity] });
  await source.initialize();
  database = new Database(source);
  const { invalidation, config } = processOf();
  workspaces = new WorkspacesService(new WorkspacesRepository(database), database, invalidation, config, NO_AUDIT);
  organizationId = (await workspaces.create('Lighthouse Coffee')).id;
});

afterAll(async () => {
  await source.destroy();
  await test.drop();
});

async function codeOf(work: () => Caller | Promise<Caller>): Promise<string> {
  try {
    await work();
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('ApiKeysService', () => {
  it('makes a key that is known by its hash only', async () => {
    const { keys } = processOf();
    const issued = await keys.create({ organizationId, name: 'shop', scopes: ['messages:write', 'messages:write'] });
    expect(issued).toMatchObject({ name: 'shop', scopes: ['messages:write'], expiresAt: null, revokedAt: null });
    const secret = parseKey(issued.key)?.secret ?? '';
    expect(secret).toHaveLength(32);
    const [row] = await database.query<{ text: string }>(
      'select row_to_json(api_key)::text as text from api_key where id = $1',
      [issued.id],
    );
    expect(row?.text).not.toContain(secret);
    const listed = (await keys.list(organizationId)).filter((key) => key.id === issued.id);
    expect(listed).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain('secretHash');
  });

  it('finds the caller of a key, the second time without asking the database', async () => {
    const { keys, repository } = processOf();
    const { key, id } = await keys.create({ organizationId, name: 'a', scopes: ['messages:read'] });
    const caller = await keys.authenticate(key);
    expect(caller).toMatchObject({ organizationId, apiKeyId: id, apiPaidUntil: null });
    expect([...caller.scopes]).toEqual(['messages:read']);
    expect(caller.rateLimits).toEqual({ ratePerSecond: 50, burst: 100, policy: '"default";q=100;w=2' });
    expect(keys.authenticate(key)).toBe(caller);
    expect(repository.reads).toHaveLength(1);
  });

  it('reads a key once for many requests that come together, and different keys in one statement', async () => {
    const { keys, repository } = processOf();
    const { key, id } = await keys.create({ organizationId, name: 'a', scopes: [] });
    const invented = Array.from({ length: 20 }, () => newKey('live'));
    const codes = await Promise.all([
      ...Array.from({ length: 50 }, () => codeOf(() => keys.authenticate(key))),
      ...invented.map(({ text }) => codeOf(() => keys.authenticate(text))),
    ]);
    expect(new Set(codes.slice(0, 50))).toEqual(new Set(['admitted']));
    expect(new Set(codes.slice(50))).toEqual(new Set(['API_KEY_INVALID']));
    expect(repository.reads.flat().filter((read) => read === id)).toHaveLength(1);
    expect(repository.reads.length).toBeLessThanOrEqual(2);
  });

  it('does not query the database for a key whose checksum is wrong', async () => {
    const { keys, repository } = processOf();
    const { text } = newKey('live');
    const mistyped = `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`;
    expect(await codeOf(() => keys.authenticate(mistyped))).toBe('API_KEY_INVALID');
    expect(repository.reads).toEqual([]);
  });

  it('never keeps a negative answer: a key made a moment after it was refused works', async () => {
    const { keys, repository } = processOf();
    const { id, text } = newKey('live');
    expect(await codeOf(() => keys.authenticate(text))).toBe('API_KEY_INVALID');
    expect(await codeOf(() => keys.authenticate(text))).toBe('API_KEY_INVALID');
    expect(repository.reads.flat()).toEqual([id, id]);
  });

  it('refuses the right id with another secret', async () => {
    const { keys } = processOf();
    const { key, id } = await keys.create({ organizationId, name: 'a', scopes: [] });
    await keys.authenticate(key);
    const { formatKey } = await import('./api-key-format.js');
    const forged = formatKey({ mode: 'live', id, secret: newKey('live').secret });
    expect(await codeOf(() => keys.authenticate(forged))).toBe('API_KEY_INVALID');
  });

  it('refuses a key that expired, by the database clock and while it is cached', async () => {
    const { keys, repository } = processOf();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { key } = await keys.create({ organizationId, name: 'short', scopes: [], expiresAt });
    const { id } = parseKey(key) as { id: string };
    // As where it has half a second left when it is read.
    const readStored = repository.readStored.bind(repository);
    repository.readStored = async (ids) =>
      (await readStored(ids)).map((stored) => stored && { ...stored, expiresInMs: 500 });
    let nowMs = 0;
    const clock = import.meta.jest.spyOn(systemClock, 'monotonic').mockImplementation(() => nowMs);
    const codes = [await codeOf(() => keys.authenticate(key))];
    nowMs = 499;
    codes.push(await codeOf(() => keys.authenticate(key)));
    nowMs = 500;
    codes.push(await codeOf(() => keys.authenticate(key)));
    clock.mockRestore();
    expect(codes).toEqual(['admitted', 'admitted', 'API_KEY_EXPIRED']);
    expect(repository.reads).toHaveLength(1);
    expect(await codeOf(() => processOf().keys.authenticate(key))).toBe('admitted');
    await database.execute(`update api_key set expires_at = clock_timestamp() where id = $1`, [id]);
    expect(await codeOf(() => processOf().keys.authenticate(key))).toBe('API_KEY_EXPIRED');
  });

  it('refuses a revoked key in another process within the cache time, and says why', async () => {
    const [one, other] = [processOf(), processOf()];
    const { key, id } = await one.keys.create({ organizationId, name: 'gone', scopes: [] });
    await other.keys.authenticate(key);
    const revoked = await one.keys.revoke(id);
    expect(revoked.revokedAt).toBeInstanceOf(Date);
    // No notice is listened to here, so this is what a process does whose connection for notices is down.
    const clock = import.meta.jest.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now() + 2_000);
    const code = await codeOf(() => other.keys.authenticate(key));
    clock.mockRestore();
    expect(code).toBe('API_KEY_REVOKED');
  });

  it('refuses a key at once where the notice of its end arrives, however often its text was found right', async () => {
    const { keys, invalidation } = processOf();
    const { key, id } = await keys.create({ organizationId, name: 'noticed', scopes: [] });
    await keys.authenticate(key);
    await keys.authenticate(key);
    await keys.revoke(id);
    invalidation['receive'](`api_key ${id}`);
    expect(await codeOf(() => keys.authenticate(key))).toBe('API_KEY_REVOKED');
  });

  it('revoking twice keeps the first time', async () => {
    const { keys } = processOf();
    const { id } = await keys.create({ organizationId, name: 'gone', scopes: [] });
    const first = await keys.revoke(id);
    expect((await keys.revoke(id)).revokedAt).toEqual(first.revokedAt);
    await expect(keys.revoke('000000000000')).rejects.toThrow('there is no API key');
  });

  it('rotates: both keys work for the overlap, then the old one has expired', async () => {
    const { keys } = processOf();
    const old = await keys.create({ organizationId, name: 'shop', scopes: ['media:read'] });
    const fresh = await keys.rotate(old.id, 3_600);
    expect(fresh).toMatchObject({ name: 'shop', scopes: ['media:read'], expiresAt: null });
    expect(await codeOf(() => keys.authenticate(old.key))).toBe('admitted');
    expect(await codeOf(() => keys.authenticate(fresh.key))).toBe('admitted');
    await database.execute(`update api_key set expires_at = expires_at - interval '2 hours' where id = $1`, [old.id]);
    expect(await codeOf(() => processOf().keys.authenticate(old.key))).toBe('API_KEY_EXPIRED');
    expect(await codeOf(() => processOf().keys.authenticate(fresh.key))).toBe('admitted');
  });

  it('rotates without overlap by revoking, and never lengthens a life', async () => {
    const { keys } = processOf();
    const old = await keys.create({ organizationId, name: 'leaked', scopes: [] });
    await keys.rotate(old.id, 0);
    expect(await codeOf(() => processOf().keys.authenticate(old.key))).toBe('API_KEY_REVOKED');
    const expiresAt = new Date(Date.now() + 60_000);
    const short = await keys.create({ organizationId, name: 'short', scopes: [], expiresAt });
    await keys.rotate(short.id, 3_600);
    expect((await keys.getById(short.id)).expiresAt).toEqual(expiresAt);
  });

  it('writes the time of last use in batches, once a minute a key', async () => {
    const { keys } = processOf();
    const { key, id } = await keys.create({ organizationId, name: 'used', scopes: [] });
    await keys.authenticate(key);
    await keys.authenticate(key);
    expect((await keys.getById(id)).lastUsedAt).toBeNull();
    await keys.onModuleDestroy();
    const first = (await keys.getById(id)).lastUsedAt;
    expect(first).toBeInstanceOf(Date);
    const again = processOf();
    await again.keys.authenticate(key);
    await again.keys.onModuleDestroy();
    expect((await keys.getById(id)).lastUsedAt).toEqual(first);
  });

  it('takes limits and payment from the workspace', async () => {
    const paidUntil = new Date(Date.now() + 60_000);
    const workspace = await workspaces.create('Paid');
    await workspaces.setSubscription(workspace.id, paidUntil);
    await workspaces.setLimits(workspace.id, { ratePerSecond: 7, rateBurst: 10 });
    const { keys } = processOf();
    const { key } = await keys.create({ organizationId: workspace.id, name: 'a', scopes: [] });
    const caller = await keys.authenticate(key);
    expect(caller.apiPaidUntil).toEqual(paidUntil);
    expect(caller.rateLimits).toEqual({ ratePerSecond: 7, burst: 10, policy: '"default";q=10;w=2' });
    await expect(workspaces.setSubscription('no-uuid', paidUntil)).rejects.toThrow('there is no workspace');
  });
});

describe('KeyUsage', () => {
  it('hands out each key once a minute', () => {
    const clock = { now: 1 };
    const usage = new KeyUsage({ monotonic: () => clock.now });
    usage.note('a');
    usage.note('a');
    usage.note('b');
    expect(usage.takePending()).toEqual(['a', 'b']);
    clock.now = 60_000;
    usage.note('a');
    expect(usage.takePending()).toEqual([]);
    clock.now = 60_002;
    usage.note('a');
    expect(usage.takePending()).toEqual(['a']);
  });
});
