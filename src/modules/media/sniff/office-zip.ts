import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { type ByteSource, Cursor, type Finding } from './byte-source.js';
import { type Format, FORMATS } from './formats.js';

const inflate = promisify(inflateRaw);

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const MAX_ENTRIES = 20_000;
const MAX_NAME_BYTES = 1_024;
const CONTENT_TYPES = '[Content_Types].xml';
// The list of parts of a document: a few kilobytes. What claims more is not unpacked.
const MAX_PACKED_BYTES = 128 * 1_024;
const MAX_UNPACKED_BYTES = 1_024 * 1_024;

/** Main parts, as the list of content types names them, with the folder where such a part lies. */
const MAIN_PARTS = [
  { type: 'wordprocessingml.document.main+xml', folder: 'word/', format: FORMATS.docx },
  { type: 'spreadsheetml.sheet.main+xml', folder: 'xl/', format: FORMATS.xlsx },
  { type: 'presentationml.presentation.main+xml', folder: 'ppt/', format: FORMATS.pptx },
] as const;
const OPEN_XML = 'application/vnd.openxmlformats-officedocument.';

const ZIP: Finding<Format> = { format: null, detected: 'application/zip' };

interface Directory {
  at: number;
  entries: number;
}

/** Where a ZIP's directory lies, if the file ends as a ZIP does and the directory fills the room before that end. */
export async function zipDirectory(source: ByteSource): Promise<Directory | null> {
  const length = Math.min(source.sizeBytes, END_BYTES + MAX_COMMENT_BYTES);
  const tailAt = source.sizeBytes - length;
  const tail = await source.read(tailAt, length);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    at = tail.lastIndexOf('PK\x05\x06', at, 'latin1');
    if (at < 0) return null;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const entries = tail.readUInt16LE(at + 10);
    const size = tail.readUInt32LE(at + 12);
    const directoryAt = tailAt + at - size;
    if (directoryAt < 0 || tail.readUInt32LE(at + 4) !== 0) continue;
    if (entries > 0 && (await source.read(directoryAt, 4)).toString('latin1') !== 'PK\x01\x02') continue;
    return { at: directoryAt, entries };
  }
  return null;
}

/**
 * Word, Excel and PowerPoint files of today, told by their list of content types. Nothing but that list is unpacked,
 * and of it no more than a megabyte.
 */
export async function examineZip(source: ByteSource): Promise<Finding<Format>> {
  const directory = await zipDirectory(source);
  if (directory === null || directory.entries > MAX_ENTRIES) {
    return { format: null, detected: null, reason: 'The file begins like a ZIP, but is broken or cut short' };
  }
  const found = await contents(source, directory);
  if (found === null || found.list === null) return ZIP;
  const text = await unpack(source, found.list);
  if (text === null) return ZIP;
  const types = [...text.matchAll(/ContentType\s*=\s*["']([^"']{1,200})["']/g)].map((match) => match[1] ?? '');
  const mains = MAIN_PARTS.filter((part) => types.includes(OPEN_XML + part.type) && found.folders.has(part.folder));
  const [main] = mains;
  if (main !== undefined && mains.length === 1) return { format: main.format };
  const other = types.find((type) => /^application\/vnd\.[\w.-]+\.(macroEnabled|template)\.main\+xml$/.test(type));
  return other === undefined ? ZIP : { format: null, detected: other.replace(/\.main\+xml$/, '') };
}

interface Entry {
  method: number;
  packedBytes: number;
  unpackedBytes: number;
  at: number;
}

interface Contents {
  list: Entry | null;
  folders: Set<string>;
}

/** Walks the directory; null where it is broken or names the list twice. */
async function contents(source: ByteSource, directory: Directory): Promise<Contents | null> {
  const cursor = new Cursor(source, directory.at, 16_384);
  const found: Contents = { list: null, folders: new Set() };
  let first = Infinity;
  for (let entry = 0; entry < directory.entries; entry++) {
    const head = await cursor.take(46);
    if (head === null || head.toString('latin1', 0, 4) !== 'PK\x01\x02') return null;
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((at) => head.readUInt16LE(at)) as [
      number,
      number,
      number,
    ];
    const isEncrypted = (head.readUInt16LE(8) & 1) !== 0;
    const described = {
      method: head.readUInt16LE(10),
      packedBytes: head.readUInt32LE(20),
      unpackedBytes: head.readUInt32LE(24),
      at: head.readUInt32LE(42),
    };
    if (nameBytes > MAX_NAME_BYTES || isEncrypted) return null;
    // Some writers on Windows separate folders their own way.
    const name = ((await cursor.take(nameBytes))?.toString('utf8') ?? '').replaceAll('\\', '/');
    cursor.position += extraBytes + commentBytes;
    first = Math.min(first, described.at);
    if (name === CONTENT_TYPES) {
      if (found.list !== null) return null;
      found.list = described;
    }
    for (const { folder } of MAIN_PARTS) if (name.startsWith(folder)) found.folders.add(folder);
  }
  // What stands before the first entry belongs to another file.
  return first === 0 ? found : null;
}

async function unpack(source: ByteSource, entry: Entry): Promise<string | null> {
  const isPlausible = entry.packedBytes <= MAX_PACKED_BYTES && entry.unpackedBytes <= MAX_UNPACKED_BYTES;
  const local = await source.read(entry.at, 30);
  if (!isPlausible || local.length < 30 || local.toString('latin1', 0, 4) !== 'PK\x03\x04') return null;
  const dataAt = entry.at + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = await source.read(dataAt, entry.packedBytes);
  if (packed.length < entry.packedBytes) return null;
  if (entry.method === 0) return packed.toString('utf8');
  if (entry.method !== 8) return null;
  try {
    return (await inflate(packed, { maxOutputLength: MAX_UNPACKED_BYTES })).toString('utf8');
  } catch {
    return null;
  }
}
