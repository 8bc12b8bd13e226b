import type { Scope } from './scope.js';

const startedAt = performance.now();

/** One line of progress, with the seconds since the start. */
export function progress(line: string): void {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}\n`);
}

/** Ctrl-C and SIGTERM stop everything that was started, then this process. A second one does not wait. */
export function closeOnSignal(scope: Scope): void {
  let asked = false;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (asked) process.exit(code);
      asked = true;
      progress('stopping what was started ...');
      void scope.close().finally(() => process.exit(code));
    });
  }
}
