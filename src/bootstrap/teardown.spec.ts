import { Teardown } from './teardown.js';

function teardown() {
  const ended: string[] = [];
  const errors: string[] = [];
  const steps = new Teardown((step, error) => errors.push(`${step}: ${(error as Error).message}`));
  const step = (name: string) => async (): Promise<void> => {
    await Promise.resolve();
    ended.push(name);
  };
  return { steps, ended, errors, step };
}

describe('Teardown', () => {
  it('ends in the opposite order, and what outlives the process after all else', async () => {
    const { steps, ended, step } = teardown();
    steps.add('application', step('application'));
    steps.add('database', step('database'), true);
    steps.add('http', step('http'));
    await steps.run(1_000);
    expect(ended).toEqual(['http', 'application', 'database']);
  });

  it('goes on after a step that fails, and reports it', async () => {
    const { steps, ended, errors, step } = teardown();
    steps.add('first', step('first'));
    steps.add('second', () => Promise.reject(new Error('no')));
    await steps.run(1_000);
    expect({ ended, errors }).toEqual({ ended: ['first'], errors: ['second: no'] });
  });

  it('gives up what takes too long, but never the database', async () => {
    const { steps, ended, errors, step } = teardown();
    steps.add('database', step('database'), true);
    steps.add('application', step('application'));
    steps.add('hangs', () => new Promise(() => undefined));
    await steps.run(20);
    expect(ended).toEqual(['database']);
    expect(errors).toEqual(['stop: not everything ended within 20 ms']);
  });

  it('halts with the database alone, and runs once however often it is asked', async () => {
    const halted = teardown();
    halted.steps.add('database', halted.step('database'), true);
    halted.steps.add('application', halted.step('application'));
    await halted.steps.halt();
    expect(halted.ended).toEqual(['database']);

    const twice = teardown();
    twice.steps.add('application', twice.step('application'));
    await Promise.all([twice.steps.run(1_000), twice.steps.run(1_000)]);
    expect(twice.ended).toEqual(['application']);
  });
});
