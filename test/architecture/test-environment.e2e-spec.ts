import { createRequire } from 'node:module';

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
