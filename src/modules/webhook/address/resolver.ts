import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Finds the addresses of a host name. */
export interface HostResolver {
  /**
   * Every A and AAAA record, at least one.
   *
   * @throws HostUnresolved where there is none, or no name server says so in time.
   */
  resolve(host: string): Promise<string[]>;
}

/** `unresolvable`: the name has no address. The others may pass. */
export type ResolveFailure = 'unresolvable' | 'dns_timeout' | 'dns_failed' | 'too_many_addresses';

export class HostUnresolved extends Error {
  constructor(readonly failure: ResolveFailure) {
    super(failure);
    this.name = 'HostUnresolved';
  }
}

/** The answer, or `dns_timeout`, also when given up. What was asked goes on in the background, within its own limits. */
export async function answeredWithin<T>(question: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T> {
  let giveUp = (): void => {};
  const end = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(new HostUnresolved('dns_timeout'));
  });
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([question, end]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

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
    if (isIP(literal) !== 0) return [literal];
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    try {
      const found = await answeredWithin(lookup(host, { all: true }), TIMEOUT_MS);
      return found.map(({ address }) => address);
    } catch (error) {
      throw error instanceof HostUnresolved ? error : new HostUnresolved('unresolvable');
    }
  }
}
