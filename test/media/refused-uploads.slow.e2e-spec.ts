import { uploadStage } from './fixture.js';
import { sendByFetch, type Sending } from './fetching-client.js';

const REFUSED = { authorization: 'Bearer none' };
const TOO_LARGE = '400 MEDIA_TOO_LARGE';

describe('a refusal while the body is still being sent', () => {
  const stage = uploadStage();

  const send = (sending: Pick<Sending, 'mib' | 'as' | 'times'> & Partial<Sending>): Promise<string[]> =>
    sendByFetch({
      url: `${stage.test.baseUrl}/api/v1/media`,
      headers: { authorization: `Bearer ${stage.sender.key.text}` },
      connectionId: stage.sender.connection.id,
      ...sending,
    });
  const all = (times: number, outcome: string): string[] => Array.from({ length: times }, () => outcome);

  it.each([
    ['a form, whose length says that it is too large', { mib: 33, as: 'form', times: 6 }],
    ['a form of about twice the limit', { mib: 60, as: 'form', times: 4 }],
    ['a form in chunks, which proves too large', { mib: 33, as: 'stream', times: 3 }],
    ['a form in chunks of about twice the limit', { mib: 60, as: 'stream', times: 3 }],
  ] as const)('is read by fetch: %s', async (_name, sending) => {
    expect(await send(sending)).toEqual(all(sending.times, TOO_LARGE));
  });

  it.each(['form', 'stream'] as const)('is read by fetch: a key that is refused, of a %s', async (as) => {
    const outcomes = await send({ mib: 20, as, times: 6, headers: REFUSED });
    expect(outcomes).toEqual(all(6, '401 API_KEY_INVALID'));
  });

  it('is read by fetch: a key that is refused, of a client that is busy while it sends', async () => {
    const outcomes = await send({ mib: 20, as: 'stream', times: 2, busyMs: 800, headers: REFUSED });
    expect(outcomes).toEqual(all(2, '401 API_KEY_INVALID'));
  });

  it('is read by fetch: JSON that is too large', async () => {
    const outcomes = await send({ url: `${stage.test.baseUrl}/api/v1/messages`, mib: 20, as: 'json', times: 6 });
    expect(outcomes).toEqual(all(6, '413 PAYLOAD_TOO_LARGE'));
  });
});
