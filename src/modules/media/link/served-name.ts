import { extensionOf, isKnownMimeType } from '../sniff/formats.js';

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
 * The name under which a file is handed out. Its ending follows the type that the bytes have, whatever the sender
 * called it: bytes may be a picture and a page at the same time, and the ending decides what opens them.
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
