/** What several messages need, looked up once for all of them. */
export class LookUps {
  private readonly made = new Map<string, Promise<unknown>>();

  once<T>(key: string, lookUp: () => Promise<T>): Promise<T> {
    const known = this.made.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const made = lookUp();
    this.made.set(key, made);
    return made;
  }
}
