import { PUBLIC_ROUTE } from './public.decorator.js';
import { REQUIRED_SCOPE } from './require-scope.decorator.js';
import type { Scope } from './scopes.js';

/** What a route asks of its callers. */
export type RoutePolicy = { public: true; scope?: undefined } | { public: false; scope: Scope };

const policies = new WeakMap<object, WeakMap<object, RoutePolicy | null>>();

/** Null where the route says nothing, which no application starts with. */
export function routePolicyOf(controller: object, handler: object): RoutePolicy | null {
  let ofController = policies.get(controller);
  if (ofController === undefined) policies.set(controller, (ofController = new WeakMap<object, RoutePolicy | null>()));
  let policy = ofController.get(handler);
  if (policy === undefined) ofController.set(handler, (policy = readPolicy(controller, handler)));
  return policy;
}

function readPolicy(controller: object, handler: object): RoutePolicy | null {
  const scope = Reflect.getMetadata(REQUIRED_SCOPE, handler) as Scope | undefined;
  if (scope !== undefined) return { public: false, scope };
  const isPublic = Reflect.getMetadata(PUBLIC_ROUTE, handler) ?? Reflect.getMetadata(PUBLIC_ROUTE, controller);
  return isPublic === true ? { public: true } : null;
}
