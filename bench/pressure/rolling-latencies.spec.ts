import { RollingLatencies } from './rolling-latencies.js';

it('gives percentiles of the windows that count, and nothing of older ones', () => {
  const latencies = new RollingLatencies(2);
  expect(latencies.turn()).toEqual({ p50: 0, p95: 0, p99: 0 });
  for (let ms = 1; ms <= 100; ms++) latencies.record(ms);
  expect(latencies.turn()).toEqual({ p50: 50, p95: 95, p99: 99 });
  latencies.record(5_000);
  expect(latencies.turn()).toMatchObject({ p50: 51, p99: 100 });
  latencies.record(7);
  expect(latencies.turn().p50).toBe(7);
  expect(latencies.turn()).toEqual({ p50: 7, p95: 7, p99: 7 });
});
