/** Asks again and again until the answer is not null. @throws Error when `timeoutMs` is over */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | null> | T | null,
  { timeoutMs, everyMs = 100 }: { timeoutMs: number; everyMs?: number },
): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > until) throw new Error(`waited ${timeoutMs / 1_000} s in vain for ${what}`);
    await pause(everyMs);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
