/** A person, with every name under which a workspace knows them. */
export interface Subject {
  readonly organizationId: string;
  /** Digits without `+`: the requested number, and WhatsApp's other spellings of it. */
  readonly numbers: readonly string[];
  /** WhatsApp's business-scoped user ids. */
  readonly userIds: readonly string[];
  readonly conversationIds: readonly string[];
}

/** An unfinished erasure, with the known names of its person. */
export type OpenErasure = Subject & { readonly id: string };

/** A person named by WhatsApp, by a number, a user id or both. */
export interface NamedPerson {
  organizationId: string;
  connectionId: string;
  names: readonly (string | null)[];
}

/** What is known of a person who was erased. */
export interface ErasedPerson {
  erasedAt: Date;
  /** They have written since, or were written to: the connection has a contact of this name. */
  isBack: boolean;
}
