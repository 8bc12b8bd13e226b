/** The same run each time; FUZZ_SEED makes another. */
export const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? 77);

/** FUZZ_SCALE=10 searches ten times as long, in each test that takes its count from here. */
export const FUZZ_SCALE = Number(process.env.FUZZ_SCALE ?? 1);

/** How often a property is tried. */
export function runs(count: number): number {
  return Math.max(1, Math.ceil(count * FUZZ_SCALE));
}
