import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { commonErrors } from '../../../common/common.errors.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import {
  type ByteRange,
  FileGoneError,
  StorageUnavailableError,
} from '../../../infrastructure/storage/file-storage.js';
import type { MediaObjectEntity } from '../entities/media-object.entity.js';
import { attachment, servedName } from '../file-name.js';
import { MediaFiles } from '../media-files.js';
import { mediaErrors } from '../media.errors.js';
import { MediaRepository } from '../media.repository.js';
import { isKnownMimeType } from '../sniff/formats.js';
import { MediaLinks } from './media-links.js';

/** Hands out the bytes that a temporary link names. */
@Injectable()
export class ContentService {
  constructor(
    private readonly links: MediaLinks,
    private readonly media: MediaRepository,
    private readonly files: MediaFiles,
  ) {}

  /**
   * Answers a GET or HEAD with the file, or with the range of it that was asked for.
   *
   * @throws MEDIA_LINK_INVALID, MEDIA_LINK_EXPIRED (403), MEDIA_NOT_FOUND (404) where the file is deleted or not fetched
   * yet, SERVICE_UNAVAILABLE (503).
   */
  async serve(id: string, req: HeraldRequest, res: Response): Promise<void> {
    const target = this.links.verify(id, searchOf(req.originalUrl));
    const media = await this.media.findById(target.organizationId, target.id);
    if (media?.status !== 'stored') throw mediaErrors.MEDIA_NOT_FOUND({});
    const sizeBytes = media.sizeBytes ?? 0;
    const etag = `"${media.sha256}"`;
    const isSame = req.headers['if-range'] === undefined || req.headers['if-range'] === etag;
    const range = isSame ? readRange(req.headers.range, sizeBytes) : null;
    const isHead = req.method === 'HEAD';
    const bytes = range === 'unsatisfiable' || isHead ? null : await this.open(media, range ?? undefined);

    setHeaders(res, media);
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
    // A caller may go away; a file that ends too early breaks the connection, so that the caller notices. A caller that
    // stays and reads nothing is cut off by the server's limits.
    await pipeline(bytes, res).catch(() => res.destroy());
  }

  private async open(media: MediaObjectEntity, range?: ByteRange) {
    try {
      return await this.files.open(media, range);
    } catch (error) {
      if (error instanceof FileGoneError) throw mediaErrors.MEDIA_NOT_FOUND({}, { cause: error });
      if (!(error instanceof StorageUnavailableError)) throw error;
      throw commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: error.message, cause: error });
    }
  }
}

/** Files come from strangers: nothing of them may be shown, run, guessed at or cached by a browser. */
function setHeaders(res: Response, media: MediaObjectEntity): void {
  res.setHeader('Content-Type', isKnownMimeType(media.mimeType) ? media.mimeType : 'application/octet-stream');
  res.setHeader('Content-Disposition', attachment(servedName(media.filename, media.id, media.mimeType)));
  res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  res.setHeader('Cross-Origin-Resource-Policy', 'same-site');
  res.setHeader('Cache-Control', 'private, no-store');
  res.setHeader('Accept-Ranges', 'bytes');
}

function searchOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}

/**
 * The one range that a `Range` header asks for. Null: answer with the whole file, since the header is missing, asks for
 * several ranges or is none that we know (RFC 9110, 14.2). `unsatisfiable`: it begins beyond the end.
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
