/** Runs `work` on a host whose clock is so far ahead, or behind; the monotonic one stays true, as it does there. */
export async function withHostClock<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  const Right = globalThis.Date;
  const now = (): number => Right.now() + aheadMs;
  globalThis.Date = new Proxy(Right, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made) as object,
    get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
  });
  try {
    return await work();
  } finally {
    globalThis.Date = Right;
  }
}
