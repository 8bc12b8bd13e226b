import type { LinkDisposition } from './media.types.js';
import { extensionOf, FORMATS, isKnownMimeType, plainType } from './sniff/formats.js';

/** As long as the platform shows (specification: media filename, 240 characters). */
const MAX_LENGTH = 240;
const MAX_EXTENSION_LENGTH = 20;

/** Control characters, line and paragraph separators, lone surrogates, private use. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{FFF0}-\u{FFFF}]/gu;
/** Characters that let a name read otherwise than it is: text direction, invisible marks. Joiners make emoji: they stay. */
const MISLEADING = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu;

/**
 * The sender's name of a file as harmless data: one line, without folders, in Unicode's composed form, at most 240
 * characters with its extension kept. Still never use it as a path. Null where nothing is left.
 */
export function cleanFileName(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null;
  // Composed last: a mark that is removed may have kept two others apart.
  const plain = name.slice(0, 4_096).replace(UNPRINTABLE, '').replace(MISLEADING, '').normalize('NFC');
  const last = plain.split(/[/\\]/).at(-1) ?? '';
  const trimmed = last.trim();
  if (/^\.*$/.test(trimmed)) return null;
  return shortened(trimmed);
}

function shortened(name: string): string {
  if (name.length <= MAX_LENGTH) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= MAX_EXTENSION_LENGTH ? name.slice(dot) : '';
  let kept = '';
  for (const character of name) {
    if (kept.length + character.length + extension.length > MAX_LENGTH) break;
    kept += character;
  }
  return kept.trimEnd() + extension;
}

/** Endings besides a format's own that a system opens as the same type, or as text. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  'image/jpeg': ['jpeg', 'jpe', 'jfif'],
  'video/mp4': ['m4v'],
  'video/3gpp': ['3gpp'],
  'audio/mp4': ['mp4'],
  'audio/ogg; codecs=opus': ['oga', 'opus'],
  'text/plain': ['text', 'csv', 'tsv', 'log', 'md'],
};

/** What a system runs, or a browser shows as a page, when the file is opened. */
const ACTIVE = new Set(
  (
    'html htm xhtml xht shtml mht mhtml svg svgz xml xsl xslt js mjs cjs jse vbs vbe wsf wsh hta exe com scr pif bat cmd ' +
    'ps1 psm1 msi msp jar jnlp lnk url desktop command app dmg pkg deb rpm apk sh bash py pl php reg inf cpl dll chm'
  ).split(' '),
);

/**
 * The name under which a file is handed out. Its ending follows the type that the bytes have, whatever name the
 * sender gave it: bytes may be a picture and a page at the same time, and the ending decides what opens them.
 */
export function servedName(filename: string | null, id: string, mimeType: string): string {
  const own = extensionOf(mimeType);
  if (filename === null) return `${id}.${own}`;
  const ending = /\.([^.]*)$/.exec(filename.trimEnd().replace(/\.+$/, ''))?.[1]?.toLowerCase() ?? '';
  const fits = isKnownMimeType(mimeType)
    ? ending === own || FURTHER[mimeType]?.includes(ending) === true
    : !ACTIVE.has(ending);
  return fits && !/[. ]$/.test(filename) ? filename : `${filename}.${own}`;
}

/**
 * Makes a browser save a file under this name, or show it and save it under this name: in UTF-8 for clients that know RFC 8187,
 * and in ASCII for the others.
 */
export function contentDisposition(disposition: LinkDisposition, filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encoded(filename)}`;
}

/** RFC 8187: what is no attr-char is percent-encoded; encodeURIComponent leaves five characters too many. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*!]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * A name for the upload that says the file's type, which the platform derives from it too, and nothing else. The
 * recipient sees the message's `filename`; the file name that a customer chose is not passed on.
 */
export function uploadName(mimeType: string, filename: string | null): string {
  const plain = plainType(mimeType);
  const known = Object.values(FORMATS).find((format) => plainType(format.mimeType) === plain)?.extension;
  const own = /\.([a-z0-9]{1,8})$/i.exec(filename ?? '')?.[1]?.toLowerCase();
  return `file.${known ?? own ?? 'bin'}`;
}
