import { randomUUID } from 'node:crypto';
import type { Span } from '@opentelemetry/api';
import type { Request } from 'express';
import type { Scope } from './scopes.js';

/** Who calls the admin API. */
export interface Operator {
  /** Public part of the operator key, or id of the person; empty for a command on the server. */
  keyId: string;
  /** Null: all workspaces, and operations on the whole installation. */
  workspaceIds: readonly string[] | null;
  /** For a person who is not an operator: the scopes that keys made by the person may have. Absent: any. */
  keyScopes?: ReadonlySet<Scope>;
}

/** Fields that Herald adds to Express's request. */
export interface HeraldRequest extends Request {
  /** The caller's X-Request-Id, or one of ours. */
  id: string;
  /** When it was received (monotonic ms). */
  startedAt: number;
  /** Set where traces are recorded. */
  span?: Span | undefined;
  /** How much of the body is read after an early answer, if more than usual; see `drainUnreadBody`. */
  drainUpTo?: { bytes: number; ms: number };
  /** Public part of the key, once it was found valid; for the access log. */
  apiKeyId?: string;
  organizationId?: string;
  /** The caller, if authenticated by the session of a person instead of a key. */
  personId?: string;
  /** Set on requests of the admin API, after the operator key was verified. */
  operator?: Operator;
  /** Set on requests of a setup page, after the link was found. */
  setupLinkId?: string;
  /**
   * Set on requests that hold a slot of their workspace: waits without the slot, and resolves once it has one again.
   */
  waitOutside?: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Set after the key was verified: verifies it again after a wait. @throws the refusal of the key (401). */
  confirm?: () => Promise<void>;
}

/**
 * The matched route of a request, such as `/api/v1/messages/:id`; undefined before routing, and where no route matched.
 */
export function pathOfRoute({ route }: HeraldRequest): string | undefined {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : undefined;
}

export const REQUEST_ID_HEADER = 'X-Request-Id';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id if it is safe in logs and headers, otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTABLE.test(header) ? header : randomUUID();
}
