import type { Deadline } from '../../common/deadline.js';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../common/clock.js';
import { describeError } from '../../common/describe-error.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import type { FailureCategory } from '../../common/failure-category.js';
import { isUuid } from '../../common/ids.js';
import { retry } from '../../common/retry.js';
import { deferralMs } from '../../common/retry-schedule.js';
import { Slots } from '../../common/slots.js';
import { within } from '../../common/within.js';
import { Config } from '../../infrastructure/config/config.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { FileGoneError, FileStorage } from '../../infrastructure/storage/file-storage.js';
import { MediaClient, type UploadOutcome } from '../../infrastructure/whatsapp/media-client.js';
import { LengthMismatchError } from '../../infrastructure/whatsapp/upload-body.js';
import type { PlatformResult } from '../../infrastructure/whatsapp/platform-result.js';
import type { NotAcceptedOutcome } from '../../infrastructure/whatsapp/outcome.js';
import type { SendingConnection } from '../connections/connections.types.js';
import { uploadName } from './file-name.js';
import { type FileForNumber, MediaRepository, UPLOAD_LEASE_MS, type UploadSource } from './media.repository.js';
import type { PlatformId } from './media.types.js';
import { FetchProcessor } from './processors/fetch.processor.js';
import { fetchLaneOf } from './transfer/fetch.repository.js';

/** Limit of a message's wait for an upload, which continues meanwhile. */
const PATIENCE_MS = 3_000;
/** A message whose file is still being uploaded is tried again after this. */
const LATER: PlatformId = { kind: 'later', retryInMs: 2_000 };
/** Limit of files being uploaded or waiting in this process. */
const MAX_UNDER_WAY = 2_000;
/** Like all facts shared between processes: a file deleted by one is used by another for two seconds at most. */
const READY_FOR_MS = 2_000;
const GONE_FOR_MS = 2_000;
const ACCOUNT_FOR_MS = 2_000;
const REFUSED_FOR_MS = 5 * 60_000;
/** How often, and how long, this process checks whether another one has finished its upload. */
const LOOK_EVERY_MS = 300;
const LOOK_FOR_MS = 60_000;
const MAX_ENTRIES = 20_000;
/**
 * Refusals less than an hour apart count together. The cache keeps an entry through its last millisecond, so one is
 * subtracted.
 */
const REFUSALS = { ttlMs: 60 * 60_000 - 1, maxEntries: MAX_ENTRIES };
const MAX_REFUSALS = 3;
/** How long storing WhatsApp's id of an upload is retried. */
const KEEP_FOR_MS = 3_000;

/**
 * Moves files between our storage and WhatsApp: uploads them on first use and caches WhatsApp's ids, and wakes the
 * fetch lanes.
 */
