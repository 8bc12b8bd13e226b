import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import { MOST_DETAILS } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { unknownField } from '../../common/shape.js';
import { PUBLIC_ROUTE } from '../access/route-policy.js';
import { isDto, propertiesOf } from './validated-request.pipe.js';

/**
 * The query parameters that a route knows; null where any may come: routes without a key are called by platforms,
 * probes and links, and check what they take themselves.
 */
export function queryParametersOf(controller: Type, handler: object, method: string): ReadonlySet<string> | null {
  const metadata = (key: string): unknown => Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
  if (metadata(PUBLIC_ROUTE) === true) return null;
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ?? []) as unknown[];
  const taken = Object.entries(args).filter(([key]) => key.startsWith(`${RouteParamtypes.QUERY}:`));
  return new Set(
    taken.flatMap(([, { index, data }]) => {
      if (typeof data === 'string') return [data];
      const type = types[index];
      return isDto(type) ? [...propertiesOf(type)] : [];
    }),
  );
}

/** @throws INVALID_REQUEST (400) naming each parameter that the route does not know: a filter must not be ignored. */
export function refuseUnknownQuery(query: object, known: ReadonlySet<string> | null): void {
  if (known === null) return;
  const unknown = Object.keys(query).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw commonErrors.INVALID_REQUEST({
    details: unknown.slice(0, MOST_DETAILS).map((name) => unknownField(name, known)),
  });
}
