import { MAX_RETRY_AFTER_MS, RETRY_DELAYS_MS, retryDelayMs } from './delivery-attempts.js';

const PLANNED_SECONDS = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];

describe('retryDelayMs', () => {
  it('follows the schedule of the contract, ±20 %, and ends after the tenth attempt', () => {
    PLANNED_SECONDS.forEach((seconds, index) => {
      const tries = index + 1;
      expect(retryDelayMs(tries, 0, null)).toBe(seconds * 800);
      expect(retryDelayMs(tries, 0.5, null)).toBe(seconds * 1_000);
      expect(retryDelayMs(tries, 0.999_999, null)).toBeLessThanOrEqual(seconds * 1_200);
    });
    expect(retryDelayMs(10, 0.5, null)).toBeNull();
    expect(retryDelayMs(10, 0.5, 60_000)).toBeNull();
    expect(RETRY_DELAYS_MS).toHaveLength(9);
  });

  it('spreads evenly: what failed together does not come back together', () => {
    const delays = Array.from({ length: 10_000 }, () => retryDelayMs(3, Math.random(), null) ?? 0);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(Math.min(...delays)).toBeLessThan(98_000);
    expect(Math.max(...delays)).toBeGreaterThan(142_000);
    expect(Math.abs(mean - 120_000)).toBeLessThan(2_000);
  });

  it('waits longer where the receiver asks for it, never shorter, an hour more at the most', () => {
    expect(retryDelayMs(1, 0.5, 7_000)).toBe(7_000);
    expect(retryDelayMs(1, 0.5, 1_000)).toBe(5_000);
    expect(retryDelayMs(1, 0.5, 0)).toBe(5_000);
    expect(retryDelayMs(1, 0.5, 7 * 86_400_000)).toBe(MAX_RETRY_AFTER_MS);
    expect(retryDelayMs(7, 0.5, 7 * 86_400_000)).toBe(18_000_000);
  });
});
