type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One line of JSON. Fields are ids, counts and codes: never what people write, and no secret. */
function write(level: 'info' | 'warn' | 'error', msg: string, fields: Fields): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), level, msg, ...fields })}\n`);
}

export const log = {
  info: (msg: string, fields: Fields = {}): void => write('info', msg, fields),
  warn: (msg: string, fields: Fields = {}): void => write('warn', msg, fields),
  error: (msg: string, fields: Fields = {}): void => write('error', msg, fields),
};
