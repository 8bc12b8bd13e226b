import type { ByteSource, Finding } from './byte-source.js';
import { type Format, FORMATS } from './formats.js';

const MAX_BOXES = 5_000;
const broken = (reason: string): Finding<Format> => ({ format: null, detected: null, reason });

interface Box {
  name: string;
  /** Where its content begins and ends. */
  from: number;
  end: number;
}

/** Pictures in the same container. */
const PICTURES = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1', 'avif', 'avis', 'crx ']);

/**
 * MP4, 3GP and M4A are one container. Whether it is a video or audio is told by its tracks, not by the brand, which many
 * writers set alike for both.
 */
export async function examineIsoMedia(source: ByteSource): Promise<Finding<Format>> {
  const brand = (await source.read(8, 4)).toString('latin1');
  const unsupported = unsupportedBrand(brand);
  if (unsupported !== null) return { format: null, detected: unsupported };
  const budget = { boxes: MAX_BOXES };
  const top = await boxesIn(source, 0, source.sizeBytes, budget);
  const movie = top?.find((box) => box.name === 'moov');
  if (top?.[0]?.name !== 'ftyp' || movie === undefined) {
    return broken('The file begins like video/mp4, but is broken or cut short');
  }
  const kinds = await trackKinds(source, movie, budget);
  const isMobile = brand.startsWith('3g');
  if (kinds.has('vide')) return { format: isMobile ? FORMATS.threeGp : FORMATS.mp4 };
  if (!kinds.has('soun')) return broken('The file is an MP4 container without video or audio');
  return isMobile ? { format: null, detected: 'audio/3gpp' } : { format: FORMATS.m4a };
}

function unsupportedBrand(brand: string): string | null {
  if (PICTURES.has(brand)) return brand.startsWith('av') ? 'image/avif' : 'image/heif';
  if (brand === 'qt  ') return 'video/quicktime';
  return brand.startsWith('3g2') ? 'video/3gpp2' : null;
}

async function trackKinds(source: ByteSource, movie: Box, budget: { boxes: number }): Promise<Set<string>> {
  const kinds = new Set<string>();
  for (const track of await childrenOf(source, movie, 'trak', budget)) {
    for (const media of await childrenOf(source, track, 'mdia', budget)) {
      for (const handler of await childrenOf(source, media, 'hdlr', budget)) {
        if (handler.end - handler.from < 12) continue;
        kinds.add((await source.read(handler.from + 8, 4)).toString('latin1'));
      }
    }
  }
  return kinds;
}

async function childrenOf(source: ByteSource, parent: Box, name: string, budget: { boxes: number }): Promise<Box[]> {
  const boxes = await boxesIn(source, parent.from, parent.end, budget);
  return boxes?.filter((box) => box.name === name) ?? [];
}

/** The boxes between two places; null where one is broken or reaches beyond the end. */
async function boxesIn(
  source: ByteSource,
  from: number,
  end: number,
  budget: { boxes: number },
): Promise<Box[] | null> {
  const boxes: Box[] = [];
  let position = from;
  while (end - position >= 8) {
    if (--budget.boxes < 0) return null;
    const head = await source.read(position, 16);
    const name = head.toString('latin1', 4, 8);
    if (head.length < 8) return null;
    const short = head.readUInt32BE();
    if (short === 0 && name === '\0\0\0\0') break; // padding at the end
    if (!/^[\x20-\x7e\xa9]{4}$/.test(name)) return null;
    if (short === 1 && head.length < 16) return null;
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? end - position : short;
    if (size < (short === 1 ? 16 : 8) || position + size > end) return null;
    boxes.push({ name, from: position + (short === 1 ? 16 : 8), end: position + size });
    position += size;
  }
  return boxes;
}
