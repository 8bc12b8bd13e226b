/** `work` of each item, at most `limit` of them at the same time; the results in the order of the items. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // All takers share one iterator, so each item is taken once.
  const left = items.entries();
  const take = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: limit }, take));
  return results;
}
