import { stripVTControlCharacters, styleText } from 'node:util';

type Colour = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan' | 'magenta' | 'blue';

// Node looks at the stream: a terminal gets colours, a pipe none, and NO_COLOR and FORCE_COLOR decide against it.
const painted =
  (colour: Colour) =>
  (text: string): string =>
    styleText(colour, text, { stream: process.stdout });

/** Colours by what they mean. Without a terminal the text comes back as it is. */
export const paint = {
  heading: painted('bold'),
  faint: painted('dim'),
  good: painted('green'),
  bad: painted('red'),
  doubtful: painted('yellow'),
  name: painted('cyan'),
};

/** A message's, delivery's or challenge's status in the colour of what it means. */
export function paintStatus(status: string): string {
  if (GOOD.has(status)) return paint.good(status);
  if (BAD.has(status)) return paint.bad(status);
  if (DOUBTFUL.has(status)) return paint.doubtful(status);
  return status;
}

const GOOD = new Set(['sent', 'delivered', 'read', 'received', 'verified', 'connected', 'approved', 'ok', 'valid']);
const BAD = new Set(['failed', 'rejected', 'disabled', 'disconnected', 'revoked', 'expired', 'exhausted', 'FAIL']);
const DOUBTFUL = new Set(['outcome_unknown', 'restricted', 'paused', 'warn']);

/** Characters that a terminal shows of a text: escape sequences take no room. */
export function shownLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Fills up to a width with spaces, whatever colours the text has. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - shownLength(text)));
}
