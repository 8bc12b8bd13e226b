import type { RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../../common/describe-error.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Slots } from '../../../common/slots.js';

/** Finds the addresses of a host name. */
export interface HostResolver {
  /**
   * Every A and AAAA record, at least one.
   *
   * @throws HostUnresolved where there is none, or no name server says so in time.
   */
  resolve(host: string): Promise<string[]>;
}

/** Why a host has no addresses that may be connected to. `unresolvable`: the name has none. */
export type ResolveFailure = 'unresolvable' | 'dns_timeout' | 'dns_failed' | 'too_many_addresses' | 'private_address';

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
    const found = await lookup(host, { all: true }).catch(() => {
      throw new HostUnresolved('unresolvable');
    });
    return found.map(({ address }) => address);
  }
}

const DEFAULTS = {
  /** For one question to one server. */
  tryTimeoutMs: 1_500,
  tries: 2,
  /** For a name, waiting for a place included. */
  timeoutMs: 4_000,
  /** Names that are asked for at once; further ones wait. */
  concurrency: 256,
  /** For the other family, once one of A and AAAA has an address. */
  patienceMs: 1_000,
  /** Least time between two readings of the machine's name servers. */
  renewMs: 30_000,
  /** How long an answer is used; never longer than its own time to live. */
  keepMs: 1_000,
};

export interface CaresResolverOptions extends Partial<typeof DEFAULTS> {
  /** Name servers, such as `127.0.0.1:5353`. Default: those that the machine is set up with. */
  servers?: () => readonly string[];
}

/** Answers kept at the most. */
const MAX_KEPT = 2_000;

/** What a name server says where there is nothing of the kind, and what c-ares says of a name that can't be. */
const NOTHING = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME', 'NXDOMAIN']);

/**
 * Asks the name servers by itself (c-ares), not through the system: a system's lookup holds one of the process's four
 * worker threads for as long as it takes, and four names that never answer would stop every other lookup, the file
 * system and the cryptography. `/etc/hosts` and search domains play no part.
 *
 * Calls for one name at the same time share one question, and its answer serves for a second more: 1,000 deliveries a
 * second to one host are not 2,000 questions a second. That opens nothing, because what was checked is what is connected to.
 */
export class CaresResolver implements HostResolver {
  private resolver: Resolver;
  private renewedAt = performance.now();
  private readonly options: CaresResolverOptions & typeof DEFAULTS;
  private readonly slots: Slots;
  /** Each answer is kept for a time of its own. */
  private readonly answers: ExpiringCache<string, string[]>;

  constructor(options: CaresResolverOptions = {}) {
    this.options = { ...DEFAULTS, ...options };
    this.resolver = this.newResolver();
    this.slots = new Slots(this.options.concurrency);
    this.answers = new ExpiringCache({ ttlMs: this.options.keepMs, maxEntries: MAX_KEPT, keep: () => false });
  }

  async resolve(host: string): Promise<string[]> {
    const answer = this.answers.get(host, () => this.ask(host));
    return [...(await answeredWithin(answer, this.options.timeoutMs))];
  }

  private async ask(host: string): Promise<string[]> {
    const notAfter = performance.now() + this.options.timeoutMs;
    await this.slots.acquire();
    if (performance.now() >= notAfter) {
      this.slots.release();
      throw new HostUnresolved('dns_timeout');
    }
    const seen: RecordWithTtl[][] = [[], []];
    const questions = [this.resolver.resolve4(host, { ttl: true }), this.resolver.resolve6(host, { ttl: true })];
    const families = questions.map((family, n) => family.then((records) => void (seen[n] = records)));
    const both = Promise.allSettled(families);
    // The place is taken for as long as c-ares is busy with the name.
    void both.then(() => this.slots.release());
    // Some name servers never answer when asked for AAAA.
    const oneAlone = Promise.any(families).then(() => pause(this.options.patienceMs, [], { ref: false }));
    const ended = await Promise.race([both, oneAlone.catch(() => both)]);
    // One family that fails does no harm where the other has addresses: only what was seen is connected to.
    const found = seen.flat();
    if (found.length === 0) throw this.unresolved(ended);
    const ttlMs = Math.min(this.options.keepMs, ...found.map((record) => record.ttl * 1_000));
    const addresses = found.map((record) => record.address);
    if (ttlMs > 0) this.answers.set(host, addresses, undefined, ttlMs);
    return addresses;
  }

  private newResolver(): Resolver {
    const { tryTimeoutMs, tries, servers } = this.options;
    const resolver = new Resolver({ timeout: tryTimeoutMs, tries });
    if (servers !== undefined) resolver.setServers(servers());
    return resolver;
  }

  private unresolved(families: readonly PromiseSettledResult<void>[]): HostUnresolved {
    const codes = families.flatMap((family) => (family.status === 'rejected' ? [codeOf(family.reason) ?? ''] : []));
    const bad = codes.find((code) => !NOTHING.has(code));
    if (bad === undefined) return new HostUnresolved('unresolvable');
    // A resolver knows the name servers of the moment in which it was made; a machine may get others.
    if (performance.now() - this.renewedAt > this.options.renewMs) {
      this.renewedAt = performance.now();
      this.resolver = this.newResolver();
    }
    return new HostUnresolved(bad === 'ETIMEOUT' ? 'dns_timeout' : 'dns_failed');
  }
}
