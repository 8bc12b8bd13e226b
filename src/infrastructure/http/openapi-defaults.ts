/** Says of each property in its description what it is without a value, for generators make one with `default` required. */
export function describeDefaults(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties } = node as { properties?: unknown };
  if (typeof properties === 'object' && properties !== null) {
    for (const schema of Object.values(
      properties as Record<string, { default?: string | number | boolean; description?: string }>,
    )) {
      if (!['string', 'number', 'boolean'].includes(typeof schema?.default)) continue;
      const said = `Default: ${String(schema.default)}.`;
      schema.description = schema.description === undefined ? said : `${schema.description} ${said}`;
      delete schema.default;
    }
  }
  for (const child of Object.values(node)) describeDefaults(child);
}
