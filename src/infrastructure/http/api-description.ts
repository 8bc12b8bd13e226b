import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** Names by which decorators and the generated API description find each other. */
export const SECURITY_SCHEME = 'apiKey';
/** The security scheme of operations about one-time codes, which accept only keys of an OTP project. */
export const OTP_SECURITY_SCHEME = 'otpKey';
/** The security scheme of the admin API, which accepts only operator keys. */
export const OPERATOR_SECURITY_SCHEME = 'operatorKey';
export const REQUIRED_SCOPE_EXTENSION = 'x-required-scope';
/** Prefix of an extension with a status (or none) and a code. Removed when the description is finished. */
export const ERROR_EXTENSION = 'x-herald-error:';

/** Marks reads that a standby may answer. Removed when the description is finished. */
export const LATE_EXTENSION = 'x-may-be-late';

/** The service's address in examples, and in a description that is not served. */
export const EXAMPLE_URL = 'https://herald.example';

type Schema = Readonly<Record<string, unknown>>;

const named = new Map<string, Schema>();

/**
 * Registers a schema without a class under a name in the API description, and returns the reference to it.
 *
 * @throws Error when another schema has the name.
 */
export function namedSchema(name: string, schema: Schema): { $ref: string } {
  const known = named.get(name);
  if (known !== undefined && known !== schema) throw new Error(`two schemas are named ${name}`);
  named.set(name, schema);
  return { $ref: `#/components/schemas/${name}` };
}

/** All of them, for the API description. */
export function namedSchemas(): Record<string, Schema> {
  return Object.fromEntries([...named].map(([name, schema]) => [name, { title: name, ...schema }]));
}

type Parameter = Schema & { readonly name: string; readonly in: 'header' };

/** Parameters that several webhooks share, by name. */
export const documentedParameters: Record<string, Parameter> = {};

/** Registers a parameter in the API description, and returns the reference to it. */
export function namedParameter(parameter: Parameter): { $ref: string } {
  documentedParameters[parameter.name] = parameter;
  return { $ref: `#/components/parameters/${parameter.name}` };
}

/** Responses that several webhooks share, by name. */
export const documentedResponses: Record<string, { description: string }> = {};

/** Registers a response without a body under a name in the API description, and returns the reference to it. */
export function namedResponse(name: string, description: string): { $ref: string } {
  documentedResponses[name] = { description };
  return { $ref: `#/components/responses/${name}` };
}

/** Requests that Herald makes to its users, by name: the section `webhooks` of the API description (OpenAPI 3.1). */
export const documentedWebhooks: Record<string, object> = {};

/**
 * The codes that this route may answer with, for the API description. Each must be declared with `defineErrors`. Codes
 * that any route may answer with (malformed requests, 500, 503, and those of `@RequireScope`) are left out.
 */
export function ApiErrors(...codes: string[]): MethodDecorator {
  return ApiErrorsAs('', ...codes);
}

/**
 * Like `ApiErrors`, for codes that this route answers with another status than their own: 422 for a missing connection.
 */
export function ApiErrorsAs(status: number | '', ...codes: string[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiExtension(`${ERROR_EXTENSION}${status}:${code}`, true)));
}
