// Plays docs/recipes in a scratch copy of the tree, the blocks unchanged, then checks, builds, starts and calls
// the result: `npm run test:recipes [-- --keep]`. Not part of `npm test`, since it takes a minute or two.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { applyDiff, blocksOf } from './lib/recipes.mjs';
import { run } from './lib/run.mjs';
import { runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ROOT } from './lib/root.mjs';

const NOT_COPIED = new Set(['node_modules', '.git', '.data', 'coverage']);
const RECIPES = [
  'add-a-module',
  'add-an-endpoint',
  'add-a-migration',
  'add-an-error',
  'add-a-setting',
  'add-a-job',
  'add-a-metric',
  'add-a-message-type',
];

/** What the recipes write or change; the rest is no business of this test. */
const TOUCHED = [
  'src/modules/labels',
  'src/modules/messages/accept/variants',
  'src/infrastructure/http/scopes.ts',
  'src/infrastructure/config',
  'migrations',
  'test/labels',
  'clients/typescript/src/client.ts',
  'clients/typescript/src/resources.ts',
];

const scratch = scratchFolder('recipes');

function copyTree() {
  const isOurs = (path) => !NOT_COPIED.has(relative(ROOT, path).split(/[\\/]/)[0]);
  // With dist/, so that the build is that of the change only.
  cpSync(ROOT, scratch, { recursive: true, preserveTimestamps: true, filter: isOurs });
  symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
}

const runThere = (command, args) => run(command, args, { cwd: scratch, timeout: 0 });
const node = (...args) => runThere(process.execPath, args);
const bin = (path) => join('node_modules', path);

/** A line of a recipe. What is generated is generated once, after the last of them. */
function runLine(line) {
  if (line === 'npm run generate') return;
  const [command, ...args] = line.split(' ');
  const output = command === 'npx' && args[0] === 'nest' ? nest(...args.slice(1)) : runThere(command, args);
  if (!/CREATE|UPDATE/.test(output)) throw new Error(`${line} made nothing:\n${output}`);
}

// The generator says what went wrong, and still ends with 0.
const nest = (...args) => node(bin('@nestjs/cli/bin/nest.js'), ...args);

function play(recipe) {
  for (const block of blocksOf(readFileSync(join(scratch, `docs/recipes/${recipe}.md`), 'utf8'))) {
    if (block.kind === 'sh') block.lines.forEach(runLine);
    else if (block.kind === 'diff') applyDiff(scratch, block);
    else {
      mkdirSync(dirname(join(scratch, block.path)), { recursive: true });
      writeFileSync(join(scratch, block.path), block.content, { flag: 'wx' });
    }
  }
}

const STEPS = [
  ['scratch copy', copyTree],
  ...RECIPES.map((name) => [name, () => play(name)]),
  [
    'a generator of Nest',
    () => {
      runLine('npx nest g service labels/label-colours --flat');
      node(bin('prettier/bin/prettier.cjs'), '--write', 'src/modules/labels');
    },
  ],
  ['generate', () => node('scripts/generate.mjs')],
  ['build', () => node('scripts/build-if-stale.mjs', '--strict')],
  ['generated files', () => node('scripts/generate.mjs', '--check')],
  ['format', () => node(bin('prettier/bin/prettier.cjs'), '--check', ...TOUCHED)],
  ['lint', () => node(bin('oxlint/bin/oxlint'), '--type-aware', ...TOUCHED)],
  ['types', () => node(bin('typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json')],
  [
    'arrows',
    () =>
      node(
        bin('dependency-cruiser/bin/dependency-cruise.mjs'),
        '--config',
        '.dependency-cruiser.cjs',
        'src',
        'simulator/src',
      ),
  ],
  ['conventions', () => node('scripts/conventions.mjs')],
  [
    'start and call',
    () =>
      node('scripts/test.mjs', 'e2e', 'test/labels', 'test/messages/call-permission', 'test/contract/openapi-complete'),
  ],
];

await runSteps(scratch, async () => {
  // A recipe builds on the one before, and all that follows on the recipes.
  for (const [name, work] of STEPS) if (!(await step(name, work))) break;
});
