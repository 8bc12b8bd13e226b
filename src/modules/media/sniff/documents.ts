import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { BrokenFileError, type ByteReader, demand, NotTakenError } from './byte-reader.js';
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

/** Main parts, as the list of content types names them, with the folder where such a part is. */
const MAIN_PARTS = [
  { type: 'wordprocessingml.document.main+xml', folder: 'word/', format: FORMATS.docx },
  { type: 'spreadsheetml.sheet.main+xml', folder: 'xl/', format: FORMATS.xlsx },
  { type: 'presentationml.presentation.main+xml', folder: 'ppt/', format: FORMATS.pptx },
] as const;
const OPEN_XML = 'application/vnd.openxmlformats-officedocument.';

interface ZipDirectory {
  at: number;
  entries: number;
}

/** Where a ZIP's directory is, if the file ends as a ZIP does and the directory fills the bytes before that end. */
export async function zipDirectory(file: ByteReader): Promise<ZipDirectory | null> {
  const length = Math.min(file.sizeBytes, END_BYTES + MAX_COMMENT_BYTES);
  const tailAt = file.sizeBytes - length;
  const tail = await file.at(tailAt).look(length);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    at = tail.lastIndexOf('PK\x05\x06', at, 'latin1');
    if (at < 0) return null;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const entries = tail.readUInt16LE(at + 10);
    const directoryAt = tailAt + at - tail.readUInt32LE(at + 12);
    if (directoryAt < 0 || tail.readUInt32LE(at + 4) !== 0) continue;
    if (entries > 0 && (await file.at(directoryAt).look(4)).toString('latin1') !== 'PK\x01\x02') continue;
    return { at: directoryAt, entries };
  }
  return null;
}

/**
 * Word, Excel and PowerPoint files in the Office Open XML format, detected by their list of content types. Only that
 * list is unpacked, at most one megabyte of it. The central directory counts, as for the programs that open the file:
 * the local header before an entry may differ.
 */
export async function examineZip(file: ByteReader): Promise<Format> {
  const directory = await zipDirectory(file);
  demand(directory !== null && directory.entries <= MAX_ENTRIES);
  try {
    const { list, folders } = await contentsOf(file, directory);
    const text = await unpack(file, list);
    const types = [...text.matchAll(/ContentType\s*=\s*["']([^"']{1,200})["']/g)].map((match) => match[1] ?? '');
    const mains = MAIN_PARTS.filter((part) => types.includes(OPEN_XML + part.type) && folders.has(part.folder));
    const [main] = mains;
    if (main !== undefined && mains.length === 1) return main.format;
    const other = types.find((type) => /^application\/vnd\.[\w.-]+\.(macroEnabled|template)\.main\+xml$/.test(type));
    throw new NotTakenError(other?.replace(/\.main\+xml$/, '') ?? 'application/zip');
  } catch (error) {
    throw error instanceof BrokenFileError ? new NotTakenError('application/zip') : error;
  }
}

interface ZipEntry {
  method: number;
  packedBytes: number;
  unpackedBytes: number;
  at: number;
}

/** Walks the directory: the one list of content types, and which of the main parts' folders are there. */
async function contentsOf(file: ByteReader, directory: ZipDirectory) {
  file.position = directory.at;
  let list: ZipEntry | null = null;
  const folders = new Set<string>();
  let first = Infinity;
  for (let entry = 0; entry < directory.entries; entry++) {
    const head = await file.take(46);
    const nameBytes = head.readUInt16LE(28);
    const isEncrypted = (head.readUInt16LE(8) & 1) !== 0;
    demand(head.toString('latin1', 0, 4) === 'PK\x01\x02' && nameBytes <= MAX_NAME_BYTES && !isEncrypted);
    const furtherBytes = head.readUInt16LE(30) + head.readUInt16LE(32);
    const described: ZipEntry = {
      method: head.readUInt16LE(10),
      packedBytes: head.readUInt32LE(20),
      unpackedBytes: head.readUInt32LE(24),
      at: head.readUInt32LE(42),
    };
    // Some writers on Windows separate folders by backslashes.
    const name = (await file.take(nameBytes)).toString('utf8').replaceAll('\\', '/');
    file.position += furtherBytes;
    first = Math.min(first, described.at);
    demand(name !== CONTENT_TYPES || list === null);
    if (name === CONTENT_TYPES) list = described;
    for (const { folder } of MAIN_PARTS) if (name.startsWith(folder)) folders.add(folder);
  }
  // What is before the first entry belongs to another file.
  demand(first === 0 && list !== null);
  return { list, folders };
}

