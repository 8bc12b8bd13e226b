import { OPERATOR_SCOPES, type OperatorScope, type Scope } from './scopes.js';

/** Roles of a person in a workspace, weakest first; an operator has that role in all workspaces. */
export const PERSON_ROLES = ['viewer', 'agent', 'developer', 'admin', 'operator'] as const;

export type PersonRole = (typeof PERSON_ROLES)[number];
/** Roles that a workspace assigns. */
export type WorkspaceRole = Exclude<PersonRole, 'operator'>;

const VIEWER: readonly Scope[] = [
  'connections:read',
  'messages:read',
  'templates:read',
  'profile:read',
  'media:read',
  // Events that keep pages of the console up to date.
  'webhooks:read',
];
const AGENT: readonly Scope[] = [...VIEWER, 'messages:write', 'media:write'];
const DEVELOPER: readonly Scope[] = [...AGENT, 'templates:write', 'profile:write', 'webhooks:write'];
const ADMIN: readonly Scope[] = [...DEVELOPER];

/** A role is a set of scopes: a person may make the same calls as a key with these. */
export const ROLE_SCOPES: Readonly<Record<PersonRole, ReadonlySet<Scope>>> = {
  viewer: new Set(VIEWER),
  agent: new Set(AGENT),
  developer: new Set(DEVELOPER),
  admin: new Set(ADMIN),
  operator: new Set(ADMIN),
};

/**
 * What a role may do through the admin API in its own workspace. A key made by a person never has more scopes than the
 * person.
 */
export const MANAGED_SCOPES: Readonly<Record<WorkspaceRole, ReadonlySet<OperatorScope>>> = {
  viewer: new Set(),
  agent: new Set(),
  developer: new Set<OperatorScope>(['keys:read', 'keys:write']),
  admin: new Set<OperatorScope>(['keys:read', 'keys:write', 'people:read', 'people:write']),
};

/** All scopes of the admin API, for operators only. */
export const OPERATOR_ROLE_SCOPES: ReadonlySet<OperatorScope> = new Set(OPERATOR_SCOPES);

/** The role with the most rights; null where there is none. */
export function strongest<R extends PersonRole>(roles: readonly R[]): R | null {
  return roles.toSorted((a, b) => PERSON_ROLES.indexOf(b) - PERSON_ROLES.indexOf(a))[0] ?? null;
}
