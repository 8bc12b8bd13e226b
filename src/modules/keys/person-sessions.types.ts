import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import type { PersonRole } from '../../infrastructure/http/roles.js';

/** The person signed in in a browser. At most two seconds old. */
export interface SignedInPerson {
  id: string;
  name: string;
  email: string;
  /** An operator in all workspaces, and in the admin API. */
  isOperator: boolean;
  sessionId: string;
  /** When the session ends at the latest. */
  expiresAt: Date;
}

/** A person's access to a workspace. At most two seconds old. */
export interface WorkspaceOfPerson {
  id: string;
  name: string;
  role: PersonRole;
  apiPaidUntil: Date | null;
  /** The workspace has limits on sending. */
  limited: boolean;
  ratePerSecond: number | null;
  rateBurst: number | null;
}

/** What the access guard needs for a request without a key. The module `people` implements it. */
export abstract class PersonSessions {
  /**
   * The person who makes this request; null where it has no session, or no issuer is configured.
   *
   * @throws SESSION_FROM_ANOTHER_PAGE (403) where it does not come from a page of the console; SESSION_ENDED (401).
   */
  abstract find(req: HeraldRequest): Promise<SignedInPerson> | null;

  /**
   * The workspace of the request, or the person's only one.
   *
   * @throws INVALID_REQUEST (400), SESSION_WORKSPACE_REQUIRED (400), SESSION_WORKSPACE_UNKNOWN (403).
   */
  abstract workspaceOf(person: SignedInPerson, req: HeraldRequest): Promise<WorkspaceOfPerson>;

  /** The person's access to this workspace; null: none, or there is no such workspace. */
  abstract inWorkspace(person: SignedInPerson, organizationId: string): Promise<WorkspaceOfPerson | null>;

  /**
   * Like both, for a request that waited.
   *
   * @param organizationId null for the admin API, which only an operator may call
   * @throws SESSION_ENDED (401), SESSION_WORKSPACE_UNKNOWN (403).
   */
  abstract confirm(person: SignedInPerson, organizationId: string | null): Promise<void>;
}
