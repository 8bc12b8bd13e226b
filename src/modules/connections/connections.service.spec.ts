import { ConnectionsService } from './connections.service.js';

const unused = null as never;

function serviceOver(reads: string[][]) {
  const findSealed = (ids: string[]) => {
    reads.push(ids);
    return new Promise((resolve) =>
      setImmediate(() => resolve(ids.map((id) => ({ id, organizationId: 'org', tokenCiphertext: 'sealed' })))),
    );
  };
  const invalidation = { on: () => undefined };
  const secrets = { open: () => 'token' };
  return new ConnectionsService(
    { findSealed } as never,
    secrets as never,
    invalidation as never,
    unused,
    unused,
    unused,
  );
}

it('numbers in use that are asked for at once share one read once they are known', async () => {
  const reads: string[][] = [];
  const service = serviceOver(reads);
  const ids = ['a', 'b', 'c'];
  const readAll = async () => (await Promise.all(ids.map((id) => service.forSending(id)))).map((row) => row?.id);
  expect(await readAll()).toEqual(ids);
  reads.length = 0;
  // As a change of any number does it.
  (service as unknown as { forget(): void }).forget();
  expect(await readAll()).toEqual(ids);
  expect(reads.map((read) => read.sort())).toEqual([ids]);
});

it("looks another workspace's number up as often as one that does not exist, also while it is known", async () => {
  const reads: string[][] = [];
  const service = serviceOver(reads);
  expect(await service.find('org', 'a')).toMatchObject({ id: 'a' });
  for (const [organizationId, id] of [
    ['other', 'a'],
    ['other', 'unknown'],
  ] as const) {
    reads.length = 0;
    expect(await service.find(organizationId, id)).toBeNull();
    expect(reads).toHaveLength(1);
  }
  reads.length = 0;
  expect(await service.find('org', 'a')).toMatchObject({ id: 'a' });
  expect(reads).toEqual([]);
});
