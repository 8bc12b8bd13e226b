import { waitFor } from '../support/wait-for.js';
import { twoProcesses } from './two-processes.js';

const apps = twoProcesses();

describe('the limit', () => {
  it('gives back what one process holds, so that another can use it', async () => {
    const key = await apps.keyOf({ ratePerSecond: 1, rateBurst: 30 });
    await apps.small.api.get('/things', { key });
    await waitFor(async () => {
      const [row] = await apps.small.database.query<{ tokens: number }>(
        'select tokens from rate_bucket where key = $1',
        [key.slice(10, 22)],
      );
      return (row?.tokens ?? 0) >= 29;
    });
    const answers = await Promise.all(Array.from({ length: 29 }, () => apps.other.api.get('/things', { key })));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
  });
});
