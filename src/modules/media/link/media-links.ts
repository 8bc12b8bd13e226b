import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUuid } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { sealingVersion } from '../../../infrastructure/config/encryption-keys.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { mediaErrors } from '../media.errors.js';
import type { MediaLink, MediaObject } from '../media.types.js';

const LIFETIME_MS = 15 * 60_000;
const PARAMETERS = ['expires', 'key', 'organization', 'signature'];

/** What a link may open. */
export interface LinkTarget {
  organizationId: string;
  id: string;
}

/**
 * Links to files that need no key, since they bear their proof: an HMAC over all that they say. Signed with a key that
 * is derived from the current one of ENCRYPTION_KEYS, so links outlive its replacement as long as the older key is named.
 */
@Injectable()
export class MediaLinks {
  private readonly keys: ReadonlyMap<number, Buffer>;
  private readonly newest: number;

  constructor(
    config: Config,
    private readonly publicUrl: PublicUrl,
  ) {
    this.keys = new Map(
      config.security.encryptionKeys.map(({ version, key }) => [
        version,
        Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), 'herald media link v1', 32)),
      ]),
    );
    this.newest = sealingVersion(config.security);
  }

  make(media: Pick<MediaObject, 'organizationId' | 'id'>, now = Date.now()): MediaLink {
    // Whole seconds, as the link has them.
    const expires = Math.floor((now + LIFETIME_MS) / 1_000);
    const query = new URLSearchParams({
      organization: media.organizationId,
      expires: String(expires),
      key: String(this.newest),
      signature: this.sign(media, expires, this.newest).toString('base64url'),
    });
    const url = `${this.publicUrl.value}/media/${media.id}/content?${query.toString()}`;
    return { url, expiresAt: new Date(expires * 1_000) };
  }

  /**
   * Whose file a request may read.
   *
   * @param search the query as it came, without `?`
   * @throws MEDIA_LINK_INVALID (403), MEDIA_LINK_EXPIRED (403) where only the time has passed.
   */
  verify(id: string, search: string, now = Date.now()): LinkTarget {
    const { organization, expires, key, signature } = parametersOf(search);
    const target = { organizationId: organization, id };
    const given = Buffer.from(signature, 'base64url');
    const version = Number(key);
    if (!isUuid(id) || !isUuid(organization) || !this.keys.has(version)) throw mediaErrors.MEDIA_LINK_INVALID();
    const wanted = this.sign(target, Number(expires), version);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw mediaErrors.MEDIA_LINK_INVALID();
    if (now >= Number(expires) * 1_000) throw mediaErrors.MEDIA_LINK_EXPIRED();
    return target;
  }

  private sign(target: LinkTarget, expires: number, version: number): Buffer {
    const key = this.keys.get(version);
    if (key === undefined) throw new Error(`there is no key of version ${version}`);
    const text = ['GET', target.organizationId, target.id, 'attachment', expires, version].join('\n');
    return createHmac('sha256', key).update(text).digest();
  }
}

/** Each parameter once, in its one spelling, and no other: what is not signed must not be there. */
function parametersOf(search: string): { organization: string; expires: string; key: string; signature: string } {
  const found = new Map<string, string>();
  for (const pair of search.split('&')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals);
    if (equals < 0 || found.has(name)) throw mediaErrors.MEDIA_LINK_INVALID();
    found.set(name, pair.slice(equals + 1));
  }
  const [expires = '', key = '', organization = '', signature = ''] = PARAMETERS.map((name) => found.get(name));
  const wellFormed =
    found.size === PARAMETERS.length &&
    /^[1-9]\d{0,11}$/.test(expires) &&
    /^(0|[1-9]\d{0,5})$/.test(key) &&
    /^[0-9a-f-]{36}$/.test(organization) &&
    // The last of 43 characters carries two bits that mean nothing; only zeroes are the signature's own spelling.
    /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(signature);
  if (!wellFormed) throw mediaErrors.MEDIA_LINK_INVALID();
  return { organization, expires, key, signature };
}
