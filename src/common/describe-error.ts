/** The text of an error, for a line of the log. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the operating system, the database or a client; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
