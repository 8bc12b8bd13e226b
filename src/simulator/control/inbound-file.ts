import type { Call } from '../http/call.js';
import { FileSink } from '../media/file-sink.js';
import { LARGEST_MEDIA_BYTES } from '../media/media-types.js';
import type { MediaKind } from '../media/media.types.js';
import { paddedTo, SAMPLE_FILES } from '../media/sample-files.js';
import { isObject, type JsonObject } from '../messages/checks.js';
import { MEDIA_KINDS } from '../messages/media-checks.js';
import type { SimulatorContext } from '../simulator-context.js';
import { ControlError, optionalNumber, optionalText } from './control-input.js';

/** A file that came with a customer's message can be fetched for so long. */
const INBOUND_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
const LARGEST_WISH_BYTES = 1024 * 1024 * 1024;

/** What the call says about the file; the rest is made up. */
interface FileWish {
  bytes: Iterable<Buffer>;
  sizeBytes: number;
  mimeType: string;
  filename: string | null;
}

/**
 * Makes a real file for a customer's image, video, audio, document or sticker, and resolves with the message, its facts
 * filled in. Null where there is none to make: another type, or an id that the caller gave.
 * @throws ControlError for a `file` that can't be made
 */
export function messageWithFile(context: SimulatorContext, call: Call, body: JsonObject): Promise<JsonObject> | null {
  const { message, file = {} } = body;
  if (!isObject(file)) throw new ControlError('"file" must be an object with base64, or size_bytes.');
  if (!isObject(message)) return null;
  const kind = MEDIA_KINDS.find((one) => one === message.type);
  const phoneNumberId = body.phone_number_id;
  if (kind === undefined || typeof phoneNumberId !== 'string') return null;
  if (context.numbers.get(phoneNumberId) === undefined) return null;
  const content = message[kind] ?? (body.file === undefined ? undefined : {});
  if (!isObject(content) || (content.id !== undefined && body.file === undefined)) return null;
  const wish = readWish(kind, file, content);
  if (wish.sizeBytes > LARGEST_MEDIA_BYTES) return Promise.resolve(tooLarge(message, kind));
  return write(context, call, phoneNumberId, wish).then(({ id, sha256, url }) => ({
    ...message,
    [kind]: {
      ...extrasOf(kind, wish),
      mime_type: wish.mimeType,
      sha256: Buffer.from(sha256, 'hex').toString('base64'),
      id,
      url,
      ...content,
    },
  }));
}

function readWish(kind: MediaKind, file: JsonObject, content: JsonObject): FileWish {
  const sample = SAMPLE_FILES[kind];
  const size = optionalNumber(file, 'size_bytes', 1, LARGEST_WISH_BYTES);
  const base64 = optionalText(file, 'base64');
  if (base64 !== undefined && !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) {
    throw new ControlError('"file.base64" must be base64.');
  }
  const bytes = base64 === undefined ? sample.bytes : Buffer.from(base64, 'base64');
  const sizeBytes = Math.floor(size ?? bytes.length);
  return {
    bytes: paddedTo(bytes, sizeBytes),
    sizeBytes,
    mimeType: optionalText(file, 'mime_type') ?? optionalText(content, 'mime_type') ?? sample.mimeType,
    filename: optionalText(file, 'filename') ?? sample.filename,
  };
}

async function write(
  context: SimulatorContext,
  call: Call,
  phoneNumberId: string,
  wish: FileWish,
): Promise<{ id: string; sha256: string; url: string }> {
  const id = context.ids.newObjectId();
  const sink = new FileSink(context.media.pathOf(id), LARGEST_MEDIA_BYTES);
  for (const piece of wish.bytes) await sink.write(piece);
  await sink.end();
  const sha256 = sink.sha256 as string;
  const now = Date.now();
  context.media.add({
    id,
    phoneNumberId,
    mimeType: wish.mimeType,
    sha256,
    sizeBytes: sink.sizeBytes,
    source: 'webhook',
    usable: true,
    createdAt: now,
    expiresAt: now + INBOUND_LIFE_MS,
  });
  return { id, sha256, url: context.mediaAddresses.make(call.request, id, 'webhook', null) };
}

function extrasOf(kind: MediaKind, { mimeType, filename }: FileWish): JsonObject {
  if (kind === 'audio') return { voice: mimeType.includes('opus') };
  if (kind === 'sticker') return { animated: false };
  return kind === 'document' && filename !== null ? { filename } : {};
}

/** The platform does not fetch more than 100 MiB from a customer; it says so in the message's place. */
function tooLarge(message: JsonObject, kind: MediaKind): JsonObject {
  const { [kind]: _, ...rest } = message;
  const title = 'Media download error';
  const details = 'The file that the customer sent is too large to be downloaded';
  return { ...rest, type: 'unsupported', errors: [{ code: 131052, title, message: title, error_data: { details } }] };
}
