/** Herald cannot start, for a reason that the operator can fix. The message is one sentence that says how. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Turns a failure to listen into a sentence that says what to do; other errors stay as they are. */
export function listenError(error: unknown, host: string, port: number, setting: string): unknown {
  const code = (error as { code?: unknown }).code;
  const options = { cause: error };
  switch (code) {
    case 'EADDRINUSE':
      return new StartError(
        `port ${port} is in use by another program: stop it, or start Herald with ${setting}=<another port>`,
        options,
      );
    case 'EACCES':
      return new StartError(`this user may not listen on port ${port}: set ${setting} to one above 1023`, options);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartError(
        `this machine has no address ${host}: set ${setting.replace('PORT', 'HOST')} to one that it has`,
        options,
      );
    default:
      return error;
  }
}
