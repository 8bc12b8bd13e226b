import { isUuid, lowestIdSince, newId } from './ids.js';

describe('lowestIdSince', () => {
  it('divides ids made before a time from those made after it', () => {
    const before = newId();
    const boundary = lowestIdSince(new Date(Date.now() + 1));
    const later = lowestIdSince(new Date(Date.now() + 60_000));
    expect(isUuid(boundary)).toBe(true);
    expect(before < boundary).toBe(true);
    expect(newId() < later).toBe(true);
    expect(boundary < later).toBe(true);
  });

  it('knows no time before the epoch', () => {
    expect(lowestIdSince(new Date(-1))).toBe('00000000-0000-7000-8000-000000000000');
  });
});
