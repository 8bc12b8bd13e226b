import { setTimeout as pause } from 'node:timers/promises';

/** For every wait, and less than Jest gives a test, so that the error names what was waited for. */
export const WAIT_LIMIT_MS = 110_000;

export interface WaitOptions {
  timeoutMs?: number;
  /** Between two looks. Default 20. */
  everyMs?: number;
  /** What is waited for, named in the error. */
  what?: string;
}

/**
 * Looks again and again until `look` returns something truthy, and returns it. What `look` throws counts as not yet.
 *
 * @throws Error after `timeoutMs`, with what `look` last returned or threw.
 */
export async function waitFor<T>(
  look: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<Awaited<T>, null | undefined | false | 0 | ''>> {
  const { timeoutMs = WAIT_LIMIT_MS, everyMs = 20, what = 'a condition' } = options;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found) return found as Exclude<Awaited<T>, null | undefined | false | 0 | ''>;
      last = found;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const seen = last instanceof Error ? last.message : JSON.stringify(last);
      throw new Error(`waited ${timeoutMs} ms for ${what}; last seen: ${seen}`, { cause: last });
    }
    await pause(everyMs);
  }
}
