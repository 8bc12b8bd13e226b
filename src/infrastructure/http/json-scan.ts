/** The position of one value in the text, in bytes. */
export interface Span {
  from: number;
  to: number;
}

export interface JsonScanOptions {
  /** A key of the outermost object whose value is a list: the positions of its items are recorded. */
  list?: string;
  /** Limit of items in that list; the scan stops at the next one. */
  mostItems?: number;
  /** Limits of the whole text. */
  limits?: Readonly<Record<JsonLimit, number>>;
}

/** Keys of all objects, items of all lists, and nesting levels. */
export type JsonLimit = 'keys' | 'items' | 'depth';

/** Where a text exceeds a limit. */
export interface Beyond {
  limit: JsonLimit;
  /** Bytes before the first excess element. */
  at: number;
  /** A text that completes these bytes to JSON, which still exceeds the limit. */
  ending: string;
}

/** States of the scan: what may come next. */
const VALUE = 0;
const VALUE_OR_CLOSE = 1;
const KEY = 2;
const KEY_OR_CLOSE = 3;
const COLON = 4;
const NEXT = 5;
const END = 6;

/** The token that the scan is inside. */
const BETWEEN = 0;
const STRING = 1;
const ESCAPE = 2;
const HEX = 3;
const NUMBER = 4;
const WORD = 5;

/** States within a number; it may end after ZERO, DIGITS, FRACTION and EXPONENT. */
const MINUS = 0;
const ZERO = 1;
const DIGITS = 2;
const POINT = 3;
const FRACTION = 4;
const E = 5;
const SIGN = 6;
const EXPONENT = 7;
const MAY_END: readonly boolean[] = [false, true, true, false, true, false, false, true];

/** Limit of a key's text, with each character escaped; longer keys cannot be the one searched for. */
const LONGEST_KEY_BYTES = 128;

/**
 * Reads JSON byte by byte as it arrives, without keeping it or building values. It finds, before any parsing, whether a
 * text is valid JSON and how much `JSON.parse` would build. It costs a few nanoseconds per byte, whatever the text
 * contains.
 */
export class JsonScan {
  /** Items of the requested list; of the last one where its key is repeated; null: there is none. */
  items: Span[] | null = null;
  /** The text between the brackets of that list. */
  listSpan: Span | null = null;
  /** Where the text is no longer valid JSON: the first invalid byte, or the text's length if it is incomplete. */
  errorAt: number | null = null;
  /** Null: no limit is exceeded. */
  beyond: Beyond | null = null;
  /** The list has more items than allowed; the rest was not scanned. */
  hasTooManyItems = false;
  /** The closing brackets of open objects and lists. */
  private readonly open: number[] = [];
  private depth = 0;
  private isInObject = false;

  private expected = VALUE;
  private token = BETWEEN;
  private tokenAt = 0;
  /** The progress within a number, a word or an escape. */
  private progress = 0;
  private word = '';
  private seen = 0;
  private keys = 0;
  private values = 0;
  /** The current key of the outermost object; null: none. */
  private key: Buffer | null = null;
  private isListNext = false;
  private isInList = false;
  private readonly list: string | undefined;
  private readonly mostItems: number;
  private readonly limits: NonNullable<JsonScanOptions['limits']>;

  constructor({ list, mostItems = MANY, limits = { keys: MANY, items: MANY, depth: MANY } }: JsonScanOptions = {}) {
    this.list = list;
    this.mostItems = mostItems;
    this.limits = limits;
  }

  /** True once further bytes cannot change the result. */
  get isOver(): boolean {
    return this.errorAt !== null || this.hasTooManyItems;
  }

  push(bytes: Buffer): void {
    const { length } = bytes;
    let at = 0;
    while (at < length && this.errorAt === null && !this.hasTooManyItems) {
      switch (this.token) {
        case BETWEEN:
          at = this.between(bytes, at);
          break;
        case STRING:
          at = this.inString(bytes, at);
          break;
        case ESCAPE:
          at = this.inEscape(bytes, at);
          break;
        case HEX:
          if (!isHex(bytes[at] as number)) return this.failToken();
          at += 1;
          if (--this.progress === 0) this.token = STRING;
          break;
        case NUMBER:
          at = this.inNumber(bytes, at);
          break;
        default:
          at = this.inWord(bytes, at);
      }
    }
    if (this.key !== null && this.token !== BETWEEN) this.keepKey(bytes, at);
    this.seen += length;
  }