@Injectable()
export class MediaTransferService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(MediaTransferService.name);
  private readonly answers = new UploadCache();
  /** How often WhatsApp refused an id that it had just given, which limits repeated uploads of a file. */
  private readonly refusals = new ExpiringCache<string, number>(REFUSALS);
  private readonly limiter = new UploadLimiter();
  private readonly underWay = new Map<string, Promise<PlatformId>>();
  private readonly maxWaiting: number;
  private waiting = 0;
  private readonly stopping = new AbortController();

  constructor(
    private readonly media: MediaRepository,
    private readonly storage: FileStorage,
    private readonly client: MediaClient,
    private readonly counters: Counters,
    private readonly fetching: FetchProcessor,
    config: Config,
  ) {
    // A waiting message occupies one of the slots for all sends: slow files must leave slots for other numbers.
    this.maxWaiting = Math.max(1, Math.floor(config.queue.maxInFlight / 4));
  }

  /**
   * WhatsApp's id of a stored file, for sending from one number; the file is uploaded on first use. Never rejects.
   * Uploads of one file for one number are shared.
   *
   * Waits at most three seconds and until `notAfter`, then says `later` while the upload goes on; at once where many
   * messages wait already. A file that the platform refused stays `failed` for five minutes without another request.
   */
  async platformIdFor(connection: SendingConnection, mediaObjectId: string, notAfter: Deadline): Promise<PlatformId> {
    if (!isUuid(mediaObjectId)) return failed(GONE);
    const wanted = wantedOf(connection, mediaObjectId);
    const known = this.answers.get(wanted.key, connection.token);
    if (known !== null) return known;
    const shared = this.underWay.get(wanted.key) ?? this.begin(wanted);
    if (shared === null) return LATER;
    const patienceMs = Math.min(PATIENCE_MS, notAfter.msLeft);
    if (!(patienceMs > 0) || this.waiting >= this.maxWaiting) return LATER;
    this.waiting++;
    try {
      return (await within(patienceMs, shared)) ?? LATER;
    } finally {
      this.waiting--;
    }
  }

  /**
   * WhatsApp refused a message because of this id: the next use uploads the file again. Call it only where the refusal
   * names the file (codes 100 and 131009 come for other reasons too); after three such refusals with less than an hour
   * between them `platformIdFor` says `failed`. Another id that came since is kept.
   */
  async forget(connectionId: string, mediaObjectId: string, platformMediaId: string): Promise<void> {
    const key = keyOf(mediaObjectId, connectionId);
    this.answers.delete(key);
    if (await this.media.forgetPlatformId(connectionId, mediaObjectId, platformMediaId)) {
      this.refusals.set(key, (this.refusals.peek(key) ?? 0) + 1);
      this.counters.increment('media_ids_refused');
    }
  }

  /**
   * Uploads a stored file as the sample of a template; the result is WhatsApp's handle. Null: its bytes do not exist.
   *
   * @param appId of the Meta app.
   */
  async uploadSample(
    connection: SendingConnection,
    mediaObjectId: string,
    appId: string,
  ): Promise<PlatformResult<string> | null> {
    const source = await this.media.findUploadSource(wantedOf(connection, mediaObjectId));
    if (source === null) return null;
    try {
      return await this.limiter.within(connection, () =>
        this.client.uploadSample({ ...this.sentFile(source), token: connection.token, appId }),
      );
    } catch (error) {
      if (!(error instanceof FileGoneError || error instanceof LengthMismatchError)) throw error;
      this.logger.error(`file ${mediaObjectId}: restore its bytes from a backup: ${error.message}`);
      return null;
    }
  }

  /** Call it after the commit: these connections have files to fetch. Never throws. */
  wakeFetch(connectionIds: Iterable<string>): void {
    for (const connectionId of new Set(connectionIds)) this.fetching.wake(fetchLaneOf(connectionId));
  }

  /** Aborts running uploads: the messages that wait for them return to the queue. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.allSettled(this.underWay.values());
  }

  private begin(wanted: Wanted): Promise<PlatformId> | null {
    const { key, mediaObjectId } = wanted;
    if (this.stopping.signal.aborted || this.underWay.size >= MAX_UNDER_WAY) return null;
    const shared = this.obtain(wanted)
      .catch((error: unknown): PlatformId => {
        this.counters.increment('media_upload_faults');
        this.logger.warn(`file ${mediaObjectId}: ${describeError(error)}`);
        return LATER;
      })
      .finally(() => this.underWay.delete(key));
    this.underWay.set(key, shared);
    return shared;
  }

  private async obtain(wanted: Wanted): Promise<PlatformId> {
    const until = performance.now() + LOOK_FOR_MS;
    while (performance.now() < until && !this.stopping.signal.aborted) {
      const source = await this.media.findUploadSource(wanted);
      if (source === null) return this.remember(wanted, failed(GONE), GONE_FOR_MS);
      const { platformMediaId } = source;
      if (platformMediaId !== null) {
        return this.remember(wanted, { kind: 'ready', platformMediaId }, Math.min(READY_FOR_MS, source.goodForMs));
      }
      if ((this.refusals.peek(wanted.key) ?? 0) >= MAX_REFUSALS) {
        return this.remember(wanted, failed(NEVER_GOOD), REFUSED_FOR_MS);
      }
      const made = source.uploading
        ? null
        : await this.limiter.within(wanted.connection, () => this.claimAndUpload(wanted, source));
      if (made !== null) return made;
      await pause(LOOK_EVERY_MS);
    }
    return LATER;
  }

  /** Null where another process uploads the file. */
  private async claimAndUpload(wanted: Wanted, source: UploadSource): Promise<PlatformId | null> {
    const { key, mediaObjectId } = wanted;
    if (this.stopping.signal.aborted || !(await this.media.claimUpload(wanted))) return null;
    const renewing = setInterval(() => {
      this.media
        .renewUpload(wanted)
        .catch((error: unknown) => this.logger.warn(`a lease of an upload: ${describeError(error)}`));
    }, UPLOAD_LEASE_MS / 3);
    let isUploaded = false;
    try {
      const outcome = await this.upload(source, wanted.connection);
      this.counters.increment(`media_upload_${outcome.kind}`);
      isUploaded = outcome.kind === 'uploaded';
      if (outcome.kind === 'uploaded') return await this.keep(wanted, outcome.mediaId);
      const verdict = verdictOf(outcome, this.answers.failuresOf(key));
      return this.remember(wanted, verdict, holdsForMs(verdict));
    } catch (error) {
      if (!(error instanceof FileGoneError || error instanceof LengthMismatchError)) throw error;
      const isGone = error instanceof FileGoneError;
      const fault = isGone ? 'missing' : 'damaged';
      this.logger.error(`file ${mediaObjectId}: its bytes are ${fault}, restore them from a backup: ${error.message}`);
      return this.remember(wanted, failed(isGone ? LOST : DAMAGED), isGone ? GONE_FOR_MS : REFUSED_FOR_MS);
    } finally {
      clearInterval(renewing);
      if (!isUploaded) await this.media.releaseUpload(wanted).catch(() => undefined);
    }
  }

  private upload(source: UploadSource, { phoneNumberId, token }: SendingConnection): Promise<UploadOutcome> {
    return this.client.uploadMedia({ ...this.sentFile(source), phoneNumberId, token });
  }

  private sentFile({ mimeType, filename, sizeBytes, storageKey }: UploadSource) {
    return {
      mimeType,
      filename: uploadName(mimeType, filename),
      sizeBytes,
      open: () => this.storage.open(storageKey),
      signal: this.stopping.signal,
    };
  }

  /** A short failure of the database must not lose the id, or the file would be uploaded again. */
  private async keep(wanted: Wanted, platformMediaId: string): Promise<PlatformId> {
    const { mediaObjectId, connection } = wanted;
    const ready = { kind: 'ready', platformMediaId } as const;
    try {
      const keeping = { forMs: KEEP_FOR_MS, onFailure: () => undefined };
      const isKept = await retry(() => this.media.keepPlatformId(wanted, platformMediaId), keeping);
      if (isKept) return this.remember(wanted, ready, READY_FOR_MS);
    } catch (error) {
      this.logger.warn(`file ${mediaObjectId}: the platform's id could not be kept: ${describeError(error)}`);
      return this.remember(wanted, ready, REFUSED_FOR_MS);
    }
    // The file was deleted during the upload, and no row refers to the copy.
    const { phoneNumberId, token } = connection;
    await this.client.deleteMedia({ mediaId: platformMediaId, phoneNumberId, token });
    return this.remember(wanted, failed(GONE), GONE_FOR_MS);
  }

  private remember({ key, connection }: Wanted, answer: PlatformId, forMs: number): PlatformId {
    this.answers.set(key, answer, forMs, connection.token);
    return answer;
  }
}

