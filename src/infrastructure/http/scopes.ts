/** Every right that a key may have, in the order of the API description. */
export const SCOPES = [
  'connections:read',
  'messages:read',
  'messages:write',
  'templates:read',
  'templates:write',
  'profile:read',
  'profile:write',
  'media:read',
  'media:write',
  'webhooks:read',
  'webhooks:write',
  'otp:send',
  'otp:verify',
  'otp:read',
] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * Every right that an operator key may have: what it reads or changes in all workspaces, or in those it is limited to.
 */
export const OPERATOR_SCOPES = [
  'workspaces:read',
  'workspaces:write',
  'keys:read',
  'keys:write',
  'operator-keys:read',
  'operator-keys:write',
  'connections:read',
  'connections:write',
  'people:read',
  'people:write',
  'erasures:write',
  'otp:read',
  'otp:write',
  'billing:read',
  'billing:write',
  'usage:read',
  'audit:read',
  'events:read',
  'installation:read',
] as const;

export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

export function isOperatorScope(text: string): text is OperatorScope {
  return (OPERATOR_SCOPES as readonly string[]).includes(text);
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Scopes for keys of an OTP project only; such keys can have no others. */
export function isOtpScope(scope: Scope | OperatorScope): boolean {
  return scope.startsWith('otp:');
}
