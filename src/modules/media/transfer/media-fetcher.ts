import { describeError } from '../../../common/describe-error.js';
import { Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { retry } from '../../../common/retry.js';
import { deferralMs } from '../../../common/retry-schedule.js';
import { Config } from '../../../infrastructure/config/config.js';
import type { Claim, ClaimRequest, LaneHandler, LanePace } from '../../../infrastructure/lanes/lane-handler.js';
import { LaneRepository } from '../../../infrastructure/lanes/lane.repository.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { StorageUnavailableError, type TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { MediaClient } from '../../../infrastructure/whatsapp/media-client.js';
import type { MediaDescription } from '../../../infrastructure/whatsapp/media-description.js';
import { isTokenRefused } from '../../../infrastructure/whatsapp/platform-fault.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { canSend, type SendingConnection } from '../../connections/connections.types.js';
import { MediaFiles, type FileFacts } from '../media-files.js';
import { StorageQuota } from '../storage-quota.js';
import { hexDigest, mimeTypeOf } from '../pending-media.js';
import { agrees, firstLook, HEAD_BYTES } from '../sniff/first-look.js';
import { faultOfDescription, faultOfDownload, isStaleAddress, type FetchFault } from './fetch-verdict.js';
import {
  connectionOfLane,
  FETCH_LEASE_MS,
  fetchLaneOf,
  FetchRepository,
  type ClaimedFile,
} from './fetch.repository.js';

export const FETCH_QUEUE = 'media';

/** How often a file is asked for again because its address is gone. */
const ADDRESSES = 2;
/** Tries of a file that the platform does not have, or has not as it said: about an hour. */
const MOST_REFUSALS = 9;
/** From this count on the delay is as long as it gets; an outage counts no further. */
const TRIES_OF_AN_OUTAGE = 6;
const RECORD_FOR_MS = 30_000;
/** What came of a file whose fetch had no time to begin; it is put back in any case. */
const STOPPED: FetchFault = { kind: 'wait', failure: 'Herald stopped.' };
const STORAGE_FULL: FetchFault = {
  kind: 'wait',
  failure: "The workspace's storage is full: herald workspace limits --storage-bytes.",
};
const ANY_TYPE = 'application/octet-stream';

/** A claimed file, and when it was claimed (monotonic ms). */
export type FetchTask = ClaimedFile & { claimedAt: number };

/** Fetches customers' files from the platform into the storage. */
@Injectable()
export class MediaFetcher implements LaneHandler<FetchTask> {
  readonly name = FETCH_QUEUE;
  /** One slow file leaves places for others. */
  readonly maxInFlightPerLane = 16;
  private readonly logger = new Logger(MediaFetcher.name);
  private readonly running = new Set<AbortController>();
  private stopping = false;

  constructor(
    private readonly fetches: FetchRepository,
    private readonly files: MediaFiles,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    private readonly client: MediaClient,
    private readonly quota: StorageQuota,
    private readonly config: Config,
    private readonly counters: Counters,
  ) {}

  /** Breaks off what is on its way; those files go back to the lane. */
  stop(): void {
    this.stopping = true;
    for (const fetch of this.running) fetch.abort();
  }

  async pace(laneKey: string): Promise<LanePace | null> {
    const connection = await this.usable(connectionOfLane(laneKey));
    // The number's throughput counts what comes in as well, so that files never come faster in the long run.
    if (connection !== null) return { ratePerSecond: connection.throughputPerSecond, burstSeconds: 1 };
    // A number without a working token is looked at again once a minute, not with every sweep.
    await this.lanes.pause(laneKey, 'not connected');
    return null;
  }

  async claim(request: ClaimRequest): Promise<Claim<FetchTask>> {
    const claimedAt = performance.now();
    const { hold, items } = await this.fetches.claim(request);
    return { hold, items: items.map((file) => ({ ...file, claimedAt })) };
  }

  async work(file: FetchTask): Promise<boolean> {
    const abort = new AbortController();
    this.running.add(abort);
    let lost = false;
    const renewing = setInterval(() => {
      this.fetches.renew(file).then(
        (mine) => {
          if (mine) return;
          lost = true;
          abort.abort();
        },
        (error: unknown) => this.logger.warn(`the lease of file ${file.id}: ${describeError(error)}`),
      );
    }, FETCH_LEASE_MS / 4);
    let fault: FetchFault | null;
    try {
      fault = await this.fetch(file, abort.signal);
    } catch (error) {
      // The storage or the database: the file is not to blame.
      this.logger.warn(`file ${file.id} could not be stored: ${describeError(error)}`);
      const reason = error instanceof StorageUnavailableError ? 'no room for it' : 'a fault of Herald';
      fault = { kind: 'wait', failure: `The file could not be stored (${reason}).` };
    } finally {
      clearInterval(renewing);
      this.running.delete(abort);
    }
    this.counters.increment(`media_fetch_${fault?.kind ?? 'stored'}`);
    if (fault === null) {
      await this.lanes.succeeded(fetchLaneOf(file.connectionId), file.claimedAt).catch(() => undefined);
    } else if (!lost) {
      await this.record(file, fault);
    }
    return false;
  }

  /** Null where the file is stored, or was deleted meanwhile. */
  private async fetch(file: ClaimedFile, signal: AbortSignal): Promise<FetchFault | null> {
    const connection = await this.usable(file.connectionId);
    if (this.stopping) return STOPPED;
    if (connection === null) return { kind: 'account', failure: 'The number is not connected.' };
    for (let addresses = 1; ; addresses++) {
      const described = await this.client.describeMedia({
        mediaId: file.platformMediaId,
        phoneNumberId: connection.phoneNumberId,
        token: connection.token,
      });
      if (!described.ok) {
        if (isTokenRefused(described)) await this.connections.tokenRefused(connection);
        return faultOfDescription(described);
      }
      const fault = await this.download(file, described.body, connection, signal, addresses < ADDRESSES);
      if (fault !== 'stale') return fault;
    }
  }

  private async download(
    file: ClaimedFile,
    described: MediaDescription,
    connection: SendingConnection,
    signal: AbortSignal,
    mayAskAgain: boolean,
  ): Promise<FetchFault | 'stale' | null> {
    const { maxInboundBytes } = this.config.media;
    if ((described.sizeBytes ?? 0) > maxInboundBytes) return faultOfDownload({ kind: 'too_large' }, maxInboundBytes);
    if (!(await this.quota.hasSpaceFor(file.organizationId, described.sizeBytes ?? 1))) {
      this.counters.increment('media_fetch_storage_full');
      return STORAGE_FULL;
    }
    const temporary = await this.files.create();
    try {
      const digest = createHash('sha256');
      const exchange = await this.client.downloadMedia({
        url: described.url,
        token: connection.token,
        maxBytes: maxInboundBytes,
        signal,
        consume: (chunk) => {
          digest.update(chunk);
          return temporary.write(chunk);
        },
      });
      if (mayAskAgain && isStaleAddress(exchange)) return 'stale';
      const fault = faultOfDownload(exchange, maxInboundBytes);
      if (fault !== null) return fault;
      const sha256 = digest.digest('hex');
      return await this.keep(file, described, temporary, sha256);
    } finally {
      await temporary.discard();
    }
  }

  private async keep(
    file: ClaimedFile,
    described: MediaDescription,
    temporary: TemporaryFile,
    sha256: string,
  ): Promise<FetchFault | null> {
    const { sizeBytes } = temporary;
    if (described.sizeBytes !== null && described.sizeBytes !== sizeBytes) {
      return { kind: 'refused', failure: `The file has ${sizeBytes} bytes instead of ${described.sizeBytes}.` };
    }
    const announced = hexDigest(described.sha256) ?? file.sha256;
    if (announced !== null && announced !== sha256) {
      return { kind: 'refused', failure: 'The bytes that came have another SHA-256 than the platform said.' };
    }
    // What the sender called it, as the platform says it: it is handed out as a download and never run.
    const mimeType = file.mimeType === ANY_TYPE ? mimeTypeOf(described.mimeType) : file.mimeType;
    await this.compareType(file, mimeType, temporary);
    const facts: FileFacts = { mimeType, sizeBytes, sha256 };
    if (!(await this.files.keepFetched(temporary, file, facts))) this.counters.increment('media_fetch_too_late');
    return null;
  }

  /** Notes where the bytes are of another type than was said; the file is kept all the same. */
  private async compareType(file: ClaimedFile, mimeType: string, temporary: TemporaryFile): Promise<void> {
    const look = await firstLook(await temporary.read(0, HEAD_BYTES));
    const detected = look.family === null ? look.detected : look.name;
    if (detected === null || agrees(mimeType, detected) || agrees(detected, mimeType)) return;
    this.counters.increment('media_fetch_other_type');
    this.logger.log(`file ${file.id} was announced as ${mimeType}; its bytes look like ${detected}`);
  }

  /** A fault of the database is not the end of the claim: it is tried for a while, then the lease decides. */
  private async record(file: ClaimedFile, fault: FetchFault): Promise<void> {
    try {
      await retry(() => this.settle(file, fault), { forMs: RECORD_FOR_MS, onFailure: () => undefined });
    } catch (error) {
      this.logger.error(`file ${file.id}: what came of its fetch could not be stored: ${describeError(error)}`);
    }
  }

  private async settle(file: ClaimedFile, { kind, failure }: FetchFault): Promise<void> {
    if (this.stopping) return this.fetches.putBack(file, null);
    switch (kind) {
      case 'account': {
        // Before the file is due again.
        await this.lanes.pause(fetchLaneOf(file.connectionId), failure.slice(0, 200));
        return this.fetches.putBack(file, failure);
      }
      case 'failed':
        return this.fetches.fail(file, failure);
      case 'refused':
        if (file.tries >= MOST_REFUSALS) return this.fetches.fail(file, failure);
        return this.fetches.retry(file, failure, deferralMs(file.tries, Math.random()), null);
      case 'wait':
        return this.fetches.retry(file, failure, deferralMs(file.tries, Math.random()), TRIES_OF_AN_OUTAGE);
    }
  }

  private async usable(connectionId: string): Promise<SendingConnection | null> {
    const connection = await this.connections.forSending(connectionId);
    return connection !== null && canSend(connection.status) ? connection : null;
  }
}
