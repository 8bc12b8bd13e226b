import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import { AppError } from '../../../common/app-error.js';
import { commonErrors, invalidField } from '../../../common/common.errors.js';
import { newId } from '../../../common/ids.js';
import type { Caller } from '../../keys/caller.decorator.js';
import { refuseEncoded } from '../../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { StorageUnavailableError, type TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { readFields, type UploadMediaRequest } from '../dto/media.request.js';
import { cleanFileName } from '../file-name.js';
import { MediaFiles } from '../media-files.js';
import { mediaErrors } from '../media.errors.js';
import { MediaMaintenance } from '../media.maintenance.js';
import { type ListedMedia, MEDIA_TYPES, type MediaObject, type MediaType } from '../media.types.js';
import { HEAD_BYTES, NotTakenError } from '../sniff/contents.js';
import { agrees, type Format, FORMATS, MAX_UPLOAD_BYTES, mimeTypesOf, plainType } from '../sniff/formats.js';
import { type Family, firstLook, TEXT, TextScan } from '../sniff/recognise.js';

/** The part `file` of a form, while it arrives. */
interface FilePart {
  /** The caller's name, unchecked: it may contain null bytes and paths. */
  name: string;
  /** Content-Type of the part; `text/plain` where it has none. */
  mimeType: string;
  bytes: Readable;
  /** Text fields that came before it, unchecked. */
  fieldsSoFar: Readonly<Record<string, unknown>>;
}

/** Limit of everything around the file: boundaries, part headers, three short fields. */
const FORM_OVERHEAD_BYTES = 64 * 1_024;
const MAX_FORM_BYTES = MAX_UPLOAD_BYTES + FORM_OVERHEAD_BYTES;

const LIMITS = {
  files: 1,
  fields: 8,
  parts: 10,
  fieldNameSize: 64,
  fieldSize: 256,
  fieldNestingDepth: 0,
  headerPairs: 16,
};

/**
 * The text fields of a form: `fields` like those of POST /media, and the type of the file if the form has it in a
 * field.
 */
export interface FormFields {
  fields: Readonly<Record<string, unknown>>;
  mimeType?: string | undefined;
}

type FormReader = (form: Readonly<Record<string, unknown>>) => FormFields;

const OWN_FORM: FormReader = (fields) => ({ fields });

/** A file that has arrived whole, in a temporary file that must be stored or discarded. */
interface Arrived {
  part: Pick<FilePart, 'name' | 'mimeType'>;
  file: TemporaryFile;
  received: ReceivedFile;
}

/** Limit of concurrent uploads in one process; each costs a socket, a file and some hundred kilobytes. */
export const UPLOADS_AT_ONCE = 96;
/** The part of that limit for one workspace. */
export const UPLOADS_OF_ONE_WORKSPACE = 24;
const RETRY_AFTER_SECONDS = 2;

/** Receives callers' files: streams them to the storage, checks them meanwhile, and refuses as early as possible. */
@Injectable()
export class UploadService {
  private readonly logger = new Logger(UploadService.name);
  readonly slots = new UploadSlots();

  constructor(
    private readonly files: MediaFiles,
    private readonly connections: ConnectionsService,
    private readonly maintenance: MediaMaintenance,
  ) {}

  /**
   * Reads the form and stores its file. On any failure nothing of it is left.
   *
   * @param read converts the fields of another form to those of POST /media; also called for the fields so far.
   * @throws INVALID_REQUEST, MEDIA_TOO_LARGE, MEDIA_TYPE_NOT_SUPPORTED, MEDIA_STORAGE_FULL (400), CONNECTION_NOT_FOUND
   * (404), UNSUPPORTED_CONTENT_TYPE (415), UPLOAD_LIMIT_REACHED (429), SERVICE_UNAVAILABLE (503) where the disk is
   * full.
   */
  async upload(caller: Caller, req: HeraldRequest, res: Response, read = OWN_FORM): Promise<ListedMedia> {
    // A refused caller may finish sending a file of up to twice the limit, and then reads the reason.
    req.drainUpTo = { bytes: 2 * MAX_FORM_BYTES, ms: 30_000 };
    requireForm(req);
    const release = this.slots.take(caller.organizationId);
    try {
      const lack = await this.files.lackOfSpace(caller.organizationId, leastBytesOf(req));
      if (lack !== null) throw lack;
      const stored = await this.receive(caller, req, res, read);
      return { ...stored, expiresAt: this.maintenance.expiryOf(stored) };
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      this.logger.error(`an upload was refused: ${error.message}`);
      throw commonErrors.SERVICE_UNAVAILABLE({ retryAfterSeconds: 30 }, { internal: error.message, cause: error });
    } finally {
      release();
    }
  }

