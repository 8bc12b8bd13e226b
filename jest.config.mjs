import { createRequire } from 'node:module';

/** The minor version of Jest whose private loader scripts/lib/test-runtime.cjs is known to fit (docs/adr/0003). */
const KNOWN_JEST = /^30\.5\./;

const { version } = createRequire(import.meta.url)('jest-runtime/package.json');
// It takes the product as built, which scripts/test.mjs sees to. TEST_JEST_LOADER=own shows before an update that the tests pass without it.
const quick = KNOWN_JEST.test(version) && process.env.TEST_JEST_LOADER === 'built';
if (!quick)
  process.stderr.write(`Jest ${version} loads product and packages for each file: slower, and nothing else\n`);

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

/**
 * What starts or kills the built program or a server, starts a browser, executes the documentation, fuzzes, floods, fills a database
 * or tries many orders of events: `npm run test:slow`. A change of a route or a rule is shown by the others.
 */
const SLOW = [
  'simulator/src/restart',
  'src/infrastructure/database/embedded/',
  'src/infrastructure/storage/s3-storage',
  'src/modules/message-state/fact-pairs',
  'src/modules/sending/claim/locked-rows',
  'test/browser/',
  'test/cli/demo',
  'test/client/package',
  'test/client/python-client',
  'test/client/samples',
  'test/client/served',
  'test/contract/cost',
  'test/contract/fuzz.e2e',
  'test/contract/large-batches',
  'test/contract/overload',
  'test/destinations/brokers/',
  'test/docs/',
  'test/isolation/delete-workspace',
  'test/isolation/erase',
  'test/isolation/greedy-sweeps',
  'test/isolation/late-reports',
  'test/late-reads/standby',
  'test/media-s3/',
  'test/media-transfer/restart',
  'test/media/hostile-uploads',
  'test/media/refused-uploads',
  'test/media/storage-quota',
  'test/media/uploads-at-once',
  'test/messages/marketing-campaign',
  'test/messages/paused-campaign',
  'test/operations/audit',
  'test/operations/failover',
  'test/operations/image',
  'test/operations/restore',
  'test/otp/at-once',
  'test/otp/canary',
  'test/otp/interleavings',
  'test/pgbouncer/',
  'test/runtime/clock-step',
  'test/runtime/command-line',
  'test/runtime/full-tables',
  'test/runtime/open-transaction',
  'test/runtime/queue-away',
  'test/runtime/start',
  'test/runtime/stop',
  'test/scale-out/',
  'test/webhook-net/memory',
  'test/webhook-net/receiver-guide',
  'test/webhook/isolation',
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
