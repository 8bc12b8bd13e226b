import { isInstalled } from '../../support/rig/programs.js';

/** Brokers are no part of the tests that `npm test` runs. REQUIRE_BROKERS=true asks for them: without a broker its tests fail then. */
export async function describeWith(program: string): Promise<typeof describe> {
  // Not its version: Debian's rabbitmq-server starts a server whatever it is asked.
  if (process.env.REQUIRE_BROKERS === 'true' || (await isInstalled('which', program))) return describe;
  process.stderr.write(`${program} is not installed: its tests are left out\n`);
  return describe.skip;
}
