import { randomUUID } from 'node:crypto';

/** A form whose file is made piece by piece, so that neither side holds it as a whole. */
export function multipartBody(
  fields: Readonly<Record<string, string>>,
  file: { pieces: Iterable<Buffer>; type: string; filename: string },
): { contentType: string; chunks: () => Iterable<Buffer> } {
  const boundary = `form-${randomUUID()}`;
  function* chunks(): Generator<Buffer> {
    for (const [name, value] of Object.entries(fields)) {
      yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    }
    const disposition = `form-data; name="file"; filename="${file.filename}"`;
    yield Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${file.type}\r\n\r\n`);
    yield* file.pieces;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, chunks };
}
