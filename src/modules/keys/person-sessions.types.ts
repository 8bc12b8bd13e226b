import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import type { PersonRole } from '../../infrastructure/http/roles.js';

/** Who is signed in in a browser. At most two seconds old. */
export interface SignedInPerson {
  id: string;
  name: string;
  email: string;
  /** Of all workspaces, and of the admin API. */
  isOperator: boolean;
  sessionId: string;
  /** When the session ends at the latest. */
  expiresAt: Date;
}

/** A workspace as a person has it. At most two seconds old. */
export interface WorkspaceOfPerson {
  id: string;
  name: string;
  role: PersonRole;
  apiPaidUntil: Date | null;
  /** The workspace has limits on what it sends. */
  limited: boolean;
  ratePerSecond: number | null;
  rateBurst: number | null;
}

/** What the access guard asks of a request that has no key. The module of people answers. */
export abstract class PersonSessions {
  /**
   * Who makes this request; null where it has no session, or no issuer is set.
   *
   * @throws SESSION_FROM_ANOTHER_PAGE (403) where it does not come from a page of the console; SESSION_ENDED (401).
   */
  abstract find(req: HeraldRequest): Promise<SignedInPerson> | null;

  /**
   * The workspace that the request names, or the only one that the person has.
   *
   * @throws INVALID_REQUEST (400), SESSION_WORKSPACE_REQUIRED (400), SESSION_WORKSPACE_UNKNOWN (403).
   */
  abstract workspaceOf(person: SignedInPerson, req: HeraldRequest): Promise<WorkspaceOfPerson>;

  /** What the person has in this workspace; null: nothing, or there is no such workspace. */
  abstract inWorkspace(person: SignedInPerson, organizationId: string): Promise<WorkspaceOfPerson | null>;

  /**
   * As both, for a request that waited.
   *
   * @param organizationId null of the admin API, which an operator alone may call
   * @throws SESSION_ENDED (401), SESSION_WORKSPACE_UNKNOWN (403).
   */
  abstract confirm(person: SignedInPerson, organizationId: string | null): Promise<void>;
}
