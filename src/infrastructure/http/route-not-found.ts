import type { NextFunction, Request, Response } from 'express';
import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import type { HeraldRequest } from './herald-request.js';

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
