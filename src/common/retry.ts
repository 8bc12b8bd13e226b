const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2_000;

/**
 * Repeats work with growing waits, for work that must survive a transient error such as a lost database.
 *
 * @param forMs milliseconds after which it gives up
 * @param onFailure is called after each failure
 * @throws what the last try threw.
 */
export async function retry<T>(
  work: () => Promise<T>,
  { forMs, onFailure }: { forMs: number; onFailure: (error: unknown) => void },
): Promise<T> {
  const until = performance.now() + forMs;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (performance.now() + waitMs > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
