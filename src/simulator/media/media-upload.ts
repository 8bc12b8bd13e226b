import { GraphError } from '../graph-error.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { letRunOff } from '../http/run-off.js';
import { type PartHead, type PartSink, readMultipart } from '../http/multipart.js';
import { invalidParam } from '../messages/checks.js';
import type { SimulatorContext } from '../simulator-context.js';
import { FileSink, FileTooLargeError } from './file-sink.js';
import { kindOf, LARGEST_MEDIA_BYTES, limitOf, looksLike, UPLOAD_TYPES } from './media-types.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** An uploaded file can be sent for so long. */
const UPLOAD_LIFE_MS = 30 * DAY_MS;
const MOST_FIELD_BYTES = 1024;
const MOST_TYPE_CHARACTERS = 255;

/** The form of an upload, part by part. */
class UploadForm {
  readonly fields = new Map<string, string>();
  file: FileSink | null = null;
  fileType: string | null = null;

  constructor(private readonly path: string) {}

  open(head: PartHead): PartSink {
    if (head.name !== 'file') return this.field(head.name);
    if (this.file !== null) throw invalidParam('Param file must be given once.');
    if (head.filename === null) throw invalidParam('Param file must be a file.');
    this.fileType = head.contentType;
    return (this.file = new FileSink(this.path, LARGEST_MEDIA_BYTES));
  }

  private field(name: string): PartSink {
    let bytes = Buffer.alloc(0);
    return {
      write: (more) => {
        bytes = Buffer.concat([bytes, more]);
        if (bytes.length > MOST_FIELD_BYTES) throw invalidParam(`Param ${name} is too long.`);
        return Promise.resolve();
      },
      end: () => {
        this.fields.set(name, bytes.toString('utf8'));
        return Promise.resolve();
      },
    };
  }
}

/** `POST /{phone_number_id}/media`: streams the file to its folder. @throws GraphError 100; nothing is kept then */
export async function uploadMedia(context: SimulatorContext, call: Call): Promise<Answer> {
  const id = context.ids.newObjectId();
  const form = new UploadForm(context.media.pathOf(id));
  try {
    await readMultipart(call.request, (head) => form.open(head));
    const { faults } = context;
    if (faults.uploadFailures > 0) {
      faults.uploadFailures--;
      throw new GraphError(131000, { details: 'A fault that was asked for' });
    }
    return jsonAnswer({ id: keep(context, call.nodeId, id, form) });
  } catch (error) {
    await form.file?.discard();
    await letRunOff(call.request);
    if (error instanceof FileTooLargeError) throw tooLarge(LARGEST_MEDIA_BYTES);
    throw error;
  }
}

function keep(context: SimulatorContext, phoneNumberId: string, id: string, form: UploadForm): string {
  const { file, fields } = form;
  if (fields.get('messaging_product') !== 'whatsapp') {
    throw invalidParam('The parameter messaging_product is required.');
  }
  if (file === null || file.sha256 === null) throw invalidParam('The parameter file is required.');
  const declared = fields.get('type');
  const mimeType = (form.fileType ?? declared ?? 'application/octet-stream').trim();
  if (mimeType.length > MOST_TYPE_CHARACTERS) throw invalidParam('Param type is too long.');
  for (const type of [mimeType, declared ?? mimeType]) {
    if (kindOf(type) === undefined) {
      throw invalidParam(
        `Param file must be a file with one of the following types: ${UPLOAD_TYPES.join(', ')}. ` +
          `Received file of type '${type}'.`,
      );
    }
  }
  const kind = kindOf(mimeType) ?? 'document';
  const limit = limitOf(kind, file.head);
  if (file.sizeBytes === 0) throw invalidParam('Param file must not be empty.');
  if (file.sizeBytes > limit) throw tooLarge(limit);
  const now = Date.now();
  context.media.add({
    id,
    phoneNumberId,
    mimeType,
    sha256: file.sha256,
    sizeBytes: file.sizeBytes,
    source: 'upload',
    usable: looksLike(mimeType, file.head),
    createdAt: now,
    expiresAt: now + UPLOAD_LIFE_MS,
  });
  return id;
}

function tooLarge(limit: number): GraphError {
  return invalidParam(`Param file must be at most ${limit} bytes large for its type.`);
}
