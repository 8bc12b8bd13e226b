import { jest } from '@jest/globals';
import { databaseClock } from './clock.js';
import { isUuid, lowestIdSince, newId } from './ids.js';

const DAY_MS = 86_400_000;
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('lowestIdSince', () => {
  it('divides ids made before a time from those made after it', () => {
    const before = newId();
    const boundary = lowestIdSince(new Date(databaseClock.now() + 1));
    const later = lowestIdSince(new Date(databaseClock.now() + 60_000));
    expect(isUuid(boundary)).toBe(true);
    expect(before < boundary).toBe(true);
    expect(newId() < later).toBe(true);
    expect(boundary < later).toBe(true);
  });

  it('knows no time before the epoch', () => {
    expect(lowestIdSince(new Date(-1))).toBe('00000000-0000-7000-8000-000000000000');
  });
});

describe('a new id', () => {
  afterEach(() => jest.restoreAllMocks());

  it('has the time of the database, and is above the last one also where that clock is set back', () => {
    const start = timeOf(newId());
    const clock = jest.spyOn(databaseClock, 'now');
    const made = [10, 10, 5_000, 4_000, -3_600_000, 4_999, 5_001].map((later) => {
      clock.mockReturnValue(start + later);
      return newId();
    });
    expect(made).toEqual(made.toSorted());
    expect(made.map((id) => timeOf(id) - start)).toEqual([10, 10, 5_000, 5_000, 5_000, 5_000, 5_001]);
  });

  it('follows a clock that was wrong by more than a day', () => {
    const start = timeOf(newId());
    const clock = jest.spyOn(databaseClock, 'now').mockReturnValue(start + 400 * DAY_MS);
    newId();
    clock.mockReturnValue(start + 10);
    expect(timeOf(newId())).toBe(start + 10);
  });
});
