/**
 * What PostgreSQL itself takes: the statement with which Herald accepts messages, without HTTP, key, limits and checks.
 * Each connection runs one statement after the other, each its own commit, with `rows` messages.
 */
export interface InsertOrder {
  databaseUrl: string;
  connections: number;
  rows: number;
  durationMs: number;
}

export interface InsertResult {
  perSecond: number;
}
