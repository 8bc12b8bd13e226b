/** Time of day to the millisecond, in the zone of this machine. */
export function clock(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const ms = String(time.getMilliseconds()).padStart(3, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${ms}`;
}

/** How long after: `+120 ms`, `+3.4 s`. The platform's times are whole seconds, so it may be 0. */
export function clockAfter(from: string, to: string): string {
  const ms = Math.max(0, new Date(to).getTime() - new Date(from).getTime());
  return ms < 1_000 ? `+${ms} ms` : `+${(ms / 1_000).toFixed(1)} s`;
}
