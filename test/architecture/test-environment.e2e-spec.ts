import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, runInThisContext } from 'node:vm';
import { databaseClock } from '../../src/common/clock.js';
import { newId, timeOfId } from '../../src/common/ids.js';
import { ROOT } from '../support/project-files.js';

interface Environment {
  teardown: () => Promise<void>;
}
type EnvironmentClass = new (context: { projectConfig: object }) => Environment;

const load = createRequire(import.meta.url);
const TestEnvironment = load('../../scripts/lib/test-environment.cjs') as EnvironmentClass;
const global = globalThis as Record<string, unknown>;

describe('the environment of a test file', () => {
  const { fetch } = globalThis;
  const folder = process.cwd();

  it('undoes what the file changed in the process', async () => {
    const environment = new TestEnvironment({ projectConfig: { fakeTimers: {} } });
    global.fetch = () => undefined;
    global.addedByAFile = true;
    process.env.ADDED_BY_A_FILE = 'yes';
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = 'production';
    process.exitCode = 3;
    process.chdir('/');
    const stop = () => undefined;
    process.on('SIGTERM', stop);
    process.once('uncaughtException', stop);

    await environment.teardown();

    expect(globalThis.fetch).toBe(fetch);
    expect('addedByAFile' in global).toBe(false);
    expect(process.env.ADDED_BY_A_FILE).toBeUndefined();
    expect(process.env.NODE_ENV).toBe(NODE_ENV);
    expect(process.exitCode).toBeUndefined();
    expect(process.cwd()).toBe(folder);
    expect(process.listeners('SIGTERM')).not.toContain(stop);
    expect(process.listeners('uncaughtException')).not.toContain(stop);
  });
});

describe('the packages of a test file', () => {
  it('are those of the worker, in its realm', async () => {
    expect((await import('typeorm')).DataSource).toBe((load('typeorm') as typeof import('typeorm')).DataSource);
    expect(Buffer.alloc(1).buffer).toBeInstanceOf(ArrayBuffer);
    expect(load('node:os').cpus()).toBeInstanceOf(Array);
  });
});

// With TEST_JEST_LOADER=own it is that of its sources.
(process.env.TEST_JEST_LOADER === 'built' ? describe : describe.skip)('the product of a test file', () => {
  it('is the built one, which the worker keeps', async () => {
    const nodesOwn = runInThisContext('(path) => import(path)', {
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }) as (path: string) => Promise<unknown>;
    const built = (await nodesOwn(join(ROOT, 'dist/src/common/ids.js'))) as typeof import('../../src/common/ids.js');
    expect((await import('../../src/common/ids.js')).newId).toBe(built.newId);
  });

  it('has none of the time of the file before', async () => {
    const [at, later] = [performance.now(), databaseClock.now() + 3_600_000];
    databaseClock.measured(later, at, at);
    newId();
    // As Jest loads it before each file.
    await import(`../support/setup.js?${later}`);
    expect(databaseClock.ageMs).toBe(Infinity);
    expect(timeOfId(newId())).toBeLessThan(later);
  });

  it('keeps what its decorators said', async () => {
    const { getMetadataArgsStorage } = await import('typeorm');
    const before = getMetadataArgsStorage();
    delete global.typeormMetadataArgsStorage;
    try {
      const environment = new TestEnvironment({ projectConfig: { fakeTimers: {} } });
      const made = getMetadataArgsStorage();
      await environment.teardown();
      expect(getMetadataArgsStorage()).toBe(made);
    } finally {
      global.typeormMetadataArgsStorage = before;
    }
  });
});
