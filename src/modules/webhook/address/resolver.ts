/** Finds the addresses of a host name. */
export interface HostResolver {
  /**
   * Every A and AAAA record, at least one.
   *
   * @throws HostUnresolved where there is none, or nobody says so in time.
   */
  resolve(host: string): Promise<string[]>;
}

/** `unresolvable`: the name has no address. The others may pass. */
export type ResolveFault = 'unresolvable' | 'dns_timeout' | 'dns_failed' | 'too_many_addresses';

export class HostUnresolved extends Error {
  constructor(readonly fault: ResolveFault) {
    super(fault);
    this.name = 'HostUnresolved';
  }
}

/** The answer, or `dns_timeout`. What was asked goes on in the background, within its own limits. */
export function answeredWithin<T>(question: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new HostUnresolved('dns_timeout')), timeoutMs);
    void question.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
