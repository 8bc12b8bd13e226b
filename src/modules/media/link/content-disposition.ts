/**
 * Tells a browser to save and never to show a file, under this name: in UTF-8 for those who know RFC 8187, and in ASCII
 * for the others.
 */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%;]/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded(filename)}`;
}

/** RFC 8187: what is no attr-char is percent-encoded; encodeURIComponent leaves five characters too many. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*!]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
