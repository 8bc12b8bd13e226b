/** As many connections as an application needs to work on four calls of a workspace at once. */
export const POOL = { DATABASE_POOL_SIZE: '12' };

/** Of a workspace, an application with that pool works on so many calls at once; more would wait, and be refused in the end. */
export const AT_ONCE = 4;

/** Each caller makes its calls one after the other. */
export function fromCallersAtOnce<T>(calls: number, call: (n: number) => Promise<T>): Promise<T[]> {
  const answers = Array.from({ length: AT_ONCE }, async (_, caller) => {
    const own: T[] = [];
    for (let n = caller; n < calls; n += AT_ONCE) own.push(await call(n));
    return own;
  });
  return Promise.all(answers).then((lists) => lists.flat());
}
