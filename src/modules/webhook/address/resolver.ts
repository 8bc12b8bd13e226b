import type { RecordWithTtl } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../../common/describe-error.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Slots } from '../../../common/slots.js';

/** Resolves host names. */
export interface HostResolver {
  /**
   * Every A and AAAA record, at least one.
   *
   * @throws HostUnresolved where there is none, or no name server answers in time.
   */
  resolve(host: string): Promise<string[]>;
}

/** Why no address of a host may be connected to. `unresolvable`: the name has no address. */
export type ResolveFailure = 'unresolvable' | 'dns_timeout' | 'dns_failed' | 'too_many_addresses' | 'private_address';

export class HostUnresolved extends Error {
  constructor(readonly failure: ResolveFailure) {
    super(failure);
    this.name = 'HostUnresolved';
  }
}

/** The answer, or `dns_timeout`, also after an abort. The query continues in the background, within its own limits. */
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
 * For development, where private targets are allowed. An IP address stands for itself, `localhost` and names under
 * `.localhost` for both loopbacks (RFC 6761). The machine resolves any other name, including those in `/etc/hosts` and
 * of a container network.
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
  /** For one query to one server. */
  tryTimeoutMs: 1_500,
  tries: 2,
  /** For a name, including the wait for a slot. */
  timeoutMs: 4_000,
  /** Names resolved at the same time; further ones wait. */
  concurrency: 256,
  /** Wait for the other family once one of A and AAAA has an address. */
  patienceMs: 1_000,
  /** Minimum time between two reads of the machine's list of name servers. */
  renewMs: 30_000,
  /** How long an answer is used; never longer than its time to live. */
  keepMs: 1_000,
};

export interface CaresResolverOptions extends Partial<typeof DEFAULTS> {
  /** Name servers, such as `127.0.0.1:5353`. Default: those of the machine. */
  servers?: () => readonly string[];
}

/** Limit of cached answers. */
const MAX_KEPT = 2_000;

/** Answers of a name server for a missing record, and of c-ares for an impossible name. */
const NOTHING = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME', 'NXDOMAIN']);

/**
 * Queries name servers itself (c-ares) instead of using the system's lookup. That one occupies one of the process's
 * four worker threads while it runs: four names that never answer would stop every other lookup, the file system and
 * cryptography. `/etc/hosts` and search domains are not used.
 *
 * Concurrent calls for one name share a query, and its answer is used for a second: 1,000 deliveries a second to one
 * host do not cause 2,000 queries a second. This is safe, because the connection goes to the address that was checked.
 */
export class CaresResolver implements HostResolver {
  private resolver: Resolver;
  private renewedAt = performance.now();
  private readonly options: CaresResolverOptions & typeof DEFAULTS;
  private readonly slots: Slots;
  /** Each answer has its own expiry. */
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
    // The slot is taken for as long as c-ares works on the name.
    void both.then(() => this.slots.release());
    // Some name servers never answer AAAA queries.
    const oneAlone = Promise.any(families).then(() => pause(this.options.patienceMs, [], { ref: false }));
    const ended = await Promise.race([both, oneAlone.catch(() => both)]);
    // If one family fails and the other has addresses, those are used: each address is checked before a connection.
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
    // A resolver keeps the name servers of its creation, but the machine's may change.
    if (performance.now() - this.renewedAt > this.options.renewMs) {
      this.renewedAt = performance.now();
      this.resolver = this.newResolver();
    }
    return new HostUnresolved(bad === 'ETIMEOUT' ? 'dns_timeout' : 'dns_failed');
  }
}
