import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { answeredWithin, HostUnresolved, type HostResolver } from './resolver.js';

/** A stop for a name server that hangs; the question itself can't be called back. */
const TIMEOUT_MS = 4_000;

/**
 * For development, where private targets are allowed: an IP address stands for itself, `localhost` and what ends in
 * `.localhost` for both loopbacks (RFC 6761), and any other name for what the machine itself knows, `/etc/hosts` and a
 * container network's names included.
 */
export class DevelopmentResolver implements HostResolver {
  async resolve(host: string): Promise<string[]> {
    const literal = host.startsWith('[') ? host.slice(1, -1) : host;
    if (isIP(literal) !== 0) {
      return [literal];
    }
    if (host === 'localhost' || host.endsWith('.localhost')) {
      return ['127.0.0.1', '::1'];
    }
    try {
      const found = await answeredWithin(lookup(host, { all: true }), TIMEOUT_MS);
      return found.map(({ address }) => address);
    } catch (error) {
      throw error instanceof HostUnresolved ? error : new HostUnresolved('unresolvable');
    }
  }
}
