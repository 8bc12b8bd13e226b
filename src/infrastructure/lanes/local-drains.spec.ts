import { LocalDrains } from './lane-processor.js';

/** Drains that end when the test says so. */
function drainsOf(most: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const drains = new LocalDrains((laneKey) => {
    begun.push(laneKey);
    return new Promise((resolve) => ends.set(laneKey, resolve));
  }, most);
  const end = async (laneKey: string): Promise<void> => {
    ends.get(laneKey)?.();
    await new Promise(setImmediate);
  };
  return { drains, begun, end };
}

it('so many run at once, and the others in the order in which they came', async () => {
  const { drains, begun, end } = drainsOf(2);
  for (const lane of ['a', 'b', 'c', 'd', 'c']) drains.add(lane);
  expect(begun).toEqual(['a', 'b']);
  expect(drains.begin('e')).toBe(false);
  // A lane whose drain ends with rows left.
  drains.add('a');
  await end('a');
  await end('b');
  await end('c');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'a']);
});

it('none begins once the process stops', async () => {
  const { drains, begun, end } = drainsOf(1);
  for (const lane of ['a', 'b']) drains.add(lane);
  drains.stop();
  expect([drains.add('c'), drains.begin('c')]).toEqual([false, false]);
  await end('a');
  expect(begun).toEqual(['a']);
});
