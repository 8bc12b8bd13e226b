import { createRequire } from 'node:module';

/** The minor version of Jest whose private loader scripts/lib/test-runtime.cjs is known to fit (docs/adr/0003). */
const KNOWN_JEST = /^30\.5\./;

const { version } = createRequire(import.meta.url)('jest-runtime/package.json');
// TEST_JEST_LOADER=own shows before an update that the tests pass without it.
const quick = KNOWN_JEST.test(version) && process.env.TEST_JEST_LOADER !== 'own';
if (!quick) process.stderr.write(`Jest ${version} loads packages for each file: slower, and nothing else\n`);

const base = {
  // Kept between runs, which have a temporary folder each.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testEnvironment: quick ? '<rootDir>/scripts/lib/test-environment.cjs' : 'node',
  ...(quick && { runtime: '<rootDir>/scripts/lib/test-runtime.cjs' }),
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  setupFiles: ['<rootDir>/test/support/setup.ts'],
};

/** What starts or kills the built program, starts a browser, executes the documentation, fuzzes or fills a database: `npm run test:slow`. */
const SLOW = [
  'src/infrastructure/database/embedded/',
  'src/infrastructure/storage/s3-storage',
  'src/modules/message-state/fact-pairs',
  'simulator/src/restart',
  'test/browser/',
  'test/cli/demo',
  'test/client/package',
  'test/client/python-client',
  'test/client/samples',
  'test/client/served',
  'test/contract/cost',
  'test/contract/fuzz.e2e',
  'test/destinations/brokers/',
  'test/docs/',
  'test/isolation/delete-workspace',
  'test/isolation/erase',
  'test/messages/marketing-campaign',
  'test/media/storage-quota',
  'test/media/uploads-at-once',
  'test/media-s3/',
  'test/media-transfer/restart',
  'test/messages/paused-campaign',
  'test/operations/audit',
  'test/operations/failover',
  'test/operations/restore',
  'test/pgbouncer/',
  'test/runtime/clock-step',
  'test/runtime/command-line',
  'test/runtime/queue-away',
  'test/runtime/start',
  'test/runtime/stop',
  'test/scale-out/',
  'test/webhook-net/receiver-guide',
  'test/webhook/kills',
].map((path) => `<rootDir>/${path}`);

const UNIT = ['src', 'simulator', 'bench', 'test'].map((folder) => `<rootDir>/${folder}/**/*.spec.ts`);
const E2E = ['<rootDir>/test/**/*.e2e-spec.ts'];

export default {
  // Of a busy machine; what a test waits for has limits of its own.
  testTimeout: 120_000,
  testSequencer: '<rootDir>/scripts/lib/test-sequencer.mjs',
  projects: [
    { ...base, displayName: 'unit', testMatch: UNIT, testPathIgnorePatterns: SLOW },
    { ...base, displayName: 'e2e', testMatch: E2E, testPathIgnorePatterns: SLOW },
    {
      ...base,
      displayName: 'slow',
      testMatch: SLOW.map((path) => `${path}${path.endsWith('/') ? '**/' : ''}*spec.ts`),
    },
  ],
};
