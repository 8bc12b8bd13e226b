/** Repeats bounded work until one batch was not full, or the round is to end; returns how many rows it touched. */
export async function inBatches(
  signal: AbortSignal,
  batch: number,
  work: (limit: number) => Promise<number>,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const done = await work(batch);
    total += done;
    if (done < batch) break;
  }
  return total;
}