  /** After the last byte. */
  end(): void {
    if (this.isOver) return;
    if (this.token === NUMBER && MAY_END[this.progress] === true) this.done(this.seen);
    else if (this.token === WORD && this.progress === this.word.length) this.done(this.seen);
    else if (this.token !== BETWEEN) return this.failToken();
    if (this.expected !== END) this.errorAt = this.seen;
  }

  private between(bytes: Buffer, from: number): number {
    let at = from;
    let byte = bytes[at] as number;
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      if (++at === bytes.length) return at;
      byte = bytes[at] as number;
    }
    const place = this.seen + at;
    this.tokenAt = place;
    const { expected } = this;
    switch (byte) {
      case 0x2c: // ,
        if (expected !== NEXT) return this.failAt(place, at);
        this.expected = this.isInObject ? KEY : VALUE;
        return at + 1;
      case 0x3a: // :
        if (expected !== COLON) return this.failAt(place, at);
        this.expected = VALUE;
        return at + 1;
      case 0x7d: // }
        if (expected !== KEY_OR_CLOSE && !(expected === NEXT && this.isInObject)) return this.failAt(place, at);
        this.close(place);
        return at + 1;
      case 0x5d: // ]
        if (expected !== VALUE_OR_CLOSE && (expected !== NEXT || this.isInObject)) return this.failAt(place, at);
        this.close(place);
        return at + 1;
      case 0x22: // "
        if (expected === KEY || expected === KEY_OR_CLOSE) this.beginKey();
        else if (expected <= VALUE_OR_CLOSE) this.begin(place);
        else return this.failAt(place, at);
        this.token = STRING;
        return at + 1;
      default:
        if (byte === BYTE_ORDER_MARK[place]) return at + 1;
        if (expected > VALUE_OR_CLOSE) return this.failAt(place, at);
        return this.beginOther(byte, place, at);
    }
  }

  /** Begins a value that is not a string. */
  private beginOther(byte: number, place: number, at: number): number {
    if (byte === 0x7b || byte === 0x5b) {
      this.begin(place);
      if (this.isListNext && byte === 0x5b) {
        this.items = [];
        this.listSpan = { from: place + 1, to: place + 1 };
        this.isInList = true;
      }
      this.isListNext = false;
      this.isInObject = byte === 0x7b;
      // The code of its closing bracket.
      this.open.push(byte + 2);
      this.expected = this.isInObject ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
      if (++this.depth > this.limits.depth) this.pass('depth', place + 1, '');
      return at + 1;
    }
    if (byte === 0x2d || isDigit(byte)) {
      this.token = NUMBER;
      this.progress = byte === 0x2d ? MINUS : byte === 0x30 ? ZERO : DIGITS;
    } else if (byte === 0x74 || byte === 0x66 || byte === 0x6e) {
      this.token = WORD;
      this.word = byte === 0x74 ? 'true' : byte === 0x66 ? 'false' : 'null';
      this.progress = 1;
    } else {
      return this.failAt(place, at);
    }
    this.begin(place);
    return at + 1;
  }

  private inString(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = from;
    let byte = bytes[at] as number;
    while (byte !== 0x22 && byte !== 0x5c && byte >= 0x20) {
      if (++at === length) return at;
      byte = bytes[at] as number;
    }
    if (byte === 0x5c) {
      this.token = ESCAPE;
    } else if (byte < 0x20) {
      this.failToken();
    } else if (this.expected === KEY || this.expected === KEY_OR_CLOSE) {
      this.endKey(bytes, at);
    } else {
      this.done(this.seen + at + 1);
    }
    return at + 1;
  }

  private inEscape(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number;
    this.token = STRING;
    if (byte === 0x75) {
      this.token = HEX;
      this.progress = 4;
    } else if (!isSimpleEscape(byte)) {
      this.failToken();
    }
    return at + 1;
  }

  private inNumber(bytes: Buffer, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      const next = afterNumber(this.progress, byte);
      if (next !== null) {
        this.progress = next;
        continue;
      }
      if (MAY_END[this.progress] !== true || isOfNumber(byte)) this.failToken();
      else this.done(this.seen + at);
      break;
    }
    return at;
  }

  private inWord(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number;
    if (this.progress < this.word.length) {
      if (byte !== this.word.charCodeAt(this.progress)) this.failToken();
      this.progress += 1;
      return at + 1;
    }
    if (isOfWord(byte)) this.failToken();
    else this.done(this.seen + at);
    return at;
  }

  private beginKey(): void {
    if (++this.keys > this.limits.keys) this.pass('keys', this.tokenAt, '"":0');
    if (this.depth === 1 && this.list !== undefined) this.key = EMPTY;
  }

  private keepKey(bytes: Buffer, to: number): void {
    if (this.key === null || this.key.length > LONGEST_KEY_BYTES) return;
    const from = Math.max(0, this.tokenAt - this.seen);
    this.key = Buffer.concat([this.key, bytes.subarray(from, Math.min(to, from + LONGEST_KEY_BYTES + 1))]);
  }

  private endKey(bytes: Buffer, at: number): void {
    this.token = BETWEEN;
    this.expected = COLON;
    if (this.key === null) return;
    this.keepKey(bytes, at + 1);
    this.isListNext = this.key.length <= LONGEST_KEY_BYTES && textOf(this.key) === this.list;
    if (this.isListNext) {
      this.items = null;
      this.listSpan = null;
    }
    this.key = null;
  }

  private begin(place: number): void {
    if (this.isInObject || this.depth === 0) return;
    if (++this.values > this.limits.items) this.pass('items', place, '0');
    if (this.depth !== 2 || this.items === null || !this.isInList) return;
    this.items.push({ from: place, to: place });
    this.hasTooManyItems = this.items.length > this.mostItems;
  }

  private pass(limit: JsonLimit, at: number, last: string): void {
    this.beyond ??= { limit, at, ending: last + String.fromCharCode(...this.open.toReversed()) };
  }

  private close(place: number): void {
    this.open.pop();
    this.depth -= 1;
    this.isInObject = this.depth > 0 && this.open[this.depth - 1] === 0x7d;
    if (this.depth === 1 && this.isInList) {
      this.isInList = false;
      if (this.listSpan !== null) this.listSpan.to = place;
    }
    this.done(place + 1);
  }

  private done(to: number): void {
    this.token = BETWEEN;
    this.isListNext = false;
    this.expected = this.depth === 0 ? END : NEXT;
    if (this.depth !== 2 || this.items === null || !this.isInList) return;
    const item = this.items[this.items.length - 1];
    if (item !== undefined) item.to = to;
  }

  private failToken(): void {
    this.errorAt = this.tokenAt;
  }

  private failAt(place: number, at: number): number {
    this.errorAt = place;
    return at;
  }
}

