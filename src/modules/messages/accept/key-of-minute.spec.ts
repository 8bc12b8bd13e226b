import { isUuid } from '../../../common/ids.js';
import { keyOfMinute, minuteOf, MINUTE_MS } from './key-of-minute.js';

describe('the key of a request that brings none', () => {
  it('is a UUID of version 8, equal for what means the same in one minute, and else another', () => {
    const key = keyOfMinute('a', 1);
    expect(isUuid(key)).toBe(true);
    expect(key).toMatch(/^.{14}8.{4}a/);
    expect(keyOfMinute('a', 1)).toBe(key);
    expect(new Set([key, keyOfMinute('a', 2), keyOfMinute('b', 1), keyOfMinute('a1', 1)]).size).toBe(4);
  });

  it('changes with the minute of the clock', () => {
    const time = 29_000_000 * MINUTE_MS;
    expect([time - 1, time, time + MINUTE_MS - 1].map(minuteOf)).toEqual([28_999_999, 29_000_000, 29_000_000]);
  });
});
