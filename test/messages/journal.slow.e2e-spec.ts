import { startTestApp, type TestApp } from '../support/test-app.js';
import { expectFiltered, filteredJournal } from './filtered-journal.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
});

afterAll(() => test.stop());

describe('the journal', () => {
  it('filters exactly by every combination', async () => {
    const journal = await filteredJournal(test);
    const combinations = Object.entries(journal.values).reduce<Record<string, string>[]>(
      (known, [name, options]) => known.flatMap((one) => [one, ...options.map((value) => ({ ...one, [name]: value }))]),
      [{}],
    );
    for (const wanted of combinations) await expectFiltered(journal, wanted);
  });
});
