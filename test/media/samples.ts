import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Small files of every type that the platform takes, made by the rules of their formats. */

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, check]);
}

/** One pixel, or as many bytes as are asked for, by a private chunk that readers pass over. */
export function png(totalBytes = 0): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const parts = (filler: Buffer[]): Buffer =>
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      ...filler,
      chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
      chunk('IEND', Buffer.alloc(0)),
    ]);
  const bare = parts([]);
  if (totalBytes <= bare.length) return bare;
  return parts([chunk('heRd', Buffer.alloc(Math.max(0, totalBytes - bare.length - 12)))]);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

export function jpeg({ totalBytes = 0 } = {}): Buffer {
  const bare = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    segment(0xdb, Buffer.alloc(65, 1)),
    segment(0xc0, Buffer.from([8, 0, 1, 0, 1, 1, 1, 0x11, 0])),
    segment(0xc4, Buffer.concat([Buffer.from([0]), Buffer.from([1]), Buffer.alloc(15), Buffer.from([0])])),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  ]);
  const end = Buffer.from([0xff, 0xd9]);
  const scan = Buffer.alloc(Math.max(4, totalBytes - bare.length - end.length), 0x55);
  return Buffer.concat([bare, scan, end]);
}

function riffChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

export function webp({ animated = false, totalBytes = 0 } = {}): Buffer {
  const canvas = Buffer.from([animated ? 2 : 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
  const still = riffChunk('VP8L', Buffer.from([0x2f, 0, 0, 0, 0, 0x10, 7, 0x10]));
  const picture = animated ? riffChunk('ANMF', Buffer.concat([Buffer.alloc(16), still])) : still;
  const bare = [riffChunk('VP8X', canvas), ...(animated ? [riffChunk('ANIM', Buffer.alloc(6))] : []), picture];
  const size = 12 + bare.reduce((sum, part) => sum + part.length, 0);
  const filler = totalBytes - size - 8;
  const parts = filler > 0 ? [...bare, riffChunk('XMP ', Buffer.alloc(filler))] : bare;
  const content = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

function box(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** @param handlers kinds of the tracks: vide, soun, text */
export function isoMedia({
  brand = 'isom',
  handlers = ['vide', 'soun'],
  totalBytes = 0,
  moovLast = false,
} = {}): Buffer {
  const tracks = handlers.map((kind) =>
    box(
      'trak',
      box('tkhd', Buffer.alloc(84)),
      box('mdia', box('mdhd', Buffer.alloc(24)), box('hdlr', Buffer.alloc(8), Buffer.from(kind), Buffer.alloc(13))),
    ),
  );
  const type = box('ftyp', Buffer.from(brand), Buffer.alloc(4), Buffer.from(brand));
  const movie = box('moov', box('mvhd', Buffer.alloc(100)), ...tracks);
  const data = box('mdat', Buffer.alloc(Math.max(16, totalBytes - type.length - movie.length - 8)));
  return Buffer.concat(moovLast ? [type, data, movie] : [type, movie, data]);
}

export function mp3({ frames = 4, tagBytes = 0 } = {}): Buffer {
  const frame = Buffer.alloc(417); // MPEG 1 layer III, 128 kbit/s, 44.1 kHz
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  const tag = Buffer.alloc(tagBytes === 0 ? 0 : 10 + tagBytes);
  if (tagBytes > 0) {
    tag.write('ID3\x03\0\0', 'latin1');
    tag.set([(tagBytes >> 21) & 127, (tagBytes >> 14) & 127, (tagBytes >> 7) & 127, tagBytes & 127], 6);
  }
  return Buffer.concat([tag, ...Array.from({ length: frames }, () => frame)]);
}

export function aac(frames = 4): Buffer {
  const frame = Buffer.alloc(100);
  frame.set([0xff, 0xf1, 0x50, 0x80 | (100 >> 11), (100 >> 3) & 0xff, ((100 & 7) << 5) | 0x1f, 0xfc]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

export function amr(frames = 5): Buffer {
  const frame = Buffer.alloc(32);
  frame[0] = 0x3c; // 12.2 kbit/s
  return Buffer.concat([Buffer.from('#!AMR\n'), ...Array.from({ length: frames }, () => frame)]);
}

function oggPage(flags: number, sequence: number, data: Buffer): Buffer {
  const segments = [...Array.from({ length: Math.floor(data.length / 255) }, () => 255), data.length % 255];
  const head = Buffer.alloc(27);
  head.write('OggS', 'latin1');
  head[5] = flags;
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(sequence, 18);
  head[26] = segments.length;
  return Buffer.concat([head, Buffer.from(segments), data]);
}

/** @param codec what the first packet begins with */
export function ogg({ channels = 1, codec = 'OpusHead' } = {}): Buffer {
  const head = Buffer.alloc(19);
  head.write(codec, 'latin1');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
  return Buffer.concat([oggPage(2, 0, head), oggPage(0, 1, tags), oggPage(4, 2, Buffer.alloc(60, 0xfc))]);
}

export function pdf(totalBytes = 0): Buffer {
  const text = '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n';
  const end = 'trailer<</Root 1 0 R>>\n%%EOF\n';
  return Buffer.concat([
    Buffer.from(text),
    Buffer.alloc(Math.max(0, totalBytes - text.length - end.length), '\n'),
    Buffer.from(end),
  ]);
}

export interface ZipEntry {
  name: string;
  data: Buffer;
  stored?: boolean;
}

export function zip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, stored = false } of entries) {
    const packed = stored ? data : deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const entriesBytes = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(entriesBytes.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, entriesBytes, end]);
}

const OFFICE = {
  docx: { main: 'wordprocessingml.document.main+xml', part: 'word/document.xml' },
  xlsx: { main: 'spreadsheetml.sheet.main+xml', part: 'xl/workbook.xml' },
  pptx: { main: 'presentationml.presentation.main+xml', part: 'ppt/presentation.xml' },
} as const;

/** @param contentType another content type of the main part; @param more entries after the document's own */
export function office(
  kind: keyof typeof OFFICE,
  { contentType, more = [], first = [] }: { contentType?: string; more?: ZipEntry[]; first?: ZipEntry[] } = {},
): Buffer {
  const { main, part } = OFFICE[kind];
  const type = contentType ?? `application/vnd.openxmlformats-officedocument.${main}`;
  const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="${type}"/></Types>`;
  return zip([
    ...first,
    { name: '[Content_Types].xml', data: Buffer.from(types) },
    { name: '_rels/.rels', data: Buffer.from('<Relationships/>') },
    { name: part, data: Buffer.from('<document/>') },
    ...more,
  ]);
}

/** A compound file with one stream at its root. */
export function compound(streamName: string): Buffer {
  const sector = 512;
  const header = Buffer.alloc(sector);
  header.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(0xfffffffe, 68);
  header.fill(0xff, 76);
  header.writeUInt32LE(0, 76);
  const table = Buffer.alloc(sector, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  table.writeUInt32LE(0xfffffffe, 4);
  const entry = (name: string, type: number, child = 0xffffffff): Buffer => {
    const bytes = Buffer.alloc(128);
    bytes.write(name, 'utf16le');
    bytes.writeUInt16LE((name.length + 1) * 2, 64);
    bytes[66] = type;
    bytes.writeUInt32LE(0xffffffff, 68);
    bytes.writeUInt32LE(0xffffffff, 72);
    bytes.writeUInt32LE(child, 76);
    return bytes;
  };
  const directory = Buffer.concat([entry('Root Entry', 5, 1), entry(streamName, 2), Buffer.alloc(256)]);
  return Buffer.concat([header, table, directory, Buffer.alloc(sector)]);
}

export const plain = (text = 'Hello, Grüße, 你好\n'): Buffer => Buffer.from(text);

/** One of each, by the MIME type that it must be recognised as. */
export function everyFormat(): { name: string; bytes: Buffer; mimeType: string; type: string }[] {
  const openXml = 'application/vnd.openxmlformats-officedocument';
  return [
    { name: 'a.jpg', bytes: jpeg(), mimeType: 'image/jpeg', type: 'image' },
    { name: 'a.png', bytes: png(), mimeType: 'image/png', type: 'image' },
    { name: 'a.mp4', bytes: isoMedia(), mimeType: 'video/mp4', type: 'video' },
    { name: 'b.mp4', bytes: isoMedia({ handlers: ['vide'], moovLast: true }), mimeType: 'video/mp4', type: 'video' },
    { name: 'a.3gp', bytes: isoMedia({ brand: '3gp4' }), mimeType: 'video/3gpp', type: 'video' },
    { name: 'a.m4a', bytes: isoMedia({ brand: 'M4A ', handlers: ['soun'] }), mimeType: 'audio/mp4', type: 'audio' },
    { name: 'b.m4a', bytes: isoMedia({ handlers: ['soun'] }), mimeType: 'audio/mp4', type: 'audio' },
    { name: 'a.aac', bytes: aac(), mimeType: 'audio/aac', type: 'audio' },
    { name: 'a.amr', bytes: amr(), mimeType: 'audio/amr', type: 'audio' },
    { name: 'a.mp3', bytes: mp3(), mimeType: 'audio/mpeg', type: 'audio' },
    { name: 'b.mp3', bytes: mp3({ tagBytes: 200_000 }), mimeType: 'audio/mpeg', type: 'audio' },
    { name: 'a.ogg', bytes: ogg(), mimeType: 'audio/ogg; codecs=opus', type: 'audio' },
    { name: 'a.txt', bytes: plain(), mimeType: 'text/plain', type: 'document' },
    { name: 'a.pdf', bytes: pdf(), mimeType: 'application/pdf', type: 'document' },
    { name: 'a.doc', bytes: compound('WordDocument'), mimeType: 'application/msword', type: 'document' },
    { name: 'a.xls', bytes: compound('Workbook'), mimeType: 'application/vnd.ms-excel', type: 'document' },
    {
      name: 'a.ppt',
      bytes: compound('PowerPoint Document'),
      mimeType: 'application/vnd.ms-powerpoint',
      type: 'document',
    },
    { name: 'a.docx', bytes: office('docx'), mimeType: `${openXml}.wordprocessingml.document`, type: 'document' },
    { name: 'a.xlsx', bytes: office('xlsx'), mimeType: `${openXml}.spreadsheetml.sheet`, type: 'document' },
    { name: 'a.pptx', bytes: office('pptx'), mimeType: `${openXml}.presentationml.presentation`, type: 'document' },
    { name: 'a.webp', bytes: webp(), mimeType: 'image/webp', type: 'sticker' },
    { name: 'b.webp', bytes: webp({ animated: true }), mimeType: 'image/webp', type: 'sticker' },
  ];
}
