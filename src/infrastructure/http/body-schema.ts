import { AppError, type ErrorDetail, fieldPath } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';

/** The part of the Standard Schema interface (standardschema.dev) that Nest's `@Body({ schema })` uses. */
export interface BodySchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    validate(body: unknown): { value: T; issues?: undefined } | { issues: readonly Issue[] };
  };
}

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** For a body schema of Herald: the whole error, with the names of the rules. */
  readonly refusal?: AppError;
}

/**
 * A body in forms that no class describes, for `@Body({ schema })`. The API description gets it from the shapes
 * instead: Swagger's own conversion targets OpenAPI 3.0 and rewrites features of 3.1 (`const`, `examples`).
 *
 * @param read returns the body as the route works with it, or throws the refusal
 */
export function bodySchema<T>(read: (body: unknown) => T): BodySchema<T> {
  const validate: BodySchema<T>['~standard']['validate'] = (body) => {
    try {
      return { value: read(body) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { issues: [{ message: error.message, refusal: error }] };
    }
  };
  return { '~standard': { version: 1, vendor: 'herald', validate } };
}

/** The error for issues, including those of schemas that are not Herald's. */
export function refusalOf(issues: readonly Issue[]): AppError {
  const own = issues.find(({ refusal }) => refusal !== undefined)?.refusal;
  return own ?? commonErrors.INVALID_REQUEST({ details: issues.map(detailOf) });
}

function detailOf({ message, path = [] }: Issue): ErrorDetail {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  const field = keys.reduce<string>((at, key) => fieldPath(at, typeof key === 'number' ? key : String(key)), '');
  return { field, rule: 'schema', message };
}
