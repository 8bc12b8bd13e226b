import { endOfGraphVersion, GRAPH_VERSION, WARN_DAYS } from './graph-version.js';

describe('a version of the Graph API', () => {
  it.each([
    ['2026-09-23T00:00:00Z', 120],
    ['2027-01-20T12:00:00Z', 1],
    ['2027-01-22T00:00:00Z', -1],
  ])('ends on its day, seen on %s in %i days', (now, daysLeft) => {
    expect(endOfGraphVersion('v21.0', new Date(now))).toEqual({ date: '2027-01-21', daysLeft });
  });

  it('that is not listed has no known end', () => {
    expect(endOfGraphVersion('v99.0', new Date())).toBeNull();
    expect(endOfGraphVersion('constructor', new Date())).toBeNull();
  });

  it('that Herald is made for was far from its end when this was written', () => {
    expect(endOfGraphVersion(GRAPH_VERSION, new Date('2026-11-25'))?.daysLeft).toBeGreaterThan(WARN_DAYS);
  });
});
