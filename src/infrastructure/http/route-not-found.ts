import type { Express, NextFunction, Request, Response } from 'express';
import { commonErrors } from '../../common/common.errors.js';
import type { AppError } from '../../common/app-error.js';

/** The used part of a layer of Express's router. */
interface Layer {
  match(path: string): unknown;
  route?: { methods: Record<string, boolean> };
}

/**
 * The last layer of the router: nothing matched the request. If another method would match, the answer lists the
 * allowed ones; otherwise there is no such route. Either comes before any key is checked.
 */
export function routeNotFound(express: Express) {
  return (req: Request, _res: Response, next: NextFunction): void => {
    next(notFoundOrNotAllowed(express.router.stack as unknown as Layer[], req.path));
  };
}

function notFoundOrNotAllowed(layers: readonly Layer[], path: string): AppError {
  const allow = new Set<string>();
  for (const layer of layers) {
    // A layer that accepts TRACE accepts every method: it is Nest's own not-found handler.
    if (layer.route === undefined || layer.route.methods.trace === true || !matches(layer, path)) continue;
    for (const [method, taken] of Object.entries(layer.route.methods)) {
      if (!taken || method === '_all') continue;
      allow.add(method.toUpperCase());
      if (method === 'get') allow.add('HEAD');
    }
  }
  if (allow.size === 0) return commonErrors.ROUTE_NOT_FOUND();
  return commonErrors.METHOD_NOT_ALLOWED({ allow: [...allow].sort() });
}

function matches(layer: Layer, path: string): boolean {
  try {
    return Boolean(layer.match(path));
  } catch {
    return false; // a percent sign that encodes nothing
  }
}
