/** A position in the write-ahead log, as a comparable number. @param text such as `16/B374D848` */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** SQL, for the primary: its position in the log, for `PrimaryHistory.note`. */
export const PRIMARY_PLACE = 'select identity_of_database() as identity, pg_current_wal_flush_lsn()::text as lsn';

/** Limit of stored measurements: ten minutes at one a second. */
const KEPT = 600;

interface Look {
  lsn: bigint;
  askedAt: number;
}

/**
 * Records the primary's log position over time. A standby that has replayed a recorded position has everything that was
 * committed before that measurement. So an idle primary, whose position stays the same, makes no standby late.
 */
export class PrimaryHistory {
  /**
   * The result of `identity_of_database()`; positions with different identities cannot be compared. Null: not known
   * yet.
   */
  identity: string | null = null;
  private looks: Look[] = [];

  /** @param askedAt the time before the query was sent (monotonic ms). */
  note(identity: string, lsn: bigint, askedAt: number): void {
    if (identity !== this.identity) this.looks = [];
    this.identity = identity;
    this.looks.push({ lsn, askedAt });
    if (this.looks.length > KEPT) this.looks.shift();
  }

  /** The primary's position at the last measurement. */
  get lastLsn(): bigint | null {
    return this.looks.at(-1)?.lsn ?? null;
  }

  /** A standby that has replayed this far has everything committed before the returned time; -Infinity: unknown. */
  completeUntil(replayed: bigint): number {
    return this.looks.findLast(({ lsn }) => lsn <= replayed)?.askedAt ?? -Infinity;
  }
}
