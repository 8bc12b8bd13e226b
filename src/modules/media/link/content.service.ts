import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { databaseClock } from '../../../common/clock.js';
import type { AppError } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { isUuid } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { sealingVersion } from '../../../infrastructure/config/encryption-keys.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { noneMatchNames } from '../../../infrastructure/http/if-none-match.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import {
  type ByteRange,
  FileGoneError,
  FileStorage,
  StorageUnavailableError,
} from '../../../infrastructure/storage/file-storage.js';
import type { MediaObjectEntity } from '../entities/media-object.entity.js';
import { contentDisposition, servedName } from '../file-name.js';
import { mediaErrors } from '../media.errors.js';
import type { LinkDisposition, MediaLink, MediaObject } from '../media.types.js';
import { MediaRepository } from '../media.repository.js';
import { isKnownMimeType, isShown } from '../sniff/formats.js';

const LIFETIME_MS = 15 * 60_000;

/** The file of a link, and whether a browser may show it. */
export interface LinkTarget {
  organizationId: string;
  id: string;
  disposition: LinkDisposition;
}

export interface LinkOptions {
  /** Default: attachment. */
  disposition?: LinkDisposition;
  /** Milliseconds since 1970. */
  now?: number;
}

/**
 * Links to files that need no API key: an HMAC over all parameters authenticates them. The signing key is derived from
 * the current one of ENCRYPTION_KEYS; links stay valid after a rotation as long as the older key is listed.
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

  make({ organizationId, id }: Pick<MediaObject, 'organizationId' | 'id'>, options: LinkOptions = {}): MediaLink {
    const { disposition = 'attachment', now = databaseClock.now() } = options;
    // Whole seconds, as the link has them.
    const expires = Math.floor((now + LIFETIME_MS) / 1_000);
    const query = new URLSearchParams({
      ...(disposition === 'inline' && { disposition }),
      organization: organizationId,
      expires: String(expires),
      key: String(this.newest),
      signature: this.sign({ organizationId, id, disposition }, expires, this.newest).toString('base64url'),
    });
    const url = `${this.publicUrl.value}/media/${id}/content?${query.toString()}`;
    return { url, expiresAt: new Date(expires * 1_000) };
  }

  /**
   * The file that a request may read.
   *
   * @param search the query as received, without `?`
   * @throws MEDIA_LINK_INVALID (403), MEDIA_LINK_EXPIRED (403) if only the time has passed.
   */
  verify(id: string, search: string, now = databaseClock.now()): LinkTarget {
    const [, inline, expires, key, organization = '', signature = ''] =
      PARAMETERS.exec(search.split('&').sort().join('&')) ?? [];
    const disposition: LinkDisposition = inline === undefined ? 'attachment' : 'inline';
    const target = { organizationId: organization, id, disposition };
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
    const text = ['GET', target.organizationId, target.id, target.disposition, expires, version].join('\n');
    return createHmac('sha256', key).update(text).digest();
  }
}

/**
 * Each parameter exactly once in canonical form, and no others, since those would be unsigned. The last of the
 * signature's 43 characters has two unused bits, which must be zero.
 */
const PARAMETERS =
  /^(disposition=inline&)?expires=([1-9]\d{0,11})&key=(0|[1-9]\d{0,5})&organization=([0-9a-f-]{36})&signature=([\w-]{42}[AEIMQUYcgkosw048])$/;

/** Serves the bytes of a temporary link. */
@Injectable()
export class ContentService {
  private readonly logger = new Logger(ContentService.name);

  constructor(
    private readonly links: MediaLinks,
    private readonly media: MediaRepository,
    private readonly storage: FileStorage,
  ) {}

  /**
   * Answers a GET or HEAD with the file, with the requested range of it, or with 304 if the caller has it.
   *
   * @throws MEDIA_LINK_INVALID, MEDIA_LINK_EXPIRED (403), MEDIA_NOT_FOUND (404) where the file is deleted or not
   * fetched yet, SERVICE_UNAVAILABLE (503).
   */
  async serve(id: string, req: HeraldRequest, res: Response): Promise<void> {
    const target = this.links.verify(id, searchOf(req.originalUrl));
    const media = await this.media.findById(target.organizationId, target.id);
    if (media?.status !== 'stored') throw mediaErrors.MEDIA_NOT_FOUND({});
    const sizeBytes = media.sizeBytes ?? 0;
    const etag = `"${media.sha256}"`;
    if (noneMatchNames(req.headers['if-none-match'], etag)) {
      setHeaders(res, media, target.disposition);
      res.setHeader('ETag', etag);
      res.status(304).end();
      return;
    }
    const isSame = req.headers['if-range'] === undefined || req.headers['if-range'] === etag;
    const range = isSame ? readRange(req.headers.range, sizeBytes) : null;
    const isHead = req.method === 'HEAD';
    const bytes = range === 'unsatisfiable' || isHead ? null : await this.open(media, range ?? undefined);

    setHeaders(res, media, target.disposition);
    res.setHeader('ETag', etag);
    if (range === 'unsatisfiable') {
      res.setHeader('Content-Range', `bytes */${sizeBytes}`);
      res.setHeader('Content-Length', 0);
      res.status(416).end();
      return;
    }
    if (range !== null) res.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
    res.setHeader('Content-Length', range === null ? sizeBytes : range.end - range.start + 1);
    res.status(range === null ? 200 : 206);
    if (bytes === null) {
      res.end();
      return;
    }
    // The caller may disconnect. If the file ends too early the connection is broken, so that the caller notices. The
    // server's limits cut off a caller that stays and reads nothing.
    await pipeline(bytes, res).catch(() => res.destroy());
  }

  private async open(media: MediaObjectEntity, range?: ByteRange) {
    try {
      return await this.storage.open(media.storageKey ?? '', range);
    } catch (error) {
      if (error instanceof FileGoneError) throw await this.notFound(media, error);
      if (!(error instanceof StorageUnavailableError)) throw error;
      throw commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: error.message, cause: error });
    }
  }

  /** It may have been deleted just now; otherwise the operator must learn that the storage has lost it. */
  private async notFound({ organizationId, id }: MediaObjectEntity, cause: FileGoneError): Promise<AppError> {
    const now = await this.media.findById(organizationId, id);
    if (now?.status !== 'stored') return mediaErrors.MEDIA_NOT_FOUND({}, { cause });
    this.logger.error(`file ${id}: its bytes are missing, restore them from a backup: ${cause.message}`);
    return mediaErrors.MEDIA_NOT_FOUND({ reason: 'lost' }, { cause });
  }
}

/**
 * Files are untrusted: a browser must not run, sniff or cache them, and shows one only if the link allows it. The link
 * itself is the permission, so pages of any origin may show the file.
 */
function setHeaders(res: Response, media: MediaObjectEntity, wanted: LinkDisposition): void {
  const disposition = isShown(media.mimeType) ? wanted : 'attachment';
  const name = servedName(media.filename, media.id, media.mimeType);
  res.setHeader('Content-Type', isKnownMimeType(media.mimeType) ? media.mimeType : 'application/octet-stream');
  res.setHeader('Content-Disposition', contentDisposition(disposition, name));
  res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  res.setHeader('Cache-Control', 'private, no-store');
  res.setHeader('Accept-Ranges', 'bytes');
}

function searchOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

/**
 * The range that a `Range` header asks for. Null: answer with the whole file, since the header is missing, asks for
 * several ranges, or is not one that we support (RFC 9110, 14.2). `unsatisfiable`: it begins beyond the end.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= sizeBytes ? 'unsatisfiable' : { start, end };
}
