import type { Type } from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { routePolicyOf } from './route-policy.js';

/** Routes without `@RequireScope` and without `@Public`, as `Controller.method`. */
export function routesWithoutPolicy(discovery: DiscoveryService, scanner: MetadataScanner): string[] {
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Type;
    const prototype = controller.prototype as Record<string, object>;
    return scanner
      .getAllMethodNames(prototype)
      .filter((method) => {
        const handler = prototype[method] as object;
        return Reflect.hasMetadata(METHOD_METADATA, handler) && routePolicyOf(controller, handler) === null;
      })
      .map((method) => `${controller.name}.${method}`);
  });
}

/** True where the route has a parameter of this kind: `@Body()` or `@Query()`, whole or by name. */
export function takes(kind: 'body' | 'query', controller: Type, method: string): boolean {
  const part = kind === 'body' ? RouteParamtypes.BODY : RouteParamtypes.QUERY;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${part}:`));
}
