import { BrokerProcess } from './broker.js';
import { freePort } from './free-port.js';
import { temporaryFolder } from './folder.js';
import type { Scope } from './scope.js';

/** A `nats-server` with JetStream, whose streams outlive its process. */
export async function startNats(
  scope: Scope,
  args: readonly string[] = [],
): Promise<{ broker: BrokerProcess; port: number }> {
  const port = await freePort();
  const folder = temporaryFolder(scope, 'nats');
  const own = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder];
  const broker = await BrokerProcess.start(scope, { command: 'nats-server', args: [...own, ...args], port });
  return { broker, port };
}
