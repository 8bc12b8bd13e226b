// Jest's module loader, except that packages and the built program are loaded once per worker and not once per file: Nest,
// TypeORM and the program's 500 modules cost more processor time than most files' tests. Tests, and what only tests use, are
// evaluated anew for each file.
const { existsSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { SyntheticModule } = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

/** The state of Jest's test runner: each file has its own. */
const RUNNER_STATE = path.join(path.dirname(require.resolve('jest-circus/runner')), 'jestAdapterInit.js');
const OWN = /^(\.|\/|file:|data:|@jest\/globals$)/;

const ROOT = path.resolve(__dirname, '../..');
/** What the build makes of them is what runs in production. */
const BUILT = /^(src|simulator|migrations)\//;

/** Packages and Node's modules by specifier, modules of the program by address: every file sees the same ones. */
const packages = new Map();

function packageOf(specifier) {
  if (!packages.has(specifier)) packages.set(specifier, loadPackage(specifier));
  return packages.get(specifier);
}

/** @returns the address of the built module that `specifier` means in the file `from`; null: it is a test's own. */
function builtModule(specifier, from) {
  if (!specifier.startsWith('.')) return null;
  const relative = path.relative(ROOT, path.resolve(path.dirname(from), specifier));
  if (!BUILT.test(relative)) return null;
  const built = path.join(ROOT, 'dist', relative);
  return existsSync(built) ? pathToFileURL(built).href : null;
}

async function loadPackage(specifier) {
  const exports = await import(specifier);
  const names = Object.keys(exports);
  const fill = () => names.forEach((name) => module.setExport(name, exports[name]));
  const module = new SyntheticModule(names, fill, { identifier: specifier });
  await module.link(() => undefined);
  await module.evaluate();
  return module;
}

class TestRuntime extends JestRuntime {
  constructor(...args) {
    super(...args);
    const { esmLoader: loader, _resolution: resolution } = this;
    if (typeof loader?.resolveModule !== 'function' || typeof resolution?.canResolveSync !== 'function') {
      throw new Error('this version of Jest loads modules in another way: scripts/lib/test-runtime.cjs must follow it');
    }
    const resolveOwn = loader.resolveModule.bind(loader);
    loader.resolveModule = (specifier, from, context) => {
      const shared = OWN.test(specifier) ? builtModule(specifier, from) : specifier;
      return shared === null ? resolveOwn(specifier, from, context) : packageOf(shared);
    };
    // A module without a context belongs to the worker's realm, as the packages do.
    loader.getContext = () => undefined;
    // From Node 24 Jest has a second, synchronous way, which does not ask `resolveModule`.
    resolution.canResolveSync = () => false;
  }

  requireInternalModule(from, to) {
    const file = to === undefined ? from : createRequire(from).resolve(to);
    if (file === RUNNER_STATE) delete require.cache[file];
    return require(file);
  }
}

module.exports = TestRuntime;
