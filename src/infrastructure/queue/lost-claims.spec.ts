import { jest } from '@jest/globals';
import type { Database } from '../database/database.js';
import { LostClaimError, releaseLost, runClaim } from './lost-claims.js';

const lost = new LostClaimError(['an attempt'], new Error('Connection terminated'));

describe('a lost claim', () => {
  it('is released too where the database is away for longer than the lease', async () => {
    const release = jest.fn(() => Promise.resolve());
    const find = jest.fn<(ids: readonly string[]) => Promise<string[]>>();
    find.mockRejectedValueOnce(new Error('away')).mockResolvedValueOnce(['an attempt']);
    expect(await releaseLost(lost, { find, release, forMs: 0 })).toBe(1);
    expect(release.mock.calls).toEqual([['an attempt']]);
  });

  it('took nothing where it is not there once its lease has run out', async () => {
    const find = jest.fn(() => Promise.resolve<string[]>([]));
    expect(await releaseLost(lost, { find, release: () => Promise.reject(new Error('never')), forMs: 0 })).toBe(0);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['the connection broke', { code: 'ECONNRESET' }, true],
    ['its time was over', { code: '57014' }, false],
    ['a row stayed locked', { code: '55P03' }, false],
  ])('is one where %s: %j %s', async (_words, fault, isLost) => {
    const error = Object.assign(new Error('the database says no'), fault);
    const database = { byIndex: (work: () => Promise<unknown>) => work() } as Database;
    const claim = runClaim(database, ['an attempt'], () => Promise.reject(error));
    await expect(claim).rejects.toThrow(isLost ? LostClaimError : error);
  });

  it('is none where the statement was never sent', async () => {
    const error = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const database = { byIndex: () => Promise.reject(error) } as unknown as Database;
    await expect(runClaim(database, ['an attempt'], () => Promise.resolve())).rejects.toBe(error);
  });
});
