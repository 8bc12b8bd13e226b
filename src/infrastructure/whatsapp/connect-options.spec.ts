import type { LookupFunction } from 'node:net';
import { shareLookups } from './connect-options.js';

type Callback = Parameters<LookupFunction>[2];

function recorder(): { lookup: LookupFunction; asked: string[]; answers: Callback[] } {
  const asked: string[] = [];
  const answers: Callback[] = [];
  return {
    asked,
    answers,
    lookup: (hostname, _options, callback) => {
      asked.push(hostname);
      answers.push(callback);
    },
  };
}

describe('shared lookups', () => {
  it('resolve once for concurrent callers, and answer each', () => {
    const { lookup, asked, answers } = recorder();
    const shared = shareLookups(lookup);
    const got: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      shared('graph.test', { all: true }, (error, addresses) => got.push([error, addresses]));
    }
    expect(asked).toEqual(['graph.test']);
    answers[0]?.(null, [{ address: '192.0.2.1', family: 4 }]);
    const each = [null, [{ address: '192.0.2.1', family: 4 }]];
    expect(got).toEqual([each, each, each]);
  });

  it('keep names and options apart', () => {
    const { lookup, asked } = recorder();
    const shared = shareLookups(lookup);
    shared('a.test', { all: true }, () => {});
    shared('b.test', { all: true }, () => {});
    shared('a.test', { family: 6 }, () => {});
    expect(asked).toEqual(['a.test', 'b.test', 'a.test']);
  });

  it('resolve again once the answer is there, and after a failure', () => {
    const { lookup, asked, answers } = recorder();
    const shared = shareLookups(lookup);
    const failures: unknown[] = [];
    shared('a.test', {}, (error) => failures.push(error?.message));
    answers[0]?.(new Error('no'), '');
    shared('a.test', {}, () => {});
    expect(failures).toEqual(['no']);
    expect(asked).toHaveLength(2);
  });

  it('are the system’s by default', async () => {
    const address = await new Promise((resolve) => {
      shareLookups()('127.0.0.1', {}, (_error, found) => resolve(found));
    });
    expect(address).toBe('127.0.0.1');
  });
});