/** Some programs put it before the text. */
export const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** More than any text that is read here has. */
const MANY = 2 ** 30;
const EMPTY = Buffer.alloc(0);

function textOf(key: Buffer): string {
  return key.includes(0x5c) ? (JSON.parse(key.toString()) as string) : key.toString('utf8', 1, key.length - 1);
}

/** The state of a number after one more byte; null: the byte is not part of it. */
function afterNumber(progress: number, byte: number): number | null {
  if (isDigit(byte)) {
    if (progress === MINUS) return byte === 0x30 ? ZERO : DIGITS;
    if (progress === DIGITS || progress === FRACTION || progress === EXPONENT) return progress;
    if (progress === POINT) return FRACTION;
    return progress === ZERO ? null : EXPONENT;
  }
  if (byte === 0x2e) return progress === ZERO || progress === DIGITS ? POINT : null;
  if (byte === 0x65 || byte === 0x45) {
    return progress === ZERO || progress === DIGITS || progress === FRACTION ? E : null;
  }
  return (byte === 0x2b || byte === 0x2d) && progress === E ? SIGN : null;
}

/** One of `"\/bfnrt`. */
function isSimpleEscape(byte: number): boolean {
  if (byte === 0x22 || byte === 0x5c || byte === 0x2f || byte === 0x6e) return true;
  return byte === 0x62 || byte === 0x66 || byte === 0x72 || byte === 0x74;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function isOfWord(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f;
}

function isOfNumber(byte: number): boolean {
  return isOfWord(byte) || byte === 0x2e || byte === 0x2b || byte === 0x2d;
}