  private async receive(caller: Caller, req: HeraldRequest, res: Response, read: FormReader): Promise<MediaObject> {
    const over = new AbortController();
    const unwatch = watchPace(req.socket, (error) => over.abort(error));
    let arriving = null as Promise<Arrived> | null;
    const take = (part: FilePart): Promise<Arrived> => (arriving = this.take(caller, part, over.signal, read));
    try {
      const { fields, mimeType } = read(await readForm(req, res, take, over));
      const arrived = await arriving;
      if (arrived !== null && mimeType !== undefined) arrived.part = { ...arrived.part, mimeType };
      return await this.keep(caller, await readFields(fields), arrived);
    } finally {
      unwatch();
      over.abort(new Error('the upload is over'));
      const arrived = await arriving?.catch(() => null);
      await arrived?.file.discard();
    }
  }

  /** Streams the file to the storage. If this rejects, the temporary file is already removed. */
  private async take(caller: Caller, part: FilePart, over: AbortSignal, read: FormReader): Promise<Arrived> {
    over.throwIfAborted();
    over.addEventListener('abort', () => part.bytes.destroy(over.reason as Error));
    const { fields: fieldsSoFar } = read(part.fieldsSoFar);
    const early = await readFields(fieldsSoFar);
    if (early.connection_id !== undefined) {
      await this.connections.getById(caller.organizationId, early.connection_id);
    }
    const file = await this.files.create();
    try {
      const reception = new FileReception(file, () => typeOf(fieldsSoFar));
      // A refusal must not destroy the stream: the parser would read that as the form's end, and report it first.
      const chunks = part.bytes.iterator({ destroyOnReturn: false });
      for await (const chunk of chunks) await reception.push(chunk as Buffer);
      if (file.sizeBytes === 0) throw invalidField('file', 'empty', 'The file is empty; send one with content.');
      return { part, file, received: await reception.finish() };
    } catch (error) {
      await file.discard();
      throw error;
    }
  }

  private async keep(caller: Caller, fields: UploadMediaRequest, arrived: Arrived | null): Promise<MediaObject> {
    const { connection_id: connectionId, voice = false } = fields;
    if (connectionId === undefined) throw invalidField('connection_id', 'required', 'connection_id is missing.');
    await this.connections.getById(caller.organizationId, connectionId);
    if (arrived === null) {
      throw invalidField('file', 'required', 'file is missing; send it as a part with a file name.');
    }
    checkAgainst(fields, arrived);
    const { part, file, received } = arrived;
    const { format, sizeBytes, sha256 } = received;
    return this.files.keepUploaded(file, {
      id: newId(),
      organizationId: caller.organizationId,
      connectionId,
      type: format.type,
      mimeType: format.mimeType,
      sizeBytes,
      sha256,
      filename: cleanFileName(part.name),
      voice,
    });
  }
}

/**
 * Reads a multipart form with one file, which `take` receives as it arrives. Resolves with the text fields once
 * everything is read. Rejects as soon as the upload has failed, also in `take`; the rest of the body is then discarded
 * as it arrives.
 *
 * @throws INVALID_REQUEST (400) where the form is malformed or incomplete, MEDIA_TOO_LARGE (400) where the whole form
 * has more than MAX_FORM_BYTES.
 */
function readForm(
  req: HeraldRequest,
  res: Response,
  take: (part: FilePart) => Promise<unknown>,
  over: AbortController,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason as Error));
    const store = callbackify(take);
    const storage: StorageEngine = {
      _handleFile: (_req, { originalname: name, mimetype: mimeType, stream: bytes }, done) => {
        const fieldsSoFar = req.body as Record<string, unknown>;
        store({ name, mimeType, bytes, fieldsSoFar }, (error) => {
          if (error !== null) over.abort(error);
          done(error, {});
        });
      },
      _removeFile: (_req, _file, done) => done(null),
    };
    // A form without a stated length may be endless: before its parts, after them, or in a part without a name.
    let formBytes = 0;
    req.on('data', (chunk: Buffer) => {
      formBytes += chunk.length;
      if (formBytes > MAX_FORM_BYTES) over.abort(mediaErrors.MEDIA_TOO_LARGE({ limitBytes: MAX_UPLOAD_BYTES }));
    });
    const upload = multer({ storage, limits: LIMITS, defParamCharset: 'utf8' }).single('file');
    void upload(req, res, (error: unknown) => {
      const form = req.body as Record<string, unknown> | undefined;
      // If the parser does not support the Content-Type, it reads nothing and reports nothing.
      if (error === undefined && form !== undefined) resolve(form);
      else reject(refusalOf(error));
    });
  });
}

