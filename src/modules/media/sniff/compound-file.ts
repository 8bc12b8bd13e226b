import type { ByteSource, Finding } from './byte-source.js';
import { type Format, FORMATS } from './formats.js';

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const HEADER_SECTORS = 109;
const MAX_DIRECTORY_SECTORS = 512;
const MAX_LIST_SECTORS = 64;
/** Marks that are no sector: end of a chain and such. */
const FIRST_MARK = 0xfffffffa;
const NOTHING = 0xffffffff;

const COMPOUND: Finding<Format> = { format: null, detected: 'application/x-cfb' };

/** The stream by which each kind of document is told. A map, for the names are the file's: `constructor` may be one. */
const STREAMS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['WordDocument', FORMATS.doc],
  ['Workbook', FORMATS.xls],
  ['Book', FORMATS.xls],
  ['PowerPoint Document', FORMATS.ppt],
]);

interface Entry {
  name: string;
  left: number;
  right: number;
  child: number;
}

/**
 * Word, Excel and PowerPoint files of old: a small file system in a file ([MS-CFB]). The kind is told by what lies at its
 * root, for a document may hold documents of other kinds further down.
 */
export async function examineCompoundFile(source: ByteSource): Promise<Finding<Format>> {
  const header = await source.read(0, HEADER_BYTES);
  const shift = header.length < HEADER_BYTES ? 0 : header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return brokenFile();
  const file = new Sectors(source, header, 2 ** shift);
  const entries = await directoryOf(file, header.readUInt32LE(48));
  const root = entries[0];
  if (root === undefined) return brokenFile();
  const formats = new Set<Format>();
  const visited = new Set<number>();
  const open = [root.child];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const entry = entries[id];
    if (entry === undefined || visited.has(id)) continue;
    visited.add(id);
    const format = STREAMS.get(entry.name);
    if (format !== undefined) formats.add(format);
    open.push(entry.left, entry.right);
  }
  const [format] = formats;
  return format !== undefined && formats.size === 1 ? { format } : COMPOUND;
}

function brokenFile(): Finding<Format> {
  return {
    format: null,
    detected: null,
    reason: 'The file begins like an Office document, but is broken or cut short',
  };
}

async function directoryOf(file: Sectors, first: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  let sector = first;
  for (let count = 0; count < MAX_DIRECTORY_SECTORS && sector < FIRST_MARK; count++) {
    const bytes = await file.read(sector);
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) entries.push(entryAt(bytes, at));
    sector = await file.after(sector);
  }
  return entries;
}

function entryAt(bytes: Buffer, at: number): Entry {
  const nameBytes = Math.min(64, bytes.readUInt16LE(at + 64));
  return {
    name: bytes.toString('utf16le', at, at + Math.max(0, nameBytes - 2)),
    left: bytes.readUInt32LE(at + 68),
    right: bytes.readUInt32LE(at + 72),
    child: bytes.readUInt32LE(at + 76),
  };
}

/** Sectors, and the table that says which one follows which. */
class Sectors {
  constructor(
    private readonly source: ByteSource,
    private readonly header: Buffer,
    private readonly sectorBytes: number,
  ) {}

  read(sector: number): Promise<Buffer> {
    return this.source.read((sector + 1) * this.sectorBytes, this.sectorBytes);
  }

  async after(sector: number): Promise<number> {
    const perSector = this.sectorBytes / 4;
    const table = await this.tableSector(Math.floor(sector / perSector));
    if (table >= FIRST_MARK) return NOTHING;
    const bytes = await this.read(table);
    const at = (sector % perSector) * 4;
    return at + 4 <= bytes.length ? bytes.readUInt32LE(at) : NOTHING;
  }

  /** Where the table's part number `index` lies: the header names the first ones, a chain of lists the others. */
  private async tableSector(index: number): Promise<number> {
    if (index < HEADER_SECTORS) return this.header.readUInt32LE(76 + index * 4);
    const perList = this.sectorBytes / 4 - 1;
    let list = this.header.readUInt32LE(68);
    let left = index - HEADER_SECTORS;
    for (let count = 0; count < MAX_LIST_SECTORS && list < FIRST_MARK; count++) {
      const bytes = await this.read(list);
      if (bytes.length < this.sectorBytes) return NOTHING;
      if (left < perList) return bytes.readUInt32LE(left * 4);
      left -= perList;
      list = bytes.readUInt32LE(perList * 4);
    }
    return NOTHING;
  }
}
