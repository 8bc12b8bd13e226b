import type { INestApplication, PipeTransform } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { isDto, ValidatedRequestPipe } from './validated-request.pipe.js';

interface RouteArgument {
  index: number;
  pipes: (PipeTransform | object)[];
}

const VALIDATED = [RouteParamtypes.BODY, RouteParamtypes.QUERY].map((type) => `${type}:`);
const pipe = new ValidatedRequestPipe();

/**
 * Lets every `@Body()` and `@Query()` whose type is a DTO class be validated, without a decorator that somebody could
 * forget. A global pipe would do the same, but Nest would then pass every parameter of every route through it, at a cost
 * of several promises each. Call it before `init`, which is when Nest reads what is written here.
 */
export function validateParams(app: INestApplication): void {
  const scanner = new MetadataScanner();
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      if (typeof metatype !== 'function') continue;
      for (const method of scanner.getAllMethodNames(metatype.prototype as object)) addPipes(metatype, method);
    }
  }
}

function addPipes(controller: { prototype: unknown }, method: string): void {
  const known = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as
    Record<string, RouteArgument> | undefined;
  if (known === undefined) return;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ?? []) as unknown[];
  const args = Object.entries(known).map(([key, arg]) => {
    const wanted =
      VALIDATED.some((type) => key.startsWith(type)) && isDto(types[arg.index]) && !arg.pipes.includes(pipe);
    return [key, wanted ? { ...arg, pipes: [pipe, ...arg.pipes] } : arg] as const;
  });
  Reflect.defineMetadata(ROUTE_ARGS_METADATA, Object.fromEntries(args), controller, method);
}
