/** Whether the text is an IANA name that PostgreSQL knows too. An offset is refused, since it has no summer time. */
export function isTimeZone(text: string): boolean {
  return text === 'UTC' || Intl.supportedValuesOf('timeZone').includes(text);
}