const SENTENCES: Readonly<Record<string, string>> = {
  LIMIT_PART_COUNT: 'The form has too many parts; send one file and the fields connection_id, type and voice.',
  LIMIT_FIELD_COUNT: 'The form has too many fields; send one file and the fields connection_id, type and voice.',
  LIMIT_FILE_COUNT: 'The form has more than one file; send one file in one request.',
  LIMIT_UNEXPECTED_FILE: 'The file must be the part named file, once.',
  LIMIT_FIELD_KEY: 'The name of a field is too long.',
  LIMIT_FIELD_VALUE: 'The value of a field is too long; send the bytes in the part file, with a file name.',
  MISSING_FIELD_NAME: 'A part of the form has no name.',
};

function refusalOf(error: unknown): Error {
  if (error instanceof AppError) return error;
  if (error instanceof MulterError) {
    const message = SENTENCES[error.code] ?? 'The form has a field that is not known here.';
    return invalidField(error.field?.slice(0, 64) ?? '', error.code.toLowerCase(), message);
  }
  // All other errors come from the parser: a missing boundary, a malformed part header, an incomplete body.
  return invalidField(
    '',
    'multipart',
    'The multipart form is broken or was cut short; send it again as a whole.',
    error,
  );
}

interface ReceivedFile {
  format: Format;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/**
 * Receives a file piece by piece into a temporary one, and examines it meanwhile: it is refused at the first byte that
 * shows a fault. Keeps 4 KiB of it in memory.
 */
export class FileReception {
  private readonly hash = createHash('sha256');
  private readonly text = new TextScan();
  private head: Buffer[] = [];
  private looked: Family | null = null;

  /** @param wantedType the caller's `type`, as far as it has arrived */
  constructor(
    private readonly file: TemporaryFile,
    private readonly wantedType: () => MediaType | null,
  ) {}

  /** @throws MEDIA_TOO_LARGE, MEDIA_TYPE_NOT_SUPPORTED (400), StorageUnavailableError. */
  async push(chunk: Buffer): Promise<void> {
    const sizeBytes = this.file.sizeBytes + chunk.length;
    if (this.looked === null) {
      this.head.push(chunk);
      if (sizeBytes >= HEAD_BYTES) await this.look();
    }
    const limitBytes = this.looked?.limitBytes ?? MAX_UPLOAD_BYTES;
    if (sizeBytes > limitBytes) throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes });
    if ((this.looked === null || this.looked === TEXT) && !this.text.push(chunk) && this.looked !== null) {
      throw this.refusal(null, NO_TEXT);
    }
    this.hash.update(chunk);
    await this.file.write(chunk);
  }

  /**
   * The result for the whole file.
   *
   * @throws MEDIA_TYPE_NOT_SUPPORTED, MEDIA_TOO_LARGE (400).
   */
  async finish(): Promise<ReceivedFile> {
    const family = this.looked ?? (await this.look());
    if (family === TEXT && !this.text.finish()) throw this.refusal(null, NO_TEXT);
    const format = await this.formatOf(family);
    if (this.file.sizeBytes > format.limitBytes) throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes: format.limitBytes });
    return { format, sizeBytes: this.file.sizeBytes, sha256: this.hash.digest('hex') };
  }

  private async formatOf(family: Family): Promise<Format> {
    try {
      return await family.formatOf(this.file);
    } catch (error) {
      throw error instanceof NotTakenError ? this.refusal(error.detected, error.reason) : error;
    }
  }

  private async look(): Promise<Family> {
    const head = Buffer.concat(this.head).subarray(0, HEAD_BYTES);
    const { family, name } = await firstLook(head);
    this.head = [];
    if (family === null) throw this.refusal(name);
    const wanted = this.wantedType();
    if (wanted !== null && !family.types.includes(wanted)) {
      const detected = family === TEXT && !new TextScan().push(head) ? null : name;
      throw this.refusal(detected, `By its bytes the file is no ${wanted}`);
    }
    this.looked = family;
    return family;
  }

  private refusal(detectedType: string | null, reason?: string): Error {
    const allowedTypes = mimeTypesOf(this.wantedType());
    return mediaErrors.MEDIA_TYPE_NOT_SUPPORTED({ detectedType, allowedTypes, reason });
  }
}

const NO_TEXT = 'The file is of no known type, and no text in UTF-8 either';

