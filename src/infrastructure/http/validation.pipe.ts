import {
  type ArgumentMetadata,
  Injectable,
  StandardSchemaValidationPipe,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { ValidateIf } from 'class-validator';
import { type ErrorDetail, MAX_DETAILS } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { unknownField, violation } from '../../common/shape.js';
import { refusalOf } from './body-schema.js';
import { detailsOf, propertiesOf } from './validation-details.js';

type Query = Readonly<Record<string, unknown>>;

/**
 * Validates parameters declared as a DTO class, with Nest's own pipe. `@Body() input: CreateThing` is strict: unknown
 * keys are refused, and no type is converted. `@Query() query: ListThings` is read from text, converted to the declared
 * numbers and booleans; a repeated parameter is refused. `@Body({ schema })` is for bodies in free forms, which
 * `bodySchema` or any Standard Schema describes. All other parameters pass unchecked.
 *
 * @throws INVALID_REQUEST (400) naming each invalid field; what the schema's reader throws.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  private readonly schemas = new StandardSchemaValidationPipe({
    exceptionFactory: (issues) => refusalOf(issues),
  });

  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      // The details need both.
      validationError: { target: true, value: true },
      exceptionFactory: (errors) => commonErrors.INVALID_REQUEST({ details: detailsOf(errors) }),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.schema !== undefined) return this.schemas.transform(value, metadata);
    if (!this.toValidate(metadata)) return value;
    if (metadata.type === 'body') requireObject(value);
    const given = metadata.type === 'query' ? typed(value as Query, metadata.metatype as Type<object>) : value;
    return super.transform(given, metadata) as Promise<unknown>;
  }
}

/** A missing body breaks the same rules as an empty one, and is valid if all fields are optional. */
function requireObject(body: unknown): void {
  if (body === undefined || (typeof body === 'object' && body !== null && !Array.isArray(body))) return;
  throw invalidField('', 'type', 'The body must be a JSON object.');
}

/** The query converted to the declared types; text that cannot be converted stays, and the rules refuse it. */
function typed(query: Query, dto: Type<object>): Record<string, unknown> {
  const defaults = new dto() as Record<string, unknown>;
  const known = propertiesOf(dto);
  const details: ErrorDetail[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(query)) {
    // Not by the whitelist: Nest removes names such as `__proto__` silently.
    if (!known.has(name)) details.push(unknownField(name, known));
    else if (typeof given !== 'string') details.push(violation(name, 'repeated', `${name} must be given once.`));
    // No column can store it, whatever other rules a parameter has.
    else if (given.includes('\u0000')) details.push(violation(name, 'text', `${name} must not contain U+0000.`));
    else values[name] = coerced(given, typeOf(dto, defaults, name));
  }
  if (details.length > 0) throw commonErrors.INVALID_REQUEST({ details: details.slice(0, MAX_DETAILS) });
  return values;
}

/** The declared type, otherwise that of the default: TypeScript emits no type for `limit = 50`. */
function typeOf(dto: Type<object>, defaults: Record<string, unknown>, name: string): unknown {
  if (typeof defaults[name] === 'number') return Number;
  if (typeof defaults[name] === 'boolean') return Boolean;
  return Reflect.getMetadata('design:type', dto.prototype as object, name);
}

function coerced(text: string, type: unknown): unknown {
  if (type === Number && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === Boolean && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/**
 * The field is optional but, unlike with `@IsOptional()`, must not be null: an absent field has a meaning, null has
 * none.
 */
export const IfGiven = (): PropertyDecorator => ValidateIf((_dto, value) => value !== undefined);
