/** The first `max` UTF-16 units of a text, with an ellipsis in the last one's place where more were there. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 2);
  // Half a surrogate pair is no text.
  const end = last >= 0xd800 && last <= 0xdbff ? max - 2 : max - 1;
  return `${text.slice(0, end)}\u2026`;
}
