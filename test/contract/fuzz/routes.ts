import type { NestExpressApplication } from '@nestjs/platform-express';
import { ADMIN_PREFIX } from '../../../src/infrastructure/http/api-version.js';

interface Router {
  stack: { route?: { path: string | RegExp | string[]; methods: Record<string, boolean> } }[];
}

/** `METHOD /path/{name}` of every route below /api that the router has, whichever code registered it. */
export function routesOf(app: NestExpressApplication): string[] {
  const { router } = app.getHttpAdapter().getInstance() as { router: Router };
  return (
    router.stack
      .flatMap(({ route }) => {
        if (route === undefined) return [];
        const methods = Object.keys(route.methods).filter((method) => route.methods[method]);
        return (
          [route.path]
            .flat()
            // The console's is a pattern, where it is built.
            .filter((path) => typeof path === 'string')
            .flatMap((path) => methods.map((method) => `${method.toUpperCase()} ${braced(path)}`))
        );
      })
      // The admin API has a description of its own.
      .filter((route) => / \/api(\/|$)/.test(route) && !route.includes(ADMIN_PREFIX))
      .sort()
  );
}

function braced(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
