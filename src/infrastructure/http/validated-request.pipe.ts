import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { ErrorDetail } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { detailsOf, missingObjects } from './validation-details.js';

/**
 * Validates what a route takes as a DTO class: `@Body() input: CreateThing` strictly (unknown keys are refused, no type
 * is bent into another), `@Query() query: ListThings` by its texts (they become the numbers and booleans that the class
 * declares, a parameter given twice is refused; unknown ones the guard has refused). Whatever is no such class passes.
 *
 * @throws INVALID_REQUEST (400) naming each faulty field.
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

export function isDto(type: unknown): type is Dto {
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
  const faults: ErrorDetail[] = [];
  for (const name of propertiesOf(dto)) {
    const given = query[name];
    if (given === undefined) continue;
    if (Array.isArray(given)) faults.push({ field: name, rule: 'repeated', message: `${name} must be given once.` });
    else if (given.includes('\u0000')) faults.push({ field: name, rule: 'text', message: `${name} ${BAD_TEXT}` });
    else instance[name] = coerced(given, typeOf(dto, instance, name));
  }
  if (faults.length > 0) refuse(faults);
  const errors = validateSync(instance, { forbidUnknownValues: false });
  if (errors.length > 0) refuse(detailsOf(errors));
  return instance;
}

/** The names of what a DTO class declares rules for. */
export function propertiesOf(dto: Dto): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return new Set(rules.map((rule) => rule.propertyName));
}

/** As declared, else that of the default: TypeScript tells nothing of `limit = 50`. */
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
