/** As long as the platform shows (specification: media filename, 240 characters). */
const MAX_LENGTH = 240;
const MAX_EXTENSION_LENGTH = 20;

/** Control characters, line and paragraph separators, lone surrogates, private use. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{FFF0}-\u{FFFF}]/gu;
/** Characters that let a name read otherwise than it is: text direction, invisible marks. Joiners make emoji: they stay. */
const MISLEADING = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]/gu;

/**
 * The sender's name of a file as harmless data: one line, without folders, in Unicode's composed form, at most 240
 * characters with its extension kept. Never use it as a path all the same. Null where nothing is left.
 */
export function cleanFileName(name: string | null | undefined): string | null {
  if (name === null || name === undefined) return null;
  const plain = name.slice(0, 4_096).normalize('NFC').replace(UNPRINTABLE, '').replace(MISLEADING, '');
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
