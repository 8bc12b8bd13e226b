import type { ArgumentMetadata, PipeTransform, Type, INestApplication } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync, ValidateIf } from 'class-validator';
import { METHOD_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal.js';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { ErrorDetail } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { routePolicyOf } from '../access/route-policy.js';
import { detailsOf, missingObjects, propertiesOf } from './validation-details.js';

/**
 * Validates what a route takes as a DTO class: `@Body() input: CreateThing` strictly (unknown keys are refused, no type
 * is bent into another), `@Query() query: ListThings` by its texts (they become the numbers and booleans that the class
 * declares, a parameter given twice is refused; unknown ones the guard has refused). Whatever is no such class passes.
 *
 * @throws INVALID_REQUEST (400) naming each invalid field.
 */
export class ValidatedRequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (!isDto(metatype)) return value;
    if (type === 'body') return validBody(value, metatype);
    return type === 'query' ? validQuery(value as Query, metatype) : value;
  }
}

type Dto = Type<object>;
type Query = Record<string, string | string[] | undefined>;

// What TypeScript emits for types that are no classes, and classes that are no DTOs.
const PLAIN = new Set<unknown>([Object, String, Number, Boolean, Array, Date, Buffer]);

function isDto(type: unknown): type is Dto {
  return typeof type === 'function' && !PLAIN.has(type);
}

function validBody(value: unknown, dto: Dto): object {
  // A body that was left out breaks the same rules as an empty one, and fulfils them where all is optional.
  const body = value === undefined ? {} : value;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    refuse([{ field: '', rule: 'type', message: 'The body must be a JSON object.' }]);
  }
  const instance = plainToInstance(dto, body);
  const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  const details = [...detailsOf(errors), ...missingObjects(instance)];
  if (details.length > 0) refuse(details);
  return instance;
}

// No column can hold it, whatever else the rules of a parameter allow.
const BAD_TEXT = 'must not contain U+0000.';

function validQuery(query: Query, dto: Dto): object {
  const instance = new dto() as Record<string, unknown>;
  const violations: ErrorDetail[] = [];
  for (const name of propertiesOf(dto)) {
    const given = query[name];
    if (given === undefined) continue;
    if (Array.isArray(given))
      violations.push({ field: name, rule: 'repeated', message: `${name} must be given once.` });
    else if (given.includes('\u0000')) violations.push({ field: name, rule: 'text', message: `${name} ${BAD_TEXT}` });
    else instance[name] = coerced(given, typeOf(dto, instance, name));
  }
  const named = new Set(violations.map(({ field }) => field));
  const errors = validateSync(instance, { forbidUnknownValues: false });
  const details = [...violations, ...detailsOf(errors).filter(({ field }) => !named.has(field))];
  if (details.length > 0) refuse(details);
  return instance;
}

/** As declared, else that of the default: TypeScript emits no type for `limit = 50`. */
function typeOf(dto: Dto, instance: Record<string, unknown>, name: string): unknown {
  if (typeof instance[name] === 'number') return Number;
  if (typeof instance[name] === 'boolean') return Boolean;
  return Reflect.getMetadata('design:type', dto.prototype as object, name);
}

/** A text that is no number or boolean stays what it is, for the rules to refuse it. */
function coerced(text: string, type: unknown): unknown {
  if (type === Number && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === Boolean && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function refuse(details: ErrorDetail[]): never {
  throw commonErrors.INVALID_REQUEST({ details });
}

/** What Nest has written down of a parameter, by its kind and place. */
interface RouteArgument {
  index: number;
  data?: unknown;
  pipes: (PipeTransform | object)[];
}

/** The parameters that a route takes from one part of the request, with the types that the class declares. */
export function argumentsOf(controller: Type, method: string, part: RouteParamtypes) {
  const known = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, RouteArgument>;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ?? []) as unknown[];
  const taken = Object.entries(known).filter(([key]) => key.startsWith(`${part}:`));
  return taken.map(([, { index, data, pipes }]) => ({ data, pipes, type: types[index] }));
}

/** The query parameters that a route knows. */
export function queryNamesOf(controller: Type, method: string): ReadonlySet<string> {
  const names = argumentsOf(controller, method, RouteParamtypes.QUERY).flatMap(({ data, type }) => {
    if (typeof data === 'string') return [data];
    return isDto(type) ? [...propertiesOf(type)] : [];
  });
  return new Set(names);
}

const pipe = new ValidatedRequestPipe();

/**
 * Lets every `@Body()` and `@Query()` whose type is a DTO class be validated, without a decorator that could be
 * forgotten. A global pipe would do the same, but Nest would then pass every parameter of every route through it, at a
 * cost of several promises each. Call it before `init`, which is when Nest reads what is written here.
 *
 * @throws Error naming the routes that say neither who may call them nor that they are public.
 */
export function prepareRoutes(app: INestApplication): void {
  const scanner = new MetadataScanner();
  const open: string[] = [];
  for (const { metatype } of new DiscoveryService(app.get(ModulesContainer)).getControllers()) {
    const controller = metatype as Type;
    const prototype = controller.prototype as Record<string, object>;
    for (const method of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[method] as object;
      if (!Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
      if (routePolicyOf(controller, handler) === null) open.push(`${controller.name}.${method}`);
      const args = [RouteParamtypes.BODY, RouteParamtypes.QUERY].flatMap((part) =>
        argumentsOf(controller, method, part),
      );
      for (const { type, pipes } of args) if (isDto(type) && !pipes.includes(pipe)) pipes.unshift(pipe);
    }
  }
  if (open.length > 0) throw new Error(`these routes have neither @RequireScope nor @Public: ${open.join(', ')}`);
}

/** The field may be left out. Unlike `@IsOptional()` it must not be null: what is left out has a meaning, null has none. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_dto, value) => value !== undefined);
