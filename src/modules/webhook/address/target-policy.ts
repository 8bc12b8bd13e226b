/** What a webhook may point to. `allowPrivate` opens private addresses, plain HTTP and any port, for development. */
export interface TargetPolicy {
  readonly allowPrivate: boolean;
}