const GONE = 'The media file does not exist any more.';
const LOST = 'The bytes of the media file are missing from the storage; upload it again.';
const DAMAGED = 'The bytes of the media file are damaged; upload it again.';
const NEVER_GOOD = 'The platform takes the media file and then refuses to send it.';

function holdsForMs(verdict: PlatformId): number {
  if (verdict.kind === 'later') return verdict.retryInMs;
  return verdict.kind === 'account' ? ACCOUNT_FOR_MS : REFUSED_FOR_MS;
}

function failed(message: string): PlatformId {
  return { kind: 'failed', message };
}

/** A file that a message needs, and the sending number. */
interface Wanted extends FileForNumber {
  key: string;
  connection: SendingConnection;
}

function wantedOf(connection: SendingConnection, mediaObjectId: string): Wanted {
  const { id: connectionId, organizationId } = connection;
  return { key: keyOf(mediaObjectId, connectionId), organizationId, mediaObjectId, connectionId, connection };
}

function keyOf(mediaObjectId: string, connectionId: string): string {
  return `${mediaObjectId}/${connectionId}`;
}

interface Answer {
  answer: PlatformId;
  /** Monotonic milliseconds. */
  until: number;
  /** Failed uploads in a row; remembered for longer than the answer. */
  failures: number;
  token: string;
}

