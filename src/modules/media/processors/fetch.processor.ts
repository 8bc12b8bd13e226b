import { createHash } from 'node:crypto';
import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../../common/app-error.js';
import { describeError } from '../../../common/describe-error.js';
import { retry } from '../../../common/retry.js';
import { deferralMs, MAX_DELAY_MS } from '../../../common/retry-schedule.js';
import { Config } from '../../../infrastructure/config/config.js';
import { inBatches } from '../../../infrastructure/queue/sweeps.js';
import type { ClaimRequest, LanePace, Claim } from '../../../infrastructure/queue/lane-grant.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { claimEach, type QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { StorageUnavailableError, type TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { findPlatformError } from '../../../infrastructure/whatsapp/graph-error.js';
import {
  MediaClient,
  type MediaDescription,
  type DownloadExchange,
} from '../../../infrastructure/whatsapp/media-client.js';
import { isTokenRefused, type PlatformFailure } from '../../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { canSend, type SendingConnection } from '../../connections/connections.types.js';
import { MediaFiles, type FileFacts } from '../media-files.js';
import { HEAD_BYTES } from '../sniff/contents.js';
import { agrees, hexDigest, mimeTypeOf } from '../sniff/formats.js';
import { firstLook } from '../sniff/recognise.js';
import {
  connectionOfLane,
  FETCH_LEASE_MS,
  fetchLaneOf,
  FetchRepository,
  type ClaimedFile,
} from '../transfer/fetch.repository.js';

export const FETCH_QUEUE = 'media';

/** How often a new address of a file is requested because the old one expired. */
const ADDRESSES = 2;
/** Tries of a file that WhatsApp does not have, or that does not match its description: about an hour. */
const MAX_REFUSALS = 9;
/** From this count on the delay is the longest; an outage counts no further. */
const TRIES_OF_AN_OUTAGE = 6;
const RECORD_FOR_MS = 30_000;
/** SQL, for a file: seconds until the end of its lease, or until its next try. */
const MOST_AHEAD = `least(${MAX_DELAY_MS / 1_000}, greatest(${FETCH_LEASE_MS / 1_000}, power(4, least(tries, 5))))`;
const ANY_TYPE = 'application/octet-stream';

/** A claimed file, and when it was claimed (monotonic ms). */
export type FetchTask = ClaimedFile & { claimedAt: number };

/** Fetches customers' files from WhatsApp into the storage. */
@Injectable()
export class MediaFetcher implements QueueKind<FetchTask> {
  readonly name = FETCH_QUEUE;
  /** So that slow files of one number leave places for others. */
  readonly maxPerLane = 16;
  private readonly logger = new Logger(MediaFetcher.name);
  private readonly running = new Set<AbortController>();
  private stopping = false;

  constructor(
    private readonly fetches: FetchRepository,
    private readonly files: MediaFiles,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    private readonly client: MediaClient,
    private readonly config: Config,
    private readonly counters: Counters,
  ) {}

  /** Aborts running fetches; those files return to the lane. */
  stop(): void {
    this.stopping = true;
    for (const fetch of this.running) fetch.abort();
  }

