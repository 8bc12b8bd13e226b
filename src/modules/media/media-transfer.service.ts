import { Injectable } from '@nestjs/common';
import type { SendingConnection } from '../connections/connections.types.js';
import type { PlatformId } from './media-transfer.types.js';
import { FetchProcessor } from './processors/fetch.processor.js';
import { fetchLaneOf } from './transfer/fetch.repository.js';
import { PlatformIds } from './transfer/platform-ids.js';

/** Files between our storage and the platform. */
@Injectable()
export class MediaTransferService {
  constructor(
    private readonly ids: PlatformIds,
    private readonly processor: FetchProcessor,
  ) {}

  /**
   * The platform's id of a stored file, to be sent from one number; the file is uploaded on first use. Never rejects.
   * Uploads of one file for one number are shared.
   *
   * Waits at most three seconds and until `notAfter` (by `performance.now()`), then says `later` while the upload goes
   * on; at once where many messages wait already. A file that the platform refused stays `failed` for five minutes without being asked for again.
   */
  platformIdFor(connection: SendingConnection, mediaObjectId: string, notAfter: number): Promise<PlatformId> {
    return this.ids.get(connection, mediaObjectId, notAfter);
  }

  /**
   * The platform refused this id when a message was sent with it: the next use uploads the file again. Call it only
   * where the refusal names the file (codes 100 and 131009 come for other reasons too); after three such refusals with
   * less than an hour between them `platformIdFor` says `failed`. Another id that came since is kept.
   */
  forget(connectionId: string, mediaObjectId: string, platformMediaId: string): Promise<void> {
    return this.ids.forget(connectionId, mediaObjectId, platformMediaId);
  }

  /** After the commit: these connections have files to fetch. Never throws. */
  wakeFetch(connectionIds: Iterable<string>): void {
    for (const connectionId of new Set(connectionIds)) this.processor.wake(fetchLaneOf(connectionId));
  }
}
