/** Embedded PostgreSQL cannot run here. The message is one sentence for the person at the terminal. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

/** Another live Herald already runs (or is just starting) the embedded PostgreSQL of this data folder. */
export class EmbeddedPostgresInUseError extends EmbeddedPostgresError {
  constructor(
    message: string,
    /** Where the other one's server answers; undefined while that one is still starting. */
    readonly url: string | undefined,
    /** Process id of the other Herald, where it is known. */
    readonly holderPid: number | undefined,
  ) {
    super(message);
    this.name = 'EmbeddedPostgresInUseError';
  }
}

/** `error.code` of a failed system call or statement, such as `ENOENT` or `57P03`. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message || (errorCode(error) ?? error.name) : String(error);
}
