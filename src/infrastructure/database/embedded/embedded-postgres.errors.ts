/** Embedded PostgreSQL cannot run here. The message is one sentence for the person at the terminal. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** Another live Herald already runs (or is just starting) the embedded PostgreSQL of this data folder. */
export class EmbeddedPostgresInUseError extends EmbeddedPostgresError {
  override name = 'EmbeddedPostgresInUseError';

  /** @param url where the other one's server answers; undefined while that one is still starting */
  constructor(
    message: string,
    readonly url: string | undefined,
    readonly holderPid: number | undefined,
  ) {
    super(message);
  }
}

/** `error.code` of a failed system call or statement, such as `ENOENT` or `57P03`. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
