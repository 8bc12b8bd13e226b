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
