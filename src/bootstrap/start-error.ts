import { codeOf } from '../common/describe-error.js';

/** Herald cannot start, for a reason that the operator can fix. The message is one sentence that says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Turns a failure to listen into a sentence that says what to do; other errors stay unchanged. */
export function listenError(error: unknown, host: string, port: number, setting: string): unknown {
  const noAddress = `this machine has no address ${host}: set ${setting.replace('PORT', 'HOST')} to one that it has`;
  const sentences: Record<string, string> = {
    EADDRINUSE: `port ${port} is in use by another program: stop it, or start Herald with ${setting}=<another port>`,
    EACCES: `this user may not listen on port ${port}: set ${setting} to one above 1023`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  const sentence = sentences[codeOf(error) ?? ''];
  return sentence === undefined ? error : new StartError(sentence, { cause: error });
}
