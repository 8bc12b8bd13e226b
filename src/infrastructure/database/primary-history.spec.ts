import { lsnOf, PrimaryHistory } from './primary-history.js';

const at = (text: string): bigint => lsnOf(text);

describe('a place in the log', () => {
  it('is a number in the order of the log', () => {
    expect(at('0/0')).toBe(0n);
    expect(at('16/B374D848')).toBe(0x16b374d848n);
    expect(at('1/0')).toBeGreaterThan(at('0/FFFFFFFF'));
    // As text it would be before.
    expect(at('10/0')).toBeGreaterThan(at('9/0'));
  });
});

describe('what a standby has', () => {
  it('is complete until the newest look whose place it has replayed', () => {
    const history = new PrimaryHistory();
    history.note('a', at('0/10'), 1_000);
    history.note('a', at('0/20'), 2_000);
    history.note('a', at('0/30'), 3_000);
    expect(history.completeUntil(at('0/2F'))).toBe(2_000);
    expect(history.completeUntil(at('0/30'))).toBe(3_000);
    expect(history.completeUntil(at('0/F'))).toBe(-Infinity);
    expect(history.lastLsn).toBe(at('0/30'));
  });

  it('grows no older while the primary is idle', () => {
    const history = new PrimaryHistory();
    for (let second = 0; second < 100; second++) history.note('a', at('0/10'), second * 1_000);
    expect(history.completeUntil(at('0/10'))).toBe(99_000);
  });

  it('cannot be compared with another history', () => {
    const history = new PrimaryHistory();
    history.note('a', at('0/10'), 1_000);
    history.note('b', at('0/50'), 2_000);
    expect(history.identity).toBe('b');
    expect(history.completeUntil(at('0/20'))).toBe(-Infinity);
  });

  it('is not known of longer ago than ten minutes of looks', () => {
    const history = new PrimaryHistory();
    for (let second = 0; second < 700; second++) history.note('a', BigInt(second), second * 1_000);
    expect(history.completeUntil(99n)).toBe(-Infinity);
    expect(history.completeUntil(100n)).toBe(100_000);
  });
});
