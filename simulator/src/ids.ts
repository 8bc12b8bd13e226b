import { createHash } from 'node:crypto';
import type { Store } from './store.js';

const FBTRACE_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Scrambles 32 bits one to one (the finaliser of MurmurHash3), so distinct counters can't collide. */
function scramble(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Makes every id of the simulator from a seed and a counter of the store: reproducible, and never the same twice. */
export class IdSource {
  private readonly words: readonly [number, number, number, number];
  private traces = 0;
  private draws = 0;

  constructor(
    seed: string,
    private readonly store: Store,
  ) {
    const digest = createHash('sha256').update(seed).digest();
    this.words = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), digest.readUInt32LE(12)];
  }

  nextSequence(): number {
    return ++this.store.sequence;
  }

  /** Message id of the platform's shape for an outbound message; `party` is the other side's number or user id. */
  outboundWamid(sequence: number, party: string): string {
    return this.wamid(party, '\x11', this.hex(sequence));
  }

  /** As {@link outboundWamid}, for a message that a customer wrote. */
  inboundWamid(sequence: number, party: string): string {
    return this.wamid(party, '\x12', `3A${this.hex(sequence)}`);
  }

  /** A new id of the Graph API (template, media): 16 decimal digits. */
  newObjectId(): string {
    const counters = this.store.table<number>('counters');
    const n = (counters.get('objects') ?? 0) + 1;
    counters.set('objects', n);
    const high = scramble(n ^ this.words[2]) % 900_000;
    return String(100_000 + high) + String(scramble(n ^ this.words[0])).padStart(10, '0');
  }

  /** A new template's id. It is a number in notifications, so it fits into one exactly. */
  newTemplateId(): string {
    for (;;) {
      const id = this.newObjectId();
      if (Number.isSafeInteger(Number(id))) return id;
    }
  }

  /** `fbtrace_id` and the trace headers: 23 characters. */
  traceId(): string {
    const n = ++this.traces;
    let id = 'A';
    for (let word = 0; word < 4; word++) {
      let bits = scramble(n ^ this.words[word as 0 | 1 | 2 | 3]);
      for (let i = 0; i < 5; i++, bits >>>= 6) id += FBTRACE_ALPHABET[bits & 63];
    }
    return `${id}xQ`;
  }

  /** A reproducible draw from [0, 1) that decides whether a fault strikes. */
  draw(): number {
    return scramble(++this.draws ^ this.words[3]) / 0x1_0000_0000;
  }

  private hex(sequence: number): string {
    const part = (word: number) =>
      scramble(sequence ^ word)
        .toString(16)
        .padStart(8, '0');
    return `${part(this.words[0])}${part(this.words[1])}${part(this.words[2])}`.slice(0, 18).toUpperCase();
  }

  /** `1C 18 len party 15 02 00 marker 18 len hex 00`, base64: what decoding real ids shows. */
  private wamid(party: string, marker: string, hex: string): string {
    // A client may hold an id to 128 characters, so a long user id is shortened; the hexadecimal part is unique alone.
    const phone = party.slice(0, 32);
    const [phoneLength, hexLength] = [phone.length, hex.length].map((length) => String.fromCharCode(length));
    const bytes = `\x1c\x18${phoneLength}${phone}\x15\x02\x00${marker}\x18${hexLength}${hex}\x00`;
    return `wamid.${Buffer.from(bytes, 'latin1').toString('base64')}`;
  }
}
