import { stripVTControlCharacters } from 'node:util';

/** The beginning of a text of others on one line, without what would command the terminal. */
export function oneLine(text: string, length = 48): string {
  const line = stripVTControlCharacters(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join('')}…`;
}
