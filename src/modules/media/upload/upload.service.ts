import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { commonErrors } from '../../../common/common.errors.js';
import { newId } from '../../../common/ids.js';
import type { Caller } from '../../../infrastructure/access/caller.js';
import { refuseEncoded } from '../../../infrastructure/http/body-reader.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { StorageUnavailableError, type TemporaryFile } from '../../../infrastructure/storage/file-storage.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { cleanFileName } from '../file-name.js';
import { MediaFiles } from '../media-files.js';
import { mediaErrors } from '../media.errors.js';
import { MediaRetention } from '../media-retention.js';
import type { ListedMedia, MediaObject } from '../media.types.js';
import { StorageQuota } from '../storage-quota.js';
import { agrees } from '../sniff/first-look.js';
import { FORMATS, MAX_UPLOAD_BYTES, mimeTypesOf } from '../sniff/formats.js';
import { FileReception, type ReceivedFile } from './file-reception.js';
import { watchPace } from './upload-clock.js';
import { readFields, refuseField, type UploadFields } from './upload-fields.js';
import { type FilePart, FORM_OVERHEAD_BYTES, MAX_FORM_BYTES, readForm } from './upload-form.js';
import { UploadSlots } from './upload-slots.js';

/** A file that has come whole, in a temporary file that is ours to put or discard. */
interface Arrived {
  part: Pick<FilePart, 'name' | 'mimeType'>;
  file: TemporaryFile;
  received: ReceivedFile;
}

/** Takes the caller's files: straight from the wire to the disk, checked on the way, refused as early as can be. */
@Injectable()
export class UploadService {
  private readonly logger = new Logger(UploadService.name);

  constructor(
    private readonly files: MediaFiles,
    private readonly connections: ConnectionsService,
    private readonly slots: UploadSlots,
    private readonly retention: MediaRetention,
    private readonly quota: StorageQuota,
  ) {}

  /**
   * Reads the form and stores its file. Whatever goes wrong, nothing of it stays behind.
   *
   * @throws INVALID_REQUEST, MEDIA_TOO_LARGE, MEDIA_TYPE_NOT_SUPPORTED, MEDIA_STORAGE_FULL (400), CONNECTION_NOT_FOUND (404),
   * UNSUPPORTED_CONTENT_TYPE (415), UPLOAD_LIMIT_REACHED (429), SERVICE_UNAVAILABLE (503) where the disk is full.
   */
  async upload(caller: Caller, req: HeraldRequest, res: Response): Promise<ListedMedia> {
    requireForm(req);
    // Whoever is refused in the middle of his file may finish sending it, so that he gets to read why.
    req.drainUpTo = { bytes: MAX_FORM_BYTES, ms: 30_000 };
    const release = this.slots.take(caller.organizationId);
    try {
      await this.quota.requireSpaceFor(caller.organizationId, leastBytesOf(req));
      const stored = await this.receive(caller, req, res);
      return { ...stored, expiresAt: this.retention.expiryOf(stored) };
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      this.logger.error(`an upload was refused: ${error.message}`);
      throw commonErrors.SERVICE_UNAVAILABLE({ retryAfterSeconds: 30 }, { internal: error.message, cause: error });
    } finally {
      release();
    }
  }

  private async receive(caller: Caller, req: HeraldRequest, res: Response): Promise<MediaObject> {
    let arrived: Arrived | null = null;
    let taking: Promise<void> | null = null;
    let stop: (error: Error) => void = () => undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = reject;
    });
    const unwatch = watchPace(req.socket, (error) => stop(error));
    let isOver = false;
    const take = (part: FilePart): Promise<void> => {
      if (isOver) return Promise.reject(new Error('the upload is over'));
      stopped.catch((error: Error) => part.bytes.destroy(error));
      const work = this.take(caller, part).then((whole) => void (arrived = whole));
      taking = work;
      return work;
    };
    try {
      const form = await Promise.race([readForm(req, res, take), stopped]);
      return await this.keep(caller, readFields(form), arrived);
    } finally {
      isOver = true;
      unwatch();
      stop(new Error('the upload is over'));
      await (taking as Promise<void> | null)?.catch(() => undefined);
      await (arrived as Arrived | null)?.file.discard();
    }
  }

  /** Streams the file to the disk. On any failure the temporary file is gone when this rejects. */
  private async take(caller: Caller, part: FilePart): Promise<Arrived> {
    const early = readFields(part.fieldsSoFar);
    if (early.connectionId !== null) await this.connections.getById(caller.organizationId, early.connectionId);
    const file = await this.files.create();
    try {
      const reception = new FileReception(file, () => readFields(part.fieldsSoFar).type);
      // A refusal must not destroy the stream: the parser would take that for the form's end, and say so first.
      const chunks = part.bytes.iterator({ destroyOnReturn: false });
      for await (const chunk of chunks) await reception.push(chunk as Buffer);
      if (file.sizeBytes === 0) refuseField('file', 'empty', 'The file is empty; send one with content.');
      return { part, file, received: await reception.finish() };
    } catch (error) {
      await file.discard();
      throw error;
    }
  }

  private async keep(caller: Caller, fields: UploadFields, arrived: Arrived | null): Promise<MediaObject> {
    const { connectionId } = fields;
    if (connectionId === null) return refuseField('connection_id', 'required', 'connection_id is missing.');
    await this.connections.getById(caller.organizationId, connectionId);
    if (arrived === null)
      return refuseField('file', 'required', 'file is missing; send it as a part with a file name.');
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
      voice: fields.voice === true,
    });
  }
}

/** What the caller says of the file must be what its bytes say. */
function checkAgainst(fields: UploadFields, { part, received }: Arrived): void {
  const { mimeType, type } = received.format;
  const refuse = (allowedTypes: readonly string[], reason: string): never => {
    throw mediaErrors.MEDIA_TYPE_NOT_SUPPORTED({ detectedType: mimeType, allowedTypes, reason });
  };
  if (fields.type !== null && fields.type !== type) {
    refuse(mimeTypesOf(fields.type), `By its bytes the file is ${mimeType}, which is no ${fields.type}`);
  }
  if (fields.voice === true && received.format !== FORMATS.ogg) {
    refuse([FORMATS.ogg.mimeType], `A voice message is Ogg with Opus; by its bytes the file is ${mimeType}`);
  }
  if (!agrees(part.mimeType, mimeType)) {
    refuse(mimeTypesOf(fields.type), `The part says ${part.mimeType}, but its bytes are ${mimeType}`);
  }
}

/** The file is at least as large as the body without what may be around it; without Content-Length one byte. */
function leastBytesOf(req: HeraldRequest): number {
  return Math.max(1, Number(req.headers['content-length'] ?? 0) - FORM_OVERHEAD_BYTES);
}

function requireForm(req: HeraldRequest): void {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';', 1);
  refuseEncoded(req, 'multipart/form-data');
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    throw commonErrors.UNSUPPORTED_CONTENT_TYPE({ expected: 'multipart/form-data' });
  }
  if (Number(req.headers['content-length'] ?? 0) > MAX_FORM_BYTES) {
    throw mediaErrors.MEDIA_TOO_LARGE({ limitBytes: MAX_UPLOAD_BYTES });
  }
}
