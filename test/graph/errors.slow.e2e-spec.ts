import fc from 'fast-check';
import { newId } from '../../src/common/ids.js';
import { GraphClient } from './fixture.js';

let client: GraphClient;

beforeAll(async () => {
  client = await GraphClient.start({ simulator: { statusGapMs: 20 } });
});

afterAll(() => client?.test.stop());

const text = { type: 'text', text: { body: 'Hello' } };

describe('the shape of an error', () => {
  it('is the answer to whatever stands in a field, at once and without a failure of Herald', async () => {
    const to = await client.contact();
    const file = { id: '1037543291543636' };
    const whole: Record<string, unknown> = {
      to,
      ...text,
      image: file,
      reaction: { message_id: newId(), emoji: 'x' },
      context: { message_id: newId() },
      biz_opaque_callback_data: 'a',
    };
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(null, '', '[]', '{"a":1}', 'image', 'reaction'),
    );
    const fields = [...Object.keys(whole), 'recipient', 'recipient_type', 'status', 'message_id', 'messaging_product'];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), fc.constantFrom(...fields), value, value, async (a, b, one, two) => {
        const { status, body } = await client.send({ ...whole, [a]: one, [b]: two });
        expect([200, 400, 404]).toContain(status);
        if (status !== 200)
          expect(body.error).toMatchObject({ code: expect.any(Number) as number, type: 'OAuthException' });
      }),
      { numRuns: 150 },
    );
  });
});
