import type { Readable } from 'node:stream';
import { callbackify } from 'node:util';
import type { Response } from 'express';
import multer, { MulterError, type StorageEngine } from 'multer';
import { AppError } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { mediaErrors } from '../media.errors.js';
import { MAX_UPLOAD_BYTES } from '../sniff/formats.js';

/** The part `file` of a form, while it comes in. */
export interface FilePart {
  /** As the caller named it; null bytes, paths and all. */
  name: string;
  /** Content-Type of the part; `text/plain` where it has none. */
  mimeType: string;
  bytes: Readable;
  /** Text fields that were before it, unchecked. */
  fieldsSoFar: Readonly<Record<string, unknown>>;
}

/** What is around the file: boundaries, part headers, three short fields. */
export const FORM_OVERHEAD_BYTES = 64 * 1_024;
export const MAX_FORM_BYTES = MAX_UPLOAD_BYTES + FORM_OVERHEAD_BYTES;

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
 * Reads a multipart form with one file, which goes to `take` as it comes; nothing of it is kept here. Resolves with the
 * text fields once all is read. Rejects at once with what `take` rejects with; the rest of the body is then thrown away
 * as it comes in.
 *
 * @throws INVALID_REQUEST (400) where the form is broken or cut short, MEDIA_TOO_LARGE (400) where all of it, whatever it
 * is made of, has more than MAX_FORM_BYTES.
 */
export function readForm(
  req: HeraldRequest,
  res: Response,
  take: (part: FilePart) => Promise<void>,
): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const store = callbackify(async (part: FilePart) => {
      try {
        await take(part);
      } catch (error) {
        reject(asError(error));
        throw error;
      }
    });
    const storage: StorageEngine = {
      _handleFile: (_req, { originalname: name, mimetype: mimeType, stream: bytes }, done) => {
        const fieldsSoFar = req.body as Record<string, unknown>;
        store({ name, mimeType, bytes, fieldsSoFar }, (error) => done(error, {}));
      },
      _removeFile: (_req, _file, done) => done(null),
    };
    // A form whose length was not said may have no end: before its parts, behind them, in a part without a name.
    let formBytes = 0;
    req.on('data', (chunk: Buffer) => {
      formBytes += chunk.length;
      if (formBytes > MAX_FORM_BYTES) reject(mediaErrors.MEDIA_TOO_LARGE({ limitBytes: MAX_UPLOAD_BYTES }));
    });
    const upload = multer({ storage, limits: LIMITS, defParamCharset: 'utf8' }).single('file');
    void upload(req, res, (error: unknown) => {
      const form = req.body as Record<string, unknown> | undefined;
      // Where it takes the Content-Type for none that it knows, the parser reads nothing and says nothing.
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
    return invalid(error.field?.slice(0, 64) ?? '', error.code.toLowerCase(), message);
  }
  // What is left comes from the parser: a missing boundary, a broken part header, a body that ends too early.
  return invalid('', 'multipart', 'The multipart form is broken or was cut short; send it again as a whole.', error);
}

function invalid(field: string, rule: string, message: string, cause?: unknown): AppError {
  return commonErrors.INVALID_REQUEST({ details: [{ field, rule, message }] }, { cause });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
