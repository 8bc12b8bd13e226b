import type { NextFunction, Response, Request } from 'express';
import type { HeraldRequest } from './herald-request.js';
import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';

export type RouteHandler = (req: HeraldRequest, res: Response, next: NextFunction) => unknown;

export interface ExactRoute {
  route: { path: string };
  handle: RouteHandler;
}

/** Nest's adapter puts one layer in front of everything, for hooks that Herald does not use. */
const LAYERS_OF_NEST = 1;
const PLAIN_PATH = /^[\w./-]+$/;

/**
 * The routes whose path names no parameter, by method and address: they are found without Express's router, which asks
 * one layer after the other. What runs is the same handler, with all that Nest puts around a route. A route that stands
 * behind middleware is left to the router.
 */
export class ExactRoutes {
  private readonly byAddress = new Map<string, Map<string, ExactRoute>>();

  /** @param direct handlers that take the place of the router's, by method and path */
  constructor({ stack }: RouterStack, direct: ReadonlyMap<string, RouteHandler> = new Map()) {
    let layers = 0;
    for (const [index, { route }] of stack.entries()) {
      if (route === undefined) layers++;
      if (layers > LAYERS_OF_NEST) return;
      const [layer, ...others] = route?.stack ?? [];
      if (route === undefined || layer?.method === undefined || others.length > 0) continue;
      const { method } = layer;
      if (typeof route.path !== 'string' || !PLAIN_PATH.test(route.path)) continue;
      // The router takes the first of several that match.
      if (stack.slice(0, index).some((before) => before.route?.methods[method] && before.match(route.path))) continue;
      const handle = direct.get(`${method.toUpperCase()} ${route.path}`) ?? layer.handle;
      const known = this.byAddress.get(route.path) ?? new Map<string, ExactRoute>();
      this.byAddress.set(route.path, known.set(method.toUpperCase(), { route, handle }));
    }
  }

  find(method: string, address: string): ExactRoute | undefined {
    return this.byAddress.get(address)?.get(method);
  }
}

/** As much as is needed of Express's router. */
export interface RouterStack {
  stack: {
    match(path: string): unknown;
    route?: {
      path: string;
      methods: Record<string, boolean>;
      stack: { method?: string; handle: (req: HeraldRequest, res: Response, next: NextFunction) => unknown }[];
    };
  }[];
}

/**
 * The last layer of the router: nothing took the request. Where another method would have been taken, the answer names
 * those that are, else there is no such route. Either is said before any key is looked at.
 */
export function routeNotFound(router: RouterStack) {
  return (req: Request, _res: Response, next: NextFunction): void => {
    next(notFoundOrNotAllowed(router, req.path));
  };
}

function notFoundOrNotAllowed(router: RouterStack, path: string): AppError {
  const allow = new Set<string>();
  for (const layer of router.stack) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    for (const [method, taken] of Object.entries(layer.route.methods)) {
      if (!taken || method === '_all') continue;
      allow.add(method.toUpperCase());
      if (method === 'get') allow.add('HEAD');
    }
  }
  if (allow.size === 0) return commonErrors.ROUTE_NOT_FOUND();
  return commonErrors.METHOD_NOT_ALLOWED({ allow: [...allow].sort() });
}

function matches(layer: RouterStack['stack'][number], path: string): boolean {
  try {
    return Boolean(layer.match(path));
  } catch {
    return false; // a percent sign that encodes nothing
  }
}