  async pace(laneKey: string): Promise<LanePace | null> {
    const connection = await this.usable(connectionOfLane(laneKey));
    // The number's throughput also limits fetches, so that in the long run files are fetched as fast as they come.
    if (connection !== null) return { ratePerSecond: connection.throughputPerSecond, burstSeconds: 1 };
    // A number without a working token is checked once a minute, not with every sweep.
    await this.lanes.pause(laneKey, 'not connected');
    return null;
  }

  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<FetchTask> | Error)[]> {
    return claimEach(requests, (request) => this.claimLane(request, withinMs));
  }

  private async claimLane(request: ClaimRequest, withinMs?: number): Promise<Claim<FetchTask>> {
    const claimedAt = performance.now();
    const { grant, items } = await this.fetches.claim(request, withinMs);
    return { grant, items: items.map((file) => ({ ...file, claimedAt })) };
  }

  async work(file: FetchTask): Promise<number | null> {
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
    let problem: FetchFailure | null;
    try {
      problem = await this.fetch(file, abort.signal);
    } catch (error) {
      // The storage or the database failed, not the fetch of the file.
      this.logger.warn(`file ${file.id} could not be stored: ${describeError(error)}`);
      const reason =
        error instanceof StorageUnavailableError ? 'the storage is full or unavailable' : 'an internal error';
      problem = { kind: 'wait', failure: `The file could not be stored (${reason}).` };
    } finally {
      clearInterval(renewing);
      this.running.delete(abort);
    }
    this.counters.increment(`media_fetch_${problem?.kind ?? 'stored'}`);
    if (problem === null) {
      await this.lanes.succeeded(fetchLaneOf(file.connectionId), file.claimedAt)?.catch(() => undefined);
    } else if (!lost) {
      return this.record(file, problem);
    }
    return null;
  }

  /** Null where the file is stored, or was deleted meanwhile. */
  private async fetch(file: ClaimedFile, signal: AbortSignal): Promise<FetchFailure | null> {
    const connection = await this.usable(file.connectionId);
    // It had no time to start, and is released anyway.
    if (this.stopping) return { kind: 'wait', failure: 'Herald stopped.' };
    if (connection === null) return { kind: 'account', failure: 'The number is not connected.' };
    for (let addresses = 1; ; addresses++) {
      const described = await this.client.describeMedia({
        mediaId: file.platformMediaId,
        phoneNumberId: connection.phoneNumberId,
        token: connection.token,
      });
      if (!described.ok) {
        if (isTokenRefused(described)) await this.connections.tokenRefused(connection);
        return failureOfDescription(described);
      }
      const problem = await this.download(file, described.body, connection, signal, addresses < ADDRESSES);
      if (problem !== 'stale') return problem;
    }
  }

  private async download(
    file: ClaimedFile,
    described: MediaDescription,
    connection: SendingConnection,
    signal: AbortSignal,
    mayAskAgain: boolean,
  ): Promise<FetchFailure | 'stale' | null> {
    const { maxInboundBytes } = this.config.media;
    if ((described.sizeBytes ?? 0) > maxInboundBytes) return failureOfDownload({ kind: 'too_large' }, maxInboundBytes);
    if ((await this.files.lackOfSpace(file.organizationId, described.sizeBytes ?? 1)) !== null) return this.full();
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
      const problem = failureOfDownload(exchange, maxInboundBytes);
      if (problem !== null) return problem;
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
  ): Promise<FetchFailure | null> {
    const { sizeBytes } = temporary;
    if (described.sizeBytes !== null && described.sizeBytes !== sizeBytes) {
      return { kind: 'refused', failure: `The file has ${sizeBytes} bytes instead of ${described.sizeBytes}.` };
    }
    const announced = hexDigest(described.sha256) ?? file.sha256;
    if (announced !== null && announced !== sha256) {
      return { kind: 'refused', failure: 'The bytes that came have another SHA-256 than the platform said.' };
    }
    // The type that the sender declared, as reported by WhatsApp: the file is served as a download and never run.
    const mimeType = file.mimeType === ANY_TYPE ? mimeTypeOf(described.mimeType) : file.mimeType;
    await this.compareType(file, mimeType, temporary);
    const facts: FileFacts = { mimeType, sizeBytes, sha256 };
    try {
      if (!(await this.files.keepFetched(temporary, file, facts))) this.counters.increment('media_fetch_too_late');
    } catch (error) {
      // Others took the space while it came.
      if (error instanceof AppError && error.code === 'MEDIA_STORAGE_FULL') return this.full();
      throw error;
    }
    return null;
  }

  private full(): FetchFailure {
    this.counters.increment('media_fetch_storage_full');
    return { kind: 'wait', failure: "The workspace's storage is full: herald workspace limits --storage-bytes." };
  }

  /** Records that the bytes have another type than declared; the file is still stored. */
  private async compareType(file: ClaimedFile, mimeType: string, temporary: TemporaryFile): Promise<void> {
    const { name: detected } = await firstLook(await temporary.read(0, HEAD_BYTES));
    if (detected === null || agrees(mimeType, detected) || agrees(detected, mimeType)) return;
    this.counters.increment('media_fetch_other_type');
    this.logger.log(`file ${file.id} was announced as ${mimeType}; its bytes look like ${detected}`);
  }

  /** A failure of the database does not end the claim: recording is retried for a while, then the lease decides. */
  private async record(file: FetchTask, problem: FetchFailure): Promise<number | null> {
    try {
      return await retry(() => this.settle(file, problem), { forMs: RECORD_FOR_MS, onFailure: () => undefined });
    } catch (error) {
      this.logger.error(`file ${file.id}: the outcome of its fetch could not be stored: ${describeError(error)}`);
      return null;
    }
  }

  /** @returns milliseconds until the file is due again; null where it is not, or is due at once. */
  private async settle(file: FetchTask, { kind, failure }: FetchFailure): Promise<number | null> {
    if (this.stopping) {
      await this.fetches.release(file, null);
    } else if (kind === 'account') {
      // Pauses before the file is due again.
      const { claimedAt } = file;
      await this.lanes.pause(fetchLaneOf(file.connectionId), failure.slice(0, 200), { claimedAt });
      await this.fetches.release(file, failure);
    } else if (kind === 'failed' || (kind === 'refused' && file.tries >= MAX_REFUSALS)) {
      await this.fetches.fail(file, failure);
    } else {
      const delayMs = deferralMs(file.tries, Math.random());
      await this.fetches.retry(file, failure, delayMs, kind === 'wait' ? TRIES_OF_AN_OUTAGE : null);
      return delayMs;
    }
    return null;
  }

  private async usable(connectionId: string): Promise<SendingConnection | null> {
    const connection = await this.connections.forSending(connectionId);
    return connection !== null && canSend(connection.status) ? connection : null;
  }
}

