import { examineAmr, examineFrames, examineOgg, examineTagged } from './audio.js';
import type { ByteSource, Finding } from './byte-source.js';
import { examineCompoundFile } from './compound-file.js';
import type { Family } from './first-look.js';
import { type Format, FORMATS } from './formats.js';
import { examineJpeg, examinePng, examineWebp } from './images.js';
import { examineIsoMedia } from './iso-media.js';
import { examineZip, zipDirectory } from './office-zip.js';

// As far as readers of PDF search for its beginning.
const PDF_SEARCH_BYTES = 1_024;

const EXAMINERS: Readonly<Record<Family, (source: ByteSource) => Promise<Finding<Format>>>> = {
  jpeg: examineJpeg,
  png: examinePng,
  webp: examineWebp,
  iso_media: examineIsoMedia,
  tagged_audio: examineTagged,
  framed_audio: (source) => examineFrames(source),
  amr: examineAmr,
  ogg: examineOgg,
  pdf: () => Promise.resolve({ format: FORMATS.pdf }),
  zip: examineZip,
  compound: examineCompoundFile,
  // Its bytes were looked at one by one as they came.
  text: () => Promise.resolve({ format: FORMATS.text }),
};

/**
 * Tells the format of a complete file that begins like one of the family. The structure must be whole as far as it
 * matters for the type, and the file must not be something else as well: a PDF or a ZIP can be hidden in files of most
 * other types. Reads some kilobytes here and there, whatever the file's size.
 */
export async function recognise(family: Family, source: ByteSource): Promise<Finding<Format>> {
  const found = await EXAMINERS[family](source);
  if (found.format === null) return found;
  const second = await secondNature(family, source);
  if (second === null) return found;
  return {
    format: null,
    detected: second,
    reason: `The file is ${found.format.mimeType} and ${second} at the same time`,
  };
}

async function secondNature(family: Family, source: ByteSource): Promise<string | null> {
  if (family !== 'pdf' && (await source.read(0, PDF_SEARCH_BYTES)).includes('%PDF-')) return 'application/pdf';
  if (family !== 'zip' && (await zipDirectory(source)) !== null) return 'application/zip';
  return null;
}
