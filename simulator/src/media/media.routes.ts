import { createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify } from 'node:util';
import multer, { MulterError, type StorageEngine } from 'multer';
import { GraphError, invalidParam, PlainError } from '../graph-error.js';
import { type Call, GraphNode, letRunOff, on, type Route, SUCCESS } from '../http/call.js';
import { askedFor, strikes } from '../http/faults.js';
import { Param } from '../http/param.js';
import type { Platform } from '../platform.js';
import {
  kindOf,
  MAX_MEDIA_BYTES,
  limitOf,
  looksLike,
  type MediaFile,
  type SavedFile,
  saveFile,
  UPLOAD_TYPES,
} from './media-store.js';

/** How long an uploaded file can be sent. */
const UPLOAD_LIFE_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_FIELD_BYTES = 1024;
const MAX_PARTS = 32;
const MAX_TYPE_CHARACTERS = 255;
const DOWNLOAD_PATH = '/whatsapp_business/attachments/';

/** Uploading, looking up, deleting and downloading of files. */
export function mediaRoutes(platform: Platform): Route[] {
  const { media, tokens, nodes } = platform;
  const file = new GraphNode('media', (id) => media.get(id));
  const checkOwner = (call: Call, { phoneNumberId }: MediaFile) => {
    const owner = call.query('phone_number_id');
    if (owner === null || owner === phoneNumberId) return;
    throw invalidParam('Param phone_number_id is not the number that this media belongs to.');
  };
  return [
    nodes.number.on('post', '/media', ({ phoneNumberId }, call) => upload(platform, phoneNumberId, call), 'stream'),
    file.on('get', '', (found, call) => {
      checkOwner(call, found);
      const { id, mimeType, sha256, sizeBytes } = found;
      const url = addressOf(platform, call, id, 'getMedia', tokens.check(call));
      return { messaging_product: 'whatsapp', url, mime_type: mimeType, sha256, file_size: sizeBytes, id };
    }),
    file.on('delete', '', (found, call) => {
      checkOwner(call, found);
      media.remove(found.id);
      return SUCCESS;
    }),
    on('get', DOWNLOAD_PATH, (call) => download(platform, call), 'plain'),
  ];
}

/**
 * A temporary address of a file, on the simulator's host. An address from the media call is bound to the token of that
 * call; one from a notification works with any token.
 */
export function addressOf(
  { options }: Platform,
  call: Call,
  id: string,
  source: 'getMedia' | 'webhook',
  token: string | null,
): string {
  const ext = String(Date.now() + options.mediaAddressMs);
  const hash = hashOf(options.seed, [id, ext, source, token]);
  const query = new URLSearchParams({ mid: id, source, ext, hash });
  return `${call.ownAddress}${DOWNLOAD_PATH}?${query.toString()}`;
}

function hashOf(key: string, facts: readonly (string | null)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(facts)).digest('base64url');
}

/** The parsed fields of a form. */
type UploadForm = Partial<Record<'messaging_product' | 'type' | 'file', unknown>>;
/** A form's only file; `mimetype` is the type of its part. */
type UploadedFile = SavedFile & { mimetype: string };

/** Streams the file to its folder. @throws GraphError 100; then nothing is stored */
async function upload({ media, ids, faults }: Platform, phoneNumberId: string, call: Call): Promise<object> {
  const id = ids.newObjectId();
  const path = media.pathOf(id);
  // Also limits everything around the file: an endless form is cut off.
  const end = letRunOff(call.request);
  try {
    const form = await readForm(call, path);
    if (strikes(faults, 'upload_failures')) throw askedFor(131000);
    const product = form.messaging_product ?? call.query('messaging_product');
    if (product !== 'whatsapp') throw invalidParam('The parameter messaging_product is required.');
    media.add({ ...fileFrom(form, call.request.file as UploadedFile | undefined), id, phoneNumberId });
    return { id };
  } catch (error) {
    await rm(path, { force: true });
    await end;
    throw error;
  }
}

const FORM_LIMITS = { fieldSize: MAX_FIELD_BYTES, fileSize: MAX_MEDIA_BYTES, parts: MAX_PARTS };

/** Reads the form without holding a file in memory. @throws GraphError 100 where it is malformed or too large */
async function readForm({ request, reply }: Call, path: string): Promise<UploadForm> {
  let saving: Promise<SavedFile> | undefined;
  const storage: StorageEngine = {
    _handleFile: (_request, { stream }, done) => {
      const saved = (saving = saveFile(path, stream as AsyncIterable<Buffer>));
      callbackify(() => saved)((error, file) => done(error, file as object));
    },
    _removeFile: (_request, _file, done) => done(null),
  };
  try {
    return await new Promise<UploadForm>((resolve, reject) => {
      void multer({ storage, limits: FORM_LIMITS }).single('file')(request, reply, (error: unknown) => {
        const form = request.body as UploadForm | undefined;
        if (error !== undefined) reject(refusalOf(error as Error));
        else if (form === undefined) reject(broken('it is no multipart/form-data'));
        else resolve(form);
      });
    });
  } finally {
    // An aborted request ends before its file is saved.
    await Promise.allSettled([saving]);
  }
}

function refusalOf(error: Error): GraphError {
  if (!(error instanceof MulterError)) return broken(error.message);
  const { code, field = '' } = error;
  if (code === 'LIMIT_FIELD_VALUE') return invalidParam(`Param ${field} is too long.`);
  if (code === 'LIMIT_FILE_SIZE') return tooLarge(MAX_MEDIA_BYTES);
  if (code === 'LIMIT_PART_COUNT') return invalidParam(`The form has more than ${MAX_PARTS} parts.`);
  if (code !== 'LIMIT_UNEXPECTED_FILE') return broken(error.message);
  return invalidParam(field === 'file' ? 'Only one file can be given.' : `Param ${field} must not be a file.`);
}