/** The caller's statements about the file must match its bytes. */
function checkAgainst(fields: UploadMediaRequest, { part, received }: Arrived): void {
  const { mimeType, type } = received.format;
  const refuse = (allowedTypes: readonly string[], reason: string): never => {
    throw mediaErrors.MEDIA_TYPE_NOT_SUPPORTED({ detectedType: mimeType, allowedTypes, reason });
  };
  if (fields.type !== undefined && fields.type !== type) {
    refuse(mimeTypesOf(fields.type ?? null), `By its bytes the file is ${mimeType}, which is no ${fields.type}`);
  }
  if (fields.voice === true && received.format !== FORMATS.ogg) {
    refuse([FORMATS.ogg.mimeType], `A voice message is Ogg with Opus; by its bytes the file is ${mimeType}`);
  }
  if (!agrees(part.mimeType, mimeType)) {
    refuse(mimeTypesOf(fields.type ?? null), `The part says ${part.mimeType}, but its bytes are ${mimeType}`);
  }
}

/**
 * The file has at least the bytes of the body minus the limit of everything around it; without Content-Length one byte.
 */
function leastBytesOf(req: HeraldRequest): number {
  return Math.max(1, Number(req.headers['content-length'] ?? 0) - FORM_OVERHEAD_BYTES);
}

/** The caller's `type`, as far as the form has arrived; an invalid one is refused at the form's end. */
function typeOf({ type }: FilePart['fieldsSoFar']): MediaType | null {
  return MEDIA_TYPES.find((known) => known === type) ?? null;
}

function requireForm(req: HeraldRequest): void {
  refuseEncoded(req, 'multipart/form-data');
  if (plainType(req.headers['content-type'] ?? '') !== 'multipart/form-data') {
    throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'multipart/form-data' });
  }
  if (Number(req.headers['content-length'] ?? 0) > MAX_FORM_BYTES) {
    throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes: MAX_UPLOAD_BYTES });
  }
}

/** Limits the uploads in this process. */
export class UploadSlots {
  private taken = 0;
  private readonly byWorkspace = new Map<string, number>();

  /**
   * Takes a place; call the returned function once, when the upload is over.
   *
   * @throws UPLOAD_LIMIT_REACHED (429) where the workspace has used its share, SERVICE_UNAVAILABLE (503) where all
   * places are taken.
   */
  take(organizationId: string): () => void {
    const own = this.byWorkspace.get(organizationId) ?? 0;
    if (own >= UPLOADS_OF_ONE_WORKSPACE) {
      throw mediaErrors.UPLOAD_LIMIT_REACHED({
        limit: UPLOADS_OF_ONE_WORKSPACE,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    if (this.taken >= UPLOADS_AT_ONCE) {
      throw commonErrors.SERVICE_UNAVAILABLE({ retryAfterSeconds: RETRY_AFTER_SECONDS }, { internal: 'upload places' });
    }
    const add = (count: 1 | -1): void => {
      this.taken += count;
      const left = (this.byWorkspace.get(organizationId) ?? 0) + count;
      if (left === 0) this.byWorkspace.delete(organizationId);
      else this.byWorkspace.set(organizationId, left);
    };
    add(1);
    return () => add(-1);
  }
}

const LOOK_MS = 1_000;
const GRACE_MS = 30_000;
/** Minimum speed for uploads (0.3 Mbit/s): 32 MiB then take 14 minutes. */
const MIN_BYTES_PER_MS = (40 * 1_024) / 1_000;

/**
 * Ends uploads that are too slow or have stopped, since each occupies a slot. The mean rate counts, so a pause is
 * allowed after a quick start, but none longer than the grace period.
 *
 * @param tooSlow called once, with the error for the caller
 * @returns stops the watch
 */
export function watchPace(socket: Socket, tooSlow: (error: Error) => void, graceMs = GRACE_MS): () => void {
  const startedAt = performance.now();
  const readBefore = socket.bytesRead;
  let read = readBefore;
  let readAt = startedAt;
  const timer = setInterval(
    () => {
      const now = performance.now();
      if (socket.bytesRead > read) {
        read = socket.bytesRead;
        readAt = now;
      }
      const allowedMs = graceMs + (read - readBefore) / MIN_BYTES_PER_MS;
      if (now - startedAt <= allowedMs && now - readAt <= graceMs) return;
      clearInterval(timer);
      const message = 'The upload came too slowly; send at least 40 KiB a second.';
      tooSlow(invalidField('', 'timeout', message));
    },
    Math.min(LOOK_MS, graceMs),
  );
  return () => clearInterval(timer);
}
