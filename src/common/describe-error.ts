/** What a fault says of itself, for a line of the log. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
