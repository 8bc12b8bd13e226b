/**
 * The nth recipient's number. It ends in 99, so that its last four digits never ask the simulator for one of its
 * scenarios.
 */
export function recipientNumber(n: number): string {
  return `4915${String(n).padStart(7, '0')}99`;
}

/** The same in SQL, for `generate_series`. */
export function recipientSql(n: string): string {
  return `'4915' || lpad((${n})::text, 7, '0') || '99'`;
}
