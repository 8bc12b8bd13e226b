import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

let small: SmallApp;
let key: string;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  const { id } = await small.factories.workspace();
  key = (await small.factories.apiKey({ organizationId: id })).text;
});

afterAll(() => small.close());

describe('connections of refused requests', () => {
  it('cost a client that keeps connections no request', async () => {
    const tooLarge = JSON.stringify({ text: 'x'.repeat(4 * 1_024 * 1_024) });
    for (let round = 0; round < 20; round++) {
      expect((await small.api.post('/things', tooLarge, { key })).status).toBe(413);
      expect((await small.api.get('/things', { key })).status).toBe(200);
    }
  });
});
