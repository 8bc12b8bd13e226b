import type { Answer } from './answer.js';
import type { Call } from './call.js';

export type Handler = (call: Call) => Answer | Promise<Answer>;

export interface Route {
  handler: Handler;
  /** `text` collects the body first (at most 4 MiB); `stream` leaves the request to the handler. */
  body: 'text' | 'stream';
}

interface PlainRoute extends Route {
  method: string;
  segments: readonly string[];
}

/** Which kind of object an id names, such as `phone_number`, `waba` or `template`; null where it is none of ours. */
export type NodeResolver = (id: string) => string | null;

/**
 * Two small tables: the Graph API's (`/v23.0/{node}/{edge}`, chosen by what kind of object the id names), and plain
 * paths with `:names`. A new resource adds its resolver and its routes, and nothing else changes.
 */
export class Router {
  private readonly resolvers: NodeResolver[] = [];
  private readonly graphRoutes = new Map<string, Route>();
  private readonly plainRoutes: PlainRoute[] = [];

  resolveNodes(resolver: NodeResolver): void {
    this.resolvers.push(resolver);
  }

  /** @param edge what follows the id; empty for the node itself */
  graph(method: string, kind: string, edge: string, handler: Handler, body: Route['body'] = 'text'): void {
    this.graphRoutes.set(`${method} ${kind} ${edge}`, { handler, body });
  }

  /** @param pattern such as `/_simulator/templates/:id/review` */
  plain(method: string, pattern: string, handler: Handler, body: Route['body'] = 'text'): void {
    this.plainRoutes.push({ method, segments: pattern.split('/'), handler, body });
  }

  kindOf(id: string): string | null {
    for (const resolver of this.resolvers) {
      const kind = resolver(id);
      if (kind !== null) return kind;
    }
    return null;
  }

  findGraph(method: string, kind: string, edge: string): Route | undefined {
    return this.graphRoutes.get(`${method} ${kind} ${edge}`);
  }

  findPlain(method: string, path: string): { route: Route; params: Record<string, string> } | null {
    const segments = path.split('/');
    for (const route of this.plainRoutes) {
      if (route.method !== method) continue;
      const params = match(route.segments, segments);
      if (params !== null) return { route, params };
    }
    return null;
  }
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [i, expected] of pattern.entries()) {
    const segment = segments[i] as string;
    if (expected.startsWith(':')) params[expected.slice(1)] = segment;
    else if (expected !== segment) return null;
  }
  return params;
}
