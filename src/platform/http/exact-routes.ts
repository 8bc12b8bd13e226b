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

  constructor(router: RouterStack) {
    let layers = 0;
    for (const { route } of router.stack) {
      if (route === undefined) layers++;
      if (layers > LAYERS_OF_NEST) return;
      if (route !== undefined && typeof route.path === 'string' && PLAIN_PATH.test(route.path)) this.add(route);
    }
  }

  find(method: string, address: string): ExactRoute | undefined {
    return this.byAddress.get(address)?.get(method);
  }

  private add(route: NonNullable<RouterStack['stack'][number]['route']>): void {
    const [layer, ...others] = route.stack;
    if (layer?.method === undefined || others.length > 0) return;
    const method = layer.method.toUpperCase();
    const known = this.byAddress.get(route.path) ?? new Map<string, ExactRoute>();
    // The first of two wins, as in the router.
    if (!known.has(method)) known.set(method, { route, handle: layer.handle });
    this.byAddress.set(route.path, known);
  }
}
