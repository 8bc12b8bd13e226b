import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { type ByteReader, demand, NotTakenError } from './byte-reader.js';
import { type Format, FORMATS } from './formats.js';

const inflate = promisify(inflateRaw);

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const CONTENT_TYPES = Buffer.from('[Content_Types].xml');
// The list of parts of a document: a few kilobytes. What claims more is not unpacked.
const MAX_PACKED_BYTES = 128 * 1_024;
const MAX_UNPACKED_BYTES = 1_024 * 1_024;

/** The content type of the main part of each kind of document. */
const MAIN_PARTS: readonly (readonly [type: string, Format])[] = [FORMATS.docx, FORMATS.xlsx, FORMATS.pptx].map(
  (format) => [`${format.mimeType}.main+xml`, format],
);

interface ZipDirectory {
  at: number;
  entries: number;
}

/** Where a ZIP's directory is, if the file ends as a ZIP does and the directory fills the bytes before that end. */
export async function zipDirectory(file: ByteReader): Promise<ZipDirectory | null> {
  const tailAt = Math.max(0, file.sizeBytes - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await file.look(tailAt, END_BYTES + MAX_COMMENT_BYTES);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    at = tail.lastIndexOf('PK\x05\x06', at, 'latin1');
    if (at < 0) return null;
    if (at + END_BYTES + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const entries = tail.readUInt16LE(at + 10);
    const directoryAt = tailAt + at - tail.readUInt32LE(at + 12);
    if (directoryAt < 0 || tail.readUInt32LE(at + 4) !== 0) continue;
    if (entries > 0 && (await file.look(directoryAt, 4)).toString('latin1') !== 'PK\x01\x02') continue;
    return { at: directoryAt, entries };
  }
  return null;
}

/**
 * Word, Excel and PowerPoint files in the Office Open XML format, detected by their list of content types: the one that
 * the directory names, as for the programs that open the file. The library goes by the headers before the entries, which
 * may differ, and reads them up to the first megabyte only.
 */
export async function examineZip(file: ByteReader): Promise<Format> {
  const list = await contentTypesOf(file);
  const [main, ...others] = MAIN_PARTS.filter(([type]) => list.includes(type));
  if (main === undefined || others.length > 0) throw new NotTakenError('application/zip');
  return main[1];
}

/** Empty where the ZIP has no such list, or one that is too large. */
async function contentTypesOf(file: ByteReader): Promise<string> {
  const directory = await zipDirectory(file);
  demand(directory !== null);
  const lists: ZipEntry[] = [];
  let firstAt = Infinity;
  for (let at = directory.at, entry = 0; entry < directory.entries; entry++) {
    const head = await file.take(at, 46);
    demand(head.toString('latin1', 0, 4) === 'PK\x01\x02');
    const nameBytes = head.readUInt16LE(28);
    const described: ZipEntry = {
      method: head.readUInt16LE(10),
      packedBytes: head.readUInt32LE(20),
      at: head.readUInt32LE(42),
    };
    firstAt = Math.min(firstAt, described.at);
    const isList = nameBytes === CONTENT_TYPES.length && (await file.look(at + 46, nameBytes)).equals(CONTENT_TYPES);
    if (isList) lists.push(described);
    at += 46 + nameBytes + head.readUInt16LE(30) + head.readUInt16LE(32);
  }
  // What is before the first entry belongs to another file.
  demand(firstAt === 0 && lists.length < 2);
  return lists[0] === undefined ? '' : unpack(file, lists[0]);
}

interface ZipEntry {
  method: number;
  packedBytes: number;
  at: number;
}

async function unpack(file: ByteReader, { at, method, packedBytes }: ZipEntry): Promise<string> {
  if (packedBytes > MAX_PACKED_BYTES) return '';
  const local = await file.take(at, 30);
  const packed = await file.take(at + 30 + local.readUInt16LE(26) + local.readUInt16LE(28), packedBytes);
  if (method === 0) return packed.toString('utf8');
  const unpacked = await inflate(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).catch(() => '');
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
  const header = await file.take(0, HEADER_BYTES);
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
    return this.file.look((sector + 1) * this.sectorBytes, this.sectorBytes);
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
