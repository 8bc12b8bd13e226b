import type { Interval } from './usage.types.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The requested part of an interval. It ends where the next one begins. */
export interface Bucket {
  start: Date;
  /** As shown in the answer, with the zone's offset. */
  label: string;
}

interface Local {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
}

/** The calendar of a time zone, by the time zone data of Node. */
export class TimeZone {
  private readonly format: Intl.DateTimeFormat;
  /** Cached by time: a computation takes several microseconds, and the days of a year repeat the same ones. */
  private readonly offsets = new Map<number, number>();

  static exists(name: string): boolean {
    try {
      return new TimeZone(name).name !== '';
    } catch {
      return false;
    }
  }

  /** @throws RangeError for an unknown time zone. */
  constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  }

  offsetAt(time: number): number {
    const known = this.offsets.get(time);
    if (known !== undefined) return known;
    const { year, month, day, hour, minute } = this.local(time);
    const minuteOf = Math.floor(time / 60_000) * 60_000;
    const offset = Date.UTC(year, month - 1, day, hour, minute) - minuteOf;
    this.offsets.set(time, offset);
    return offset;
  }

  local(time: number): Local {
    const parts = Object.fromEntries(this.format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts as unknown as Partial<Local>;
    return { year, month, day, hour, minute };
  }

  /** The beginning of the local day; where midnight is skipped, the first moment after it. */
  midnight(year: number, month: number, day: number): number {
    const local = Date.UTC(year, month - 1, day);
    const offsets = [this.offsetAt(local - DAY), this.offsetAt(local + DAY)];
    if (offsets[0] === offsets[1]) return local - Math.min(...offsets);
    const times = offsets.map((offset) => local - offset).filter((time) => this.offsetAt(time) === local - time);
    return times.length > 0 ? Math.min(...times) : local - Math.min(...offsets);
  }

  label(time: number): string {
    const offset = this.offsetAt(time);
    if (offset === 0) return new Date(time).toISOString();
    const minutes = Math.abs(offset) / 60_000;
    const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
    const text = new Date(time + offset).toISOString().slice(0, -1);
    return `${text}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
  }
}

/** The start of the interval that contains a time. */
function startOf(time: number, interval: Interval, calendar: TimeZone): number {
  if (interval === 'hour') {
    const offset = calendar.offsetAt(time);
    return Math.floor((time + offset) / HOUR) * HOUR - offset;
  }
  const { year, month, day } = calendar.local(time);
  return calendar.midnight(year, month, interval === 'day' ? day : 1);
}

function next(start: number, interval: Interval, calendar: TimeZone): number {
  if (interval === 'hour') return start + HOUR;
  const { year, month, day } = calendar.local(start);
  return interval === 'day' ? calendar.midnight(year, month, day + 1) : calendar.midnight(year, month + 1, 1);
}

/** The intervals that overlap a range, the oldest first. */
export function bucketsOf(
  { since, until, interval }: { since: Date; until: Date; interval: Interval },
  calendar: TimeZone,
): Bucket[] {
  const buckets: Bucket[] = [];
  let start = startOf(since.getTime(), interval, calendar);
  while (start < until.getTime()) {
    buckets.push({ start: new Date(Math.max(start, since.getTime())), label: calendar.label(start) });
    start = next(start, interval, calendar);
  }
  return buckets;
}
