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

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Scopes that only keys of an OTP project may have, and the only ones that they may have. */
export function isOtpScope(scope: Scope): boolean {
  return scope.startsWith('otp:');
}
