import { createHeraldClient } from '../../clients/typescript/src/index.js';

const [OLD, LATER, LAST] = ['aaaaaaaa0000000000000010', 'aaaaaaaa00000000000000f0', 'aaaaaaaa0000000000000100'];
const OTHER_DATABASE = '000000000000000000000001';

/** A client of a server that answers writes with these marks, in turn, and what its reads were sent with. */
function clientOf(marks: (string | null)[]) {
  const read: (string | null)[] = [];
  const client = createHeraldClient({
    baseUrl: 'https://herald.example',
    apiKey: 'hrld_live_1_2',
    fetch: async (input) => {
      const request = input as Request;
      if (request.method === 'GET') read.push(request.headers.get('x-herald-read-after'));
      const mark = request.method === 'GET' ? null : (marks.shift() ?? null);
      return Response.json(
        { data: [], pagination: {} },
        { headers: mark === null ? {} : { 'x-herald-read-after': mark } },
      );
    },
  });
  const write = (): Promise<unknown> => client.webhook.set({ url: 'https://shop.example' });
  const list = (): Promise<unknown> => client.webhook.get();
  return { write, list, read };
}

describe('the client, where reads may be late', () => {
  it('sends the mark of its last write with each read, and none before', async () => {
    const { write, list, read } = clientOf([OLD, null, LAST]);
    await list();
    await write();
    await list();
    await write();
    await list();
    await write();
    await list();
    expect(read).toEqual([null, OLD, OLD, LAST]);
  });

  it('keeps the later one of two answers that come in the other order', async () => {
    const { write, list, read } = clientOf([LAST, LATER]);
    await write();
    await write();
    await list();
    expect(read).toEqual([LAST]);
  });

  it('takes the mark of another database, which cannot be compared', async () => {
    const { write, list, read } = clientOf([LAST, OTHER_DATABASE]);
    await write();
    await write();
    await list();
    expect(read).toEqual([OTHER_DATABASE]);
  });
});
