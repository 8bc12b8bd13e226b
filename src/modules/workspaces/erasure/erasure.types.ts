/** Whose data: every name under which a workspace knows one person. */
export interface Subject {
  readonly organizationId: string;
  /** Digits without `+`: the number that was asked for, and the platform's other spellings of it. */
  readonly numbers: readonly string[];
  /** The platform's business-scoped user ids. */
  readonly userIds: readonly string[];
  readonly conversationIds: readonly string[];
}

/** An erasure that has not ended, with all that is known of whom it is about. */
export type OpenErasure = Subject & { readonly id: string };

/** Whom the platform names, by a number, a user id or both. */
export interface NamedPerson {
  organizationId: string;
  connectionId: string;
  names: readonly (string | null)[];
}

/** What is known of a person who was erased. */
export interface ErasedPerson {
  erasedAt: Date;
  /** They have written again since, or were written to: the connection has a contact of this name. */
  isBack: boolean;
}
