import type { NextFunction, Response } from 'express';
import type { HeraldRequest } from './herald-request.js';
import type { RouterStack } from './route-not-found.js';

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

  constructor({ stack }: RouterStack) {
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
      const known = this.byAddress.get(route.path) ?? new Map<string, ExactRoute>();
      this.byAddress.set(route.path, known.set(method.toUpperCase(), { route, handle: layer.handle }));
    }
  }

  find(method: string, address: string): ExactRoute | undefined {
    return this.byAddress.get(address)?.get(method);
  }
}
