import type { LinkDisposition } from './media.types.js';
import { extensionOf, FORMATS, isKnownMimeType, plainType } from './sniff/formats.js';

/** The limit of what WhatsApp shows (specification: media filename, 240 characters). */
const MAX_LENGTH = 240;
const MAX_EXTENSION_LENGTH = 20;

/** Control characters, line and paragraph separators, unpaired surrogates, private use. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{FFF0}-\u{FFFF}]/gu;
/**
 * Characters that make a name look different from what it is: text direction, invisible marks. Joiners are parts of
 * emoji, so they stay.
 */
const MISLEADING = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu;

/**
 * A sender's file name made harmless: one line, without folders, in Unicode's composed form, at most 240 characters
 * with its extension kept. Still never use it as a path. Null where nothing is left.
 */
export function cleanFileName(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null;
  // Composed last: a removed mark may have separated two others.
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

/** Further extensions that a system opens as the same type, or as text. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  'image/jpeg': ['jpeg', 'jpe', 'jfif'],
  'video/mp4': ['m4v'],
  'video/3gpp': ['3gpp'],
  'audio/mp4': ['mp4'],
  'audio/ogg; codecs=opus': ['oga', 'opus'],
  'text/plain': ['text', 'csv', 'tsv', 'log', 'md'],
};

/** Extensions of files that a system runs, or a browser shows as a page. */
const ACTIVE = new Set(
  (
    'html htm xhtml xht shtml mht mhtml svg svgz xml xsl xslt js mjs cjs jse vbs vbe wsf wsh hta exe com scr pif bat cmd ' +
    'ps1 psm1 msi msp jar jnlp lnk url desktop command app dmg pkg deb rpm apk sh bash py pl php reg inf cpl dll chm'
  ).split(' '),
);

/**
 * The name under which a file is served. Its extension follows the type of the bytes, whatever the sender's name: bytes
 * may be a valid picture and a valid page at the same time, and the extension decides which program opens them.
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
 * Makes a browser save a file under this name, or show it and offer the name: in UTF-8 for clients that support RFC
 * 8187, in ASCII for others.
 */
export function contentDisposition(disposition: LinkDisposition, filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encoded(filename)}`;
}

/** RFC 8187: characters outside attr-char are percent-encoded; encodeURIComponent leaves five of them. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*!]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * A name for the upload that contains only the file's type, which WhatsApp derives from it too. The recipient sees the
 * message's `filename`; a customer's file name is not passed on.
 */
export function uploadName(mimeType: string, filename: string | null): string {
  const plain = plainType(mimeType);
  const known = Object.values(FORMATS).find((format) => plainType(format.mimeType) === plain)?.extension;
  const own = /\.([a-z0-9]{1,8})$/i.exec(filename ?? '')?.[1]?.toLowerCase();
  return `file.${known ?? own ?? 'bin'}`;
}
