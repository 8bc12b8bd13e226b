/**
 * A SELECT list of columns that the driver returns in camelCase: `camelColumns('c', 'id, created_at')` is
 * `c.id, c.created_at as "createdAt"`.
 */
export function camelColumns(alias: string, columns: string): string {
  return columns
    .split(/,\s*/)
    .map((column) => `${alias}.${column}${asCamelCase(column)}`)
    .join(', ');
}

function asCamelCase(column: string): string {
  const name = column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return name === column ? '' : ` as "${name}"`;
}
