import { isInstalled } from '../../support/rig/programs.js';

/** Brokers are no part of the tests that `npm test` runs. REQUIRE_BROKERS=true asks for them: without a broker its tests fail then. */
export async function describeWith(program: string, ask?: string): Promise<typeof describe> {
  if (process.env.REQUIRE_BROKERS === 'true' || (await isInstalled(program, ask))) return describe;
  process.stderr.write(`${program} is not installed: its tests are left out\n`);
  return describe.skip;
}
