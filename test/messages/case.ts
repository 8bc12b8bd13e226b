export interface VariantCase {
  name: string;
  /** Body without connection_id and to, unless they are what is tested. */
  body: Record<string, unknown>;
  /** Expected `field:rule` of each violation; none: accepted. */
  violations: string[];
}

export const LINK = 'https://example.com/file';

export const long = (length: number, unit = 'x'): string => unit.repeat(length);

export function cases(group: string, table: [string, Record<string, unknown>, string[]][]): VariantCase[] {
  return table.map(([name, body, violations]) => ({ name: `${group}: ${name}`, body, violations }));
}
