import { pageOf, type PaginationResponse } from '../../infrastructure/http/pagination.response.js';
import { Injectable } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import type { Statements } from '../../infrastructure/database/database.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { cleanFileName } from './file-name.js';
import { MediaLinks } from './link/content.service.js';
import { mediaErrors } from './media.errors.js';
import { MediaMaintenance } from './media.maintenance.js';
import { MediaRepository } from './media.repository.js';
import type { FileForSending, LinkDisposition, ListedMedia, MediaFilter, MediaLink } from './media.types.js';
import type { MediaType, PendingMedia } from './media.types.js';
import { hexDigest, mimeTypeOf } from './sniff/formats.js';

/** A fetch usually takes less. */
const FETCH_SECONDS = 2;

/** Media files of the workspaces: their data, links and deletion. */
@Injectable()
export class MediaService {
  constructor(
    private readonly media: MediaRepository,
    private readonly connections: ConnectionsService,
    private readonly links: MediaLinks,
    private readonly maintenance: MediaMaintenance,
  ) {}

  /**
   * One page of the workspace's files, newest first.
   *
   * @throws CONNECTION_NOT_FOUND (404) where the filter's connection is not the workspace's.
   */
  async list(
    organizationId: string,
    filter: MediaFilter,
  ): Promise<{ media: ListedMedia[]; pagination: PaginationResponse }> {
    if (filter.connectionId !== null) await this.connections.getById(organizationId, filter.connectionId);
    const found = await this.media.page(organizationId, { ...filter, limit: filter.limit + 1 });
    const { rows, pagination } = pageOf(found, filter.limit, ({ createdAt }) => createdAt);
    return { media: rows.map((one) => ({ ...one, expiresAt: this.maintenance.expiryOf(one) })), pagination };
  }

  /** A file in the form of lists. */
  async get(organizationId: string, id: string): Promise<ListedMedia> {
    const media = await this.media.findById(organizationId, id);
    if (media === null) throw mediaErrors.MEDIA_NOT_FOUND({});
    return { ...media, expiresAt: this.maintenance.expiryOf(media) };
  }

  /**
   * A link to the bytes that works without a key, for 15 minutes.
   *
   * @throws MEDIA_NOT_FOUND (404), MEDIA_PENDING (409) while a customer's file is not fetched yet.
   */
  async link(organizationId: string, id: string, disposition?: LinkDisposition): Promise<MediaLink> {
    const media = await this.get(organizationId, id);
    if (media.status === 'pending') throw mediaErrors.MEDIA_PENDING({ retryAfterSeconds: FETCH_SECONDS });
    if (media.status === 'failed') throw mediaErrors.MEDIA_NOT_FOUND({ reason: 'not_fetched' });
    return this.links.make(media, { disposition });
  }

  /**
   * Deletes the file here, and its copies at WhatsApp as far as possible. A queued message that needs it will fail.
   *
   * @throws MEDIA_NOT_FOUND (404) where the workspace has no such file.
   */
  async delete(organizationId: string, id: string): Promise<void> {
    const removed = await this.media.deleteAll(organizationId, [id]);
    if (removed.length === 0) throw mediaErrors.MEDIA_NOT_FOUND({});
    await this.maintenance.finishRemoval(removed);
  }

  /** Deletes the workspace's files among these ids, like `delete`. */
  async deleteAll(organizationId: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.maintenance.finishRemoval(await this.media.deleteAll(organizationId, ids));
  }

  /**
   * A file of the workspace, for sending as `type`.
   *
   * @throws MEDIA_NOT_FOUND (422) where the workspace has no such file or its bytes do not exist, MEDIA_TYPE_MISMATCH
   * (422) where it is of another type.
   */
  async requireForSending(organizationId: string, mediaId: string, type: MediaType): Promise<FileForSending> {
    const media = await this.media.findForSending(organizationId, mediaId);
    if (media?.status !== 'stored') throw this.gone();
    if (media.type !== type) throw mediaErrors.MEDIA_TYPE_MISMATCH({ expected: type, given: media.type });
    return media;
  }

  /** MEDIA_NOT_FOUND (422), for a required file whose bytes are lost. */
  gone(): AppError {
    return mediaErrors.MEDIA_NOT_FOUND({}).withKind('unprocessable');
  }

  /** Adds customers' files to fetch, with the statements of the transaction that stores their messages. */
  async createPending(items: readonly PendingMedia[], statements: Statements): Promise<void> {
    if (items.length > 0) await this.media.insertPending(items.map(storable), statements);
  }
}

/** Makes texts of an announced file fit the table, since they are foreign data. */
export function storable(item: PendingMedia): PendingMedia & { mimeType: string } {
  return {
    ...item,
    mimeType: mimeTypeOf(item.mimeType),
    sha256: hexDigest(item.sha256),
    filename: cleanFileName(item.filename),
  };
}
