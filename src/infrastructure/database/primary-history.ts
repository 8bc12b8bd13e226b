/** A place in the write-ahead log, as a number that can be compared. @param text such as `16/B374D848` */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** SQL, for the primary: where its log is, for `PrimaryHistory.note`. */
export const PRIMARY_PLACE = 'select identity_of_database() as identity, pg_current_wal_flush_lsn()::text as lsn';

/** Looks that are kept: at one a second, ten minutes. */
const KEPT = 600;

interface Look {
  lsn: bigint;
  askedAt: number;
}

/**
 * How far the primary's log was when. A standby that has replayed up to a look's place contains everything that was
 * committed before the look. So an idle primary, whose place stays the same, makes no standby late.
 */
export class PrimaryHistory {
  /** As `identity_of_database()` says it; places of another one cannot be compared. Null: the primary was not asked yet. */
  identity: string | null = null;
  private looks: Look[] = [];

  /** @param askedAt before the question was sent, in milliseconds of the monotonic clock. */
  note(identity: string, lsn: bigint, askedAt: number): void {
    if (identity !== this.identity) this.looks = [];
    this.identity = identity;
    this.looks.push({ lsn, askedAt });
    if (this.looks.length > KEPT) this.looks.shift();
  }

  /** Where the primary was at the last look. */
  get lastLsn(): bigint | null {
    return this.looks.at(-1)?.lsn ?? null;
  }

  /** What was committed before this time is in a standby that has replayed so far; -Infinity: that is not known. */
  completeUntil(replayed: bigint): number {
    return this.looks.findLast(({ lsn }) => lsn <= replayed)?.askedAt ?? -Infinity;
  }
}
