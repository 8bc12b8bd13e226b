import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** Names by which decorators and the generated API description find each other. */
export const SECURITY_SCHEME = 'apiKey';
/** Of the operations about one-time codes, which take keys of an OTP project only. */
export const OTP_SECURITY_SCHEME = 'otpKey';
/** Of the admin API, which takes operator keys only. */
export const OPERATOR_SECURITY_SCHEME = 'operatorKey';
export const REQUIRED_SCOPE_EXTENSION = 'x-required-scope';
/** Followed by the status, or nothing, and by the code. Taken out again when the description is made. */
export const ERROR_EXTENSION = 'x-herald-error:';

/** Of reads that a standby may answer. Taken out again when the description is made. */
export const LATE_EXTENSION = 'x-may-be-late';

/** Of the service in examples, and in a description that no service gives out. */
export const EXAMPLE_URL = 'https://herald.example';

type Schema = Readonly<Record<string, unknown>>;

const named = new Map<string, Schema>();

/**
 * Puts a schema that no class stands for under a name into the API description, and returns the reference to it.
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

/** Parameters that several webhooks have, by name. */
export const documentedParameters: Record<string, Parameter> = {};

/** Puts a parameter under its name into the API description, and returns the reference to it. */
export function namedParameter(parameter: Parameter): { $ref: string } {
  documentedParameters[parameter.name] = parameter;
  return { $ref: `#/components/parameters/${parameter.name}` };
}

/** Answers that several webhooks may get, by name. */
export const documentedResponses: Record<string, { description: string }> = {};

/** Puts an answer without a body under a name into the API description, and returns the reference to it. */
export function namedResponse(name: string, description: string): { $ref: string } {
  documentedResponses[name] = { description };
  return { $ref: `#/components/responses/${name}` };
}

/** Requests that Herald makes to its users, by name: the section `webhooks` of the API description (OpenAPI 3.1). */
export const documentedWebhooks: Record<string, object> = {};

/**
 * The codes that this route may answer with, for the API description. Each must be declared with `defineErrors`; those
 * that any route may answer with (malformed requests, 500, 503, and what `@RequireScope` brings) need no mention.
 */
export function ApiErrors(...codes: string[]): MethodDecorator {
  return ApiErrorsAs('', ...codes);
}

/** As `ApiErrors`, for codes that this route answers under another status than their own: 422 for a missing connection. */
export function ApiErrorsAs(status: number | '', ...codes: string[]): MethodDecorator {
  return applyDecorators(...codes.map((code) => ApiExtension(`${ERROR_EXTENSION}${status}:${code}`, true)));
}
