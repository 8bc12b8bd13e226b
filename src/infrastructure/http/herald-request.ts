import { randomUUID } from 'node:crypto';
import type { Span } from '@opentelemetry/api';
import type { Request } from 'express';
import type { Scope } from './scopes.js';

/** Who calls the admin API. */
export interface Operator {
  /** Public part of the operator key, or id of the person; empty for a command on the server. */
  keyId: string;
  /** Null: all workspaces, and what concerns the whole installation. */
  workspaceIds: readonly string[] | null;
  /** Of a person who is no operator: the scopes that keys which the person makes may have. Left out: any. */
  keyScopes?: ReadonlySet<Scope>;
}

/** What Herald adds to Express's request. */
export interface HeraldRequest extends Request {
  /** The caller's X-Request-Id, or one of ours. */
  id: string;
  /** When it was received, on the monotonic clock, in milliseconds. */
  startedAt: number;
  /** Where traces are recorded. */
  span?: Span | undefined;
  /** How much more than usual of the body is read after an early answer; see `drainUnreadBody`. */
  drainUpTo?: { bytes: number; ms: number };
  /** Public part of the key, once it was found valid; for the access log. */
  apiKeyId?: string;
  organizationId?: string;
  /** Who makes it, where it has the session of a person and no key. */
  personId?: string;
  /** Of the admin API, once the operator key was found valid. */
  operator?: Operator;
  /** Of a page of a setup link, once the link was found. */
  setupLinkId?: string;
  /** Of a request that holds a slot of its workspace: waits without it, and resolves once it has one again. */
  waitOutside?: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Once its key was found valid: whether it still is, after a wait. @throws the refusal of the key (401). */
  confirm?: () => Promise<void>;
}

/** The route that was found for a request, such as `/api/v1/messages/:id`; undefined before, and where there is none. */
export function pathOfRoute({ route }: HeraldRequest): string | undefined {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : undefined;
}

export const REQUEST_ID_HEADER = 'X-Request-Id';

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id where it is harmless in logs and headers, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTABLE.test(header) ? header : randomUUID();
}
