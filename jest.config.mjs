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
 * What starts or kills the built program or a server, starts a browser, executes the documentation, fuzzes, floods, fills a database,
 * waits for real seconds or tries many orders of events is `npm run test:slow`: files named `*.slow.spec.ts` or
 * `*.slow.e2e-spec.ts`, and all of these folders. A change of a route or a rule is shown by the others.
 */
const SLOW_FOLDERS = [
  'src/infrastructure/database/embedded/',
  'test/browser/',
  'test/destinations/brokers/',
  'test/docs/',
  'test/media-s3/',
  'test/pgbouncer/',
  'test/scale-out/',
].map((path) => `<rootDir>/${path}`);
const SLOW = [...SLOW_FOLDERS, '\\.slow\\.(e2e-)?spec\\.ts$'];

const FOLDERS = ['src', 'simulator', 'bench', 'test'];
const UNIT = FOLDERS.map((folder) => `<rootDir>/${folder}/**/*.spec.ts`);
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
      testMatch: [
        ...SLOW_FOLDERS.map((folder) => `${folder}**/*spec.ts`),
        ...FOLDERS.map((folder) => `<rootDir>/${folder}/**/*.slow.{spec,e2e-spec}.ts`),
      ],
    },
  ],
};