/**
 * The last answers for files and numbers, so that a campaign queries the database and WhatsApp once instead of with
 * every message. An answer about the token is dropped with the token.
 */
export class UploadCache {
  // `max` would allocate the lists of all entries at once.
  private readonly entries = new LRUCache<string, Answer>({ maxSize: MAX_ENTRIES, sizeCalculation: () => 1 });

  constructor(private readonly clock: Clock = systemClock) {}

  /** The cached answer, while it is valid. For one that asks to wait, the rest of the wait. */
  get(key: string, token: string): PlatformId | null {
    const entry = this.entries.get(key);
    const leftMs = (entry?.until ?? 0) - this.clock.monotonic();
    if (entry === undefined || leftMs <= 0) return null;
    if (entry.answer.kind === 'account' && entry.token !== token) return null;
    return entry.answer.kind === 'later' ? { kind: 'later', retryInMs: Math.ceil(leftMs) } : entry.answer;
  }

  /** Failed uploads in a row. */
  failuresOf(key: string): number {
    return this.entries.get(key)?.failures ?? 0;
  }

  set(key: string, answer: PlatformId, forMs: number, token: string): void {
    const failures = answer.kind === 'later' ? this.failuresOf(key) + 1 : 0;
    this.entries.set(key, { answer, until: this.clock.monotonic() + forMs, failures, token });
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}

const TOTAL = 32;
const PER_WORKSPACE = 16;
const PER_NUMBER = 12;

/** Limits concurrent uploads of this process, and of one workspace or number within it. */
export class UploadLimiter {
  private readonly lines = new Map<string, { slots: Slots; users: number }>();

  /** Runs `work` when a place is free. */
  within<T>(connection: { id: string; organizationId: string }, work: () => Promise<T>): Promise<T> {
    const { id, organizationId } = connection;
    return this.inLine(`number ${id}`, PER_NUMBER, () =>
      this.inLine(`workspace ${organizationId}`, PER_WORKSPACE, () => this.inLine('all', TOTAL, work)),
    );
  }

  private async inLine<T>(key: string, size: number, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { slots: new Slots(size), users: 0 };
    this.lines.set(key, line);
    line.users++;
    await line.slots.acquire();
    try {
      return await work();
    } finally {
      line.slots.release();
      line.users--;
      if (line.users === 0) this.lines.delete(key);
    }
  }
}

/** Refusals that do not concern the file. */
const OF_THE_ACCOUNT: ReadonlySet<FailureCategory> = new Set([
  'authentication',
  'account_restricted',
  'sender_not_ready',
]);
const FOR_NOW: ReadonlySet<FailureCategory> = new Set(['rate_limited', 'platform_unavailable']);
const MAX_DELAY_MS = 60_000;

/**
 * What a failed upload means for the messages that need it. An upload with an unknown outcome is simply repeated: an
 * extra copy is harmless.
 *
 * @param failures how many uploads of this file have failed in a row
 */
export function verdictOf(outcome: NotAcceptedOutcome, failures: number, random = Math.random()): PlatformId {
  const { kind, category, retryAfterMs, platformMessage } = outcome;
  if (kind === 'lane_paused') return { kind: 'account', outcome };
  if (kind === 'rejected' && OF_THE_ACCOUNT.has(category)) return { kind: 'account', outcome };
  if (kind === 'rejected' && !FOR_NOW.has(category)) {
    return { kind: 'failed', message: `The platform refused the file: ${platformMessage ?? 'it gave no reason.'}` };
  }
  const delayMs = Math.min(deferralMs(failures + 1, random), MAX_DELAY_MS);
  return { kind: 'later', retryInMs: Math.max(delayMs, retryAfterMs ?? 0) };
}
