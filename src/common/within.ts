/** The result of `work`, or null where it takes longer; `work` itself continues. */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
