/**
 * Runs `work` for each item, at most `limit` at the same time; the results are in the order of the items. After a
 * failure no further item is started.
 */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // All workers share one iterator, so each item is taken once.
  const left = items.entries();
  let hasFailed = false;
  const take = async (): Promise<void> => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, take));
  return results;
}
