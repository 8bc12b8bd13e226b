import { OPERATOR_SCOPES, type OperatorScope, type Scope } from './scopes.js';

/** What a person may be in a workspace, weakest first; an operator is the same in all workspaces. */
export const PERSON_ROLES = ['viewer', 'agent', 'developer', 'admin', 'operator'] as const;

export type PersonRole = (typeof PERSON_ROLES)[number];
/** What a workspace has by itself. */
export type WorkspaceRole = Exclude<PersonRole, 'operator'>;

const VIEWER: readonly Scope[] = [
  'connections:read',
  'messages:read',
  'templates:read',
  'profile:read',
  'media:read',
  // The events that keep pages of the console current.
  'webhooks:read',
];
const AGENT: readonly Scope[] = [...VIEWER, 'messages:write', 'media:write'];
const DEVELOPER: readonly Scope[] = [...AGENT, 'templates:write', 'profile:write', 'webhooks:write'];
const ADMIN: readonly Scope[] = [...DEVELOPER];

/** A role is a set of scopes: a person may call what a key with these may call. */
export const ROLE_SCOPES: Readonly<Record<PersonRole, ReadonlySet<Scope>>> = {
  viewer: new Set(VIEWER),
  agent: new Set(AGENT),
  developer: new Set(DEVELOPER),
  admin: new Set(ADMIN),
  operator: new Set(ADMIN),
};

/**
 * What a role may do of the admin API in its own workspace. Keys that a person makes are never wider than the person's own
 * scopes.
 */
export const MANAGED_SCOPES: Readonly<Record<WorkspaceRole, ReadonlySet<OperatorScope>>> = {
  viewer: new Set(),
  agent: new Set(),
  developer: new Set<OperatorScope>(['keys:read', 'keys:write']),
  admin: new Set<OperatorScope>(['keys:read', 'keys:write', 'people:read', 'people:write']),
};

/** Of the admin API: all, for an operator alone. */
export const OPERATOR_ROLE_SCOPES: ReadonlySet<OperatorScope> = new Set(OPERATOR_SCOPES);

/** The role that may do most; null of none. */
export function strongest<R extends PersonRole>(roles: readonly R[]): R | null {
  return roles.toSorted((a, b) => PERSON_ROLES.indexOf(b) - PERSON_ROLES.indexOf(a))[0] ?? null;
}
