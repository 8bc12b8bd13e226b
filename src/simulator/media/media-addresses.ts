import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { ownAddress, queryParam } from '../http/route.js';

export const DOWNLOAD_PATH = '/whatsapp_business/attachments/';

/** Where an address came from: the media call, or a notification. */
type AddressSource = 'getMedia' | 'webhook';

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

  make(request: Request, id: string, source: AddressSource, token: string | null): string {
    const ext = String(Date.now() + this.lifeMs);
    const hash = this.hashOf(id, ext, source, token);
    const query = new URLSearchParams({ mid: id, source, ext, hash });
    return `${ownAddress(request)}${DOWNLOAD_PATH}?${query.toString()}`;
  }

  /** The file's id and when the address was given out; null where the address is void or was made up. */
  read(request: Request, token: string): { id: string; madeAt: number } | 'void' | 'foreign' {
    const read = (name: string) => queryParam(request, name) ?? '';
    const [id, ext, source] = [read('mid'), read('ext'), read('source')];
    const bound = source === 'webhook' ? null : token;
    if (!same(read('hash'), this.hashOf(id, ext, source, bound))) return 'foreign';
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
