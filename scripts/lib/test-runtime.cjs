// Jest's module loader, except that packages and the built product are loaded once per worker and not once per file: they cost
// more processor time than most files' tests. The tests' own modules are evaluated anew for each file.
const { createRequire } = require('node:module');
const path = require('node:path');
const { SyntheticModule } = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

/** The state of Jest's test runner: each file has its own. */
const RUNNER_STATE = path.join(path.dirname(require.resolve('jest-circus/runner')), 'jestAdapterInit.js');
const OWN = /^(\.|\/|file:|data:|@jest\/globals$)/;

const ROOT = path.join(__dirname, '../..');
/** What `npm run build` compiles into the same place below dist/. */
const PRODUCT = /^(src|simulator\/src|migrations)\/(?!.*\.spec\.[jt]s$).*\.[jt]s$/;

/** The built module that a test imports by the place of its source; null where it is one of the tests. */
function builtModule(specifier, from) {
  if (!/^[./]/.test(specifier)) return null;
  const file = path.relative(ROOT, path.resolve(path.dirname(from), specifier));
  return PRODUCT.test(file) ? path.join(ROOT, 'dist', file.replace(/ts$/, 'js')) : null;
}

/** Packages and Node's modules by specifier, since every file sees the same node_modules, and built modules by path. */
const packages = new Map();

function packageOf(specifier) {
  if (!packages.has(specifier)) packages.set(specifier, loadPackage(specifier));
  return packages.get(specifier);
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
      const built = builtModule(specifier, from);
      if (built !== null) return packageOf(built);
      return OWN.test(specifier) ? resolveOwn(specifier, from, context) : packageOf(specifier);
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