async function unpack(file: ByteReader, entry: ZipEntry): Promise<string> {
  demand(entry.packedBytes <= MAX_PACKED_BYTES && entry.unpackedBytes <= MAX_UNPACKED_BYTES);
  const local = await file.at(entry.at).take(30);
  demand(local.toString('latin1', 0, 4) === 'PK\x03\x04' && (entry.method === 0 || entry.method === 8));
  file.position += local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = await file.peek(entry.packedBytes);
  if (entry.method === 0) return packed.toString('utf8');
  const unpacked = await inflate(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).catch(() => null);
  demand(unpacked !== null);
  return unpacked.toString('utf8');
}

const HEADER_BYTES = 512;
const DIRECTORY_ENTRY_BYTES = 128;
const HEADER_SECTORS = 109;
const MAX_DIRECTORY_SECTORS = 512;
const MAX_LIST_SECTORS = 64;
/** Marks that are no sector: end of a chain and such. */
const FIRST_MARK = 0xfffffffa;

/** The stream that identifies each kind of document. A map, because the names are the file's: `constructor` may be one. */
const STREAMS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['WordDocument', FORMATS.doc],
  ['Workbook', FORMATS.xls],
  ['Book', FORMATS.xls],
  ['PowerPoint Document', FORMATS.ppt],
]);

/**
 * Word, Excel and PowerPoint files in the binary format before 2007: a small file system in a file ([MS-CFB]). The
 * entries at its root identify the kind, because a document may hold documents of other kinds further down.
 */
export async function examineCompoundFile(file: ByteReader): Promise<Format> {
  const header = await file.peek(HEADER_BYTES);
  const shift = header.readUInt16LE(30);
  demand(shift === 9 || shift === 12);
  const entries = await directoryOf(new Sectors(file, header, 2 ** shift), header.readUInt32LE(48));
  demand(entries.length > 0);
  const formats = new Set<Format>();
  const visited = new Set<number>();
  // The entries at the root are a tree.
  const open = [entries[0]?.readUInt32LE(CHILD) ?? FIRST_MARK];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const entry = entries[id];
    if (entry === undefined || visited.has(id)) continue;
    visited.add(id);
    const nameBytes = Math.min(64, entry.readUInt16LE(64));
    const format = STREAMS.get(entry.toString('utf16le', 0, Math.max(0, nameBytes - 2)));
    if (format !== undefined) formats.add(format);
    open.push(entry.readUInt32LE(LEFT), entry.readUInt32LE(RIGHT));
  }
  const [format] = formats;
  if (format === undefined || formats.size > 1) throw new NotTakenError('application/x-cfb');
  return format;
}

/** Where an entry has the numbers of its neighbours and of its first child. */
const LEFT = 68;
const RIGHT = 72;
const CHILD = 76;

async function directoryOf(sectors: Sectors, first: number): Promise<Buffer[]> {
  const entries: Buffer[] = [];
  let sector = first;
  for (let count = 0; count < MAX_DIRECTORY_SECTORS && sector < FIRST_MARK; count++) {
    const bytes = await sectors.read(sector);
    for (let at = 0; at + DIRECTORY_ENTRY_BYTES <= bytes.length; at += DIRECTORY_ENTRY_BYTES) {
      entries.push(bytes.subarray(at, at + DIRECTORY_ENTRY_BYTES));
    }
    sector = await sectors.after(sector);
  }
  return entries;
}

/** Sectors, and the table that says which one follows which. */
class Sectors {
  constructor(
    private readonly file: ByteReader,
    private readonly header: Buffer,
    private readonly sectorBytes: number,
  ) {}

  read(sector: number): Promise<Buffer> {
    return this.file.at((sector + 1) * this.sectorBytes).look(this.sectorBytes);
  }

  async after(sector: number): Promise<number> {
    const perSector = this.sectorBytes / 4;
    const table = await this.tableSector(Math.floor(sector / perSector));
    return table >= FIRST_MARK ? FIRST_MARK : this.numberAt(table, sector % perSector);
  }

  /** Where the table's part number `index` is: the header names the first ones, a chain of lists the others. */
  private async tableSector(index: number): Promise<number> {
    if (index < HEADER_SECTORS) return this.header.readUInt32LE(76 + index * 4);
    const perList = this.sectorBytes / 4 - 1;
    let list = this.header.readUInt32LE(68);
    let left = index - HEADER_SECTORS;
    for (let count = 0; count < MAX_LIST_SECTORS && list < FIRST_MARK; count++) {
      if (left < perList) return this.numberAt(list, left);
      left -= perList;
      list = await this.numberAt(list, perList);
    }
    return FIRST_MARK;
  }

  private async numberAt(sector: number, index: number): Promise<number> {
    const bytes = await this.read(sector);
    return (index + 1) * 4 <= bytes.length ? bytes.readUInt32LE(index * 4) : FIRST_MARK;
  }
}
