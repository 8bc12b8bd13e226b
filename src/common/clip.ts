/** The first `max` UTF-16 units of a text. Where the text is longer, an ellipsis replaces the last unit. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 2);
  // Does not cut a surrogate pair in half.
  const end = last >= 0xd800 && last <= 0xdbff ? max - 2 : max - 1;
  return `${text.slice(0, end)}\u2026`;
}
