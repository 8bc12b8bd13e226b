import { AsyncLocalStorage } from 'node:async_hooks';

/** What everything that happens for one HTTP request has in common. */
export interface RequestContext {
  requestId: string;
}

/** Lets a log line name its request without being handed the request. */
export const requestContext = new AsyncLocalStorage<RequestContext>();
