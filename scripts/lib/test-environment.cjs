// A test file runs in the realm of its worker, so that `instanceof` holds between it and the packages and the product, which are
// loaded once per worker (test-runtime.cjs). What it changes in the process is undone after it.
const { AsyncLocalStorage } = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Where Jest's test runner keeps what belongs to one file: handlers of its events, the time limit, retries. */
const RUNNER_STATE = [
  'EVENT_HANDLERS',
  'LOG_ERRORS_BEFORE_RETRY',
  'RETRY_IMMEDIATELY',
  'RETRY_TIMES',
  'TEST_TIMEOUT_SYMBOL',
  'WAIT_BEFORE_RETRY',
].map((name) => Symbol.for(name));

/** What decorators said of the product's classes, which are loaded once. */
const STORES = new Set(['typeormMetadataArgsStorage', 'classValidatorMetadataStorage']);

/** Packages may keep listeners of other events, for the files that follow. */
const ENDS_OF_PROCESS = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection'];

class TestEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.undo = [keepGlobals(), keepSettings(), keepListeners(), keepStorages()];
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const undo of this.undo) undo();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest demands the method; test-runtime.cjs needs no context. */
  getVmContext() {
    return null;
  }
}

function keepGlobals() {
  const before = Object.getOwnPropertyDescriptors(globalThis);
  return () => {
    for (const symbol of RUNNER_STATE) delete globalThis[symbol];
    for (const [name, now] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
      const then = before[name];
      if (then === undefined) {
        if (!STORES.has(name)) delete globalThis[name];
      } else if (then.configurable && (now.value !== then.value || now.get !== then.get)) {
        Object.defineProperty(globalThis, name, then);
      }
    }
  };
}

function keepSettings() {
  const { exitCode } = process;
  // Jest wraps it for each file.
  const exit = Object.getOwnPropertyDescriptor(process, 'exit');
  const env = { ...process.env };
  const folder = process.cwd();
  return () => {
    Object.defineProperty(process, 'exit', exit);
    process.exitCode = exitCode;
    process.chdir(folder);
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  };
}

function keepListeners() {
  const before = ENDS_OF_PROCESS.map((event) => process.rawListeners(event));
  return () =>
    ENDS_OF_PROCESS.forEach((event, index) => {
      const added = process.rawListeners(event).filter((listener) => !before[index].includes(listener));
      for (const listener of added) process.removeListener(event, listener);
    });
}

/**
 * A storage takes part in every promise from its first use on, and Node lets go of none by itself: those of the files before
 * would cost more with each file. One that a package still uses takes part again at its next use.
 */
function keepStorages() {
  const used = new Set();
  const own = Object.getOwnPropertyDescriptors(AsyncLocalStorage.prototype);
  for (const name of ['run', 'enterWith']) {
    AsyncLocalStorage.prototype[name] = function use(...args) {
      used.add(this);
      return own[name].value.apply(this, args);
    };
  }
  return () => {
    for (const name of ['run', 'enterWith']) Object.defineProperty(AsyncLocalStorage.prototype, name, own[name]);
    for (const storage of used) storage.disable();
  };
}

module.exports = TestEnvironment;