function broken(reason: string): GraphError {
  return new GraphError(100, `The form can't be read: ${reason}`);
}

function fileFrom(form: UploadForm, file: UploadedFile | undefined): Omit<MediaFile, 'id' | 'phoneNumberId'> {
  if (form.file !== undefined) throw invalidParam('Param file must be a file.');
  if (file === undefined) throw invalidParam('The parameter file is required.');
  // The field is more precise: libraries send `application/octet-stream` for the file's part, without parameters.
  const given = new Param({ type: form.type ?? file.mimetype }, '').optionalText('type', MAX_TYPE_CHARACTERS);
  const mimeType = given?.trim() ?? '';
  const kind = kindOf(mimeType);
  if (kind === undefined) {
    throw invalidParam(
      `Param file must be a file with one of the following types: ${UPLOAD_TYPES.join(', ')}. ` +
        `Received file of type '${mimeType}'.`,
    );
  }
  const limit = limitOf(kind, file.head);
  if (file.sizeBytes === 0) throw invalidParam('Param file must not be empty.');
  if (file.sizeBytes > limit) throw tooLarge(limit);
  const now = Date.now();
  return {
    mimeType,
    sha256: file.sha256,
    sizeBytes: file.sizeBytes,
    source: 'upload',
    usable: looksLike(mimeType, file.head),
    createdAt: now,
    expiresAt: now + UPLOAD_LIFE_MS,
  };
}

function tooLarge(limit: number): GraphError {
  return invalidParam(`Param file must be at most ${limit} bytes large for its type.`);
}

/**
 * `GET` of a temporary address: 401 without a valid token, or with another than the one it was made for; 404 once it,
 * or the file, has expired. Requested faults apply here.
 */
async function download(platform: Platform, call: Call): Promise<void> {
  const { faults, media } = platform;
  const file = fileAt(platform, call);
  const spoiling: Spoiling = { bytesPerSecond: faults.download_bytes_per_second };
  if (strikes(faults, 'download_failures')) {
    if (faults.download_failure === 'not_found') throw notFound();
    if (faults.download_failure === 'server_error') throw new PlainError(500);
    spoiling.cutAfterBytes = Math.floor(file.sizeBytes / 2);
  } else if (strikes(faults, 'download_wrong_bytes')) spoiling.spoilByteAt = file.sizeBytes - 1;
  if (faults.download_latency_ms > 0) await sleep(faults.download_latency_ms, undefined, { ref: false });
  // The uploader chose the type, and a header can't contain every character.
  const type = file.mimeType.replaceAll(/[^\x20-\x7e]/g, '?');
  call.reply.writeHead(200, { 'Content-Length': file.sizeBytes, 'Content-Type': type });
  try {
    await pipeline(piecesOf(media.pathOf(file.id), spoiling), call.reply);
  } catch {
    call.reply.destroy();
  }
}

/** @throws PlainError 401 for an invented address, or with another token; 404 for an expired one */
function fileAt({ media, options, tokens }: Platform, call: Call): MediaFile {
  const read = (name: string) => call.query(name) ?? '';
  const [id, ext, source, given] = [read('mid'), read('ext'), read('source'), read('hash')];
  let token: string | null;
  try {
    token = tokens.check(call);
  } catch {
    throw new PlainError(401);
  }
  const hash = hashOf(options.seed, [id, ext, source, source === 'webhook' ? null : token]);
  const [left, right] = [Buffer.from(given), Buffer.from(hash)];
  if (left.length !== right.length || !timingSafeEqual(left, right)) throw new PlainError(401);
  const file = Number(ext) < Date.now() ? undefined : media.get(id);
  if (file === undefined || Number(ext) - options.mediaAddressMs < (file.addressesFrom ?? 0)) throw notFound();
  return file;
}

function notFound(): PlainError {
  return new PlainError(404, 'The address has expired, or the file is gone.');
}

/** The effects of faults on a download's bytes. */
interface Spoiling {
  /** Cut the connection after this many bytes. */
  cutAfterBytes?: number;
  /** Change this byte: the size stays right, the checksum is wrong. */
  spoilByteAt?: number;
  /** 0: unlimited. */
  bytesPerSecond: number;
}

/** A slow file is sent in this many pieces a second. */
const PIECES_PER_SECOND = 10;

async function* piecesOf(path: string, { cutAfterBytes, spoilByteAt, bytesPerSecond }: Spoiling) {
  const highWaterMark = bytesPerSecond > 0 ? Math.max(1, Math.ceil(bytesPerSecond / PIECES_PER_SECOND)) : 64 * 1024;
  let sent = 0;
  for await (const read of createReadStream(path, { highWaterMark })) {
    const piece = read as Buffer;
    if (cutAfterBytes !== undefined && sent + piece.length > cutAfterBytes) {
      yield piece.subarray(0, cutAfterBytes - sent);
      throw new Error('cut');
    }
    const spoilt = (spoilByteAt ?? -1) - sent;
    if (spoilt in piece) piece[spoilt] = (piece[spoilt] ?? 0) ^ 0xff;
    sent += piece.length;
    yield piece;
    if (bytesPerSecond > 0) await sleep((1000 * piece.length) / bytesPerSecond, undefined, { ref: false });
  }
}
