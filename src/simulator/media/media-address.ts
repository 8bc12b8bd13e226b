import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const DOWNLOAD_PATH = '/whatsapp_business/attachments/';

/** Where an address came from: the media call, or a notification. */
export type AddressSource = 'getMedia' | 'webhook';

/**
 * Makes and checks the temporary addresses of files, on the simulator's own host. One that the media call gave is bound to
 * the token of that call; one from a notification goes with any.
 */
export class MediaAddresses {
  /** @param lifeMs how long an address can be used */
  constructor(
    private readonly key: string,
    private readonly lifeMs: number,
  ) {}

  make(request: IncomingMessage, id: string, source: AddressSource, token: string | null): string {
    const ext = String(Date.now() + this.lifeMs);
    const hash = this.hashOf(id, ext, source, token);
    const query = new URLSearchParams({ mid: id, source, ext, hash });
    return `http://${request.headers.host ?? 'localhost'}${DOWNLOAD_PATH}?${query.toString()}`;
  }

  /** The file's id and when the address was given out; null where the address is void or was made up. */
  read(query: URLSearchParams, token: string): { id: string; madeAt: number } | 'void' | 'foreign' {
    const [id, ext, source, hash] = ['mid', 'ext', 'source', 'hash'].map((name) => query.get(name) ?? '') as [
      string,
      string,
      string,
      string,
    ];
    const bound = source === 'webhook' ? null : token;
    if (!same(hash, this.hashOf(id, ext, source, bound))) return 'foreign';
    return Number(ext) < Date.now() ? 'void' : { id, madeAt: Number(ext) - this.lifeMs };
  }

  private hashOf(id: string, ext: string, source: string, token: string | null): string {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([id, ext, source, token]))
      .digest('base64url');
  }
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
