import { waitFor } from '../support/wait-for.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

let small: SmallApp;
let other: SmallApp;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  other = await startSmallApp({ controllers: [ThingsController], beside: small });
});

afterAll(async () => {
  await other.close();
  await small.close();
});

async function keyOf(limits: { ratePerSecond?: number; rateBurst?: number } = {}): Promise<string> {
  const { id } = await small.factories.workspace(limits);
  return (await small.factories.apiKey({ organizationId: id })).text;
}

describe('the limit', () => {
  it('gives back what one process holds, so that another can use it', async () => {
    const key = await keyOf({ ratePerSecond: 1, rateBurst: 30 });
    await small.api.get('/things', { key });
    await waitFor(async () => {
      const [row] = await small.database.query<{ tokens: number }>('select tokens from rate_bucket where key = $1', [
        key.slice(10, 22),
      ]);
      return (row?.tokens ?? 0) >= 29;
    });
    const answers = await Promise.all(Array.from({ length: 29 }, () => other.api.get('/things', { key })));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
  });
});