/** Limit of files being fetched by this process. Separate from the slots of messages, so no file delays a message. */
const MAX_IN_FLIGHT = 64;
const SWEEP_BATCH = 1_000;

/**
 * The steps of a file that a customer sent:
 *
 * 1. Its `pending` row is inserted in the transaction that stores its message; its connection's fetch lane is woken.
 * 2. A worker drains the lane and claims due files, a few at once, each with a lease of a minute that it renews.
 * 3. WhatsApp is asked for the file's address, and the bytes are streamed into a temporary file of the storage.
 * 4. If size and SHA-256 match WhatsApp's description, the file is stored under its key, and the row says `stored`.
 * 5. Otherwise it is tried again at growing intervals, until WhatsApp deletes the file after seven days.
 *
 * If the process dies, the lease runs out, the file is due again, and the storage removes the partial file. A stop
 * aborts running fetches and releases their files.
 */
@Processor(FETCH_QUEUE, QUEUE_WORKER_OPTIONS)
export class FetchProcessor extends QueueProcessor<FetchTask> {
  constructor(fetches: FetchRepository, fetcher: MediaFetcher, parts: QueueParts) {
    super(
      {
        kind: fetcher,
        maxInFlight: MAX_IN_FLIGHT,
        // Files with an expired lease are due files too: see FetchRepository.
        dueLanes: fetches.dueLanes,
        waitsFor: [
          {
            table: 'media_object',
            column: 'next_attempt_at',
            where: 'next_attempt_at is not null',
            mostAhead: MOST_AHEAD,
          },
        ],
        leftAtStop: (count) => `${count} files were on their way when Herald stopped; they are fetched again`,
      },
      parts,
    );
    parts.sweeps.add({
      name: 'media_expiry',
      everyMs: 60_000,
      run: (signal) => inBatches(signal, SWEEP_BATCH, (limit) => fetches.expire(limit)),
    });
  }
}

/**
 * Why a file was not fetched. `wait`: not the file's fault. `refused`: WhatsApp does not have it, or it does not match
 * its description; a few more tries. `failed`: it cannot be fetched. `account`: the fault is with the number or its
 * token.
 */
export interface FetchFailure {
  readonly kind: 'wait' | 'refused' | 'failed' | 'account';
  /** One sentence, without the token or the file's address. */
  readonly failure: string;
}

/** The meaning of a failed request for a file's description. */
export function failureOfDescription(answer: PlatformFailure): FetchFailure {
  const { kind, code, subcode, message: failure } = answer;
  if (kind !== 'rejected') return { kind: 'wait', failure };
  const listed = code === null ? null : findPlatformError(code, subcode);
  if (listed?.action === 'pause_lane') return { kind: 'account', failure };
  // Without a status, Herald itself refused to send the token.
  if (answer.status === null) return { kind: 'account', failure };
  const forNow = listed?.category === 'rate_limited' || listed?.category === 'platform_unavailable';
  return { kind: forNow ? 'wait' : 'refused', failure };
}

/** An address is valid for five minutes: if it has expired, another may be requested. */
export function isStaleAddress(exchange: DownloadExchange): boolean {
  return exchange.kind === 'refused' && [403, 404, 410].includes(exchange.status);
}

/** The meaning of a failed download; null where it succeeded. */
export function failureOfDownload(exchange: DownloadExchange, maxBytes: number): FetchFailure | null {
  switch (exchange.kind) {
    case 'downloaded':
      return null;
    case 'too_large':
      return { kind: 'failed', failure: `The file is larger than ${maxBytes} bytes.` };
    case 'address':
      return { kind: 'refused', failure: 'The platform named an address that is none of its own.' };
    case 'refused':
      return { kind: 'wait', failure: `The platform answered HTTP ${exchange.status} instead of the file.` };
    case 'broken':
      return { kind: 'wait', failure: `The file broke off on its way (${exchange.code}).` };
  }
}
