type PathItem = Readonly<Record<string, unknown>>;

const documented = new Map<string, PathItem>();

/**
 * Puts a request that Herald makes to its users into the section `webhooks` of the API description (OpenAPI 3.1).
 *
 * @throws Error when the name is taken.
 */
export function documentWebhook(name: string, item: PathItem): void {
  if (documented.has(name)) throw new Error(`two webhooks are named ${name}`);
  documented.set(name, item);
}

/** All of them, for the API description. */
export function documentedWebhooks(): Record<string, PathItem> {
  return Object.fromEntries(documented);
}
