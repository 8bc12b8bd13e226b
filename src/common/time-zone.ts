/** Whether it is an IANA name that PostgreSQL knows too: no offset, which would have no summer time. */
export function isTimeZone(text: string): boolean {
  return text === 'UTC' || Intl.supportedValuesOf('timeZone').includes(text);
}
