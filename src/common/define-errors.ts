import { AppError, type ErrorKind } from './app-error.js';

/** One code of an error table. `Args` are the typed arguments of the factory; `extra` turns them into public fields. */
export interface ErrorDefinition<Args = void> {
  kind: ErrorKind;
  /** Other statuses under which the same code is answered, for the documentation. */
  alsoKinds?: readonly ErrorKind[];
  /** One sentence for the caller that says what to do. */
  message: string | ((args: Args) => string);
  /** For `docs/errors.md`: when this happens, and how to fix it. */
  when: string;
  fix: string;
  extra?: (args: Args) => Record<string, unknown>;
  headers?: (args: Args) => Record<string, string>;
  /** Arguments of a real case, for the examples of the API description. */
  sample?: Args;
}

export interface ErrorContext {
  internal?: string;
  cause?: unknown;
}

export interface DocumentedError extends Required<Pick<ErrorDefinition, 'kind' | 'alsoKinds' | 'when' | 'fix'>> {
  code: string;
  module: string;
  message: string;
  /** The public fields besides code and message in a real case; null: the table has no sample. */
  extra: Record<string, unknown> | null;
}

type Factory<Args> = [Args] extends [void]
  ? (args?: undefined, context?: ErrorContext) => AppError
  : (args: Args, context?: ErrorContext) => AppError;

type Factories<T> = {
  readonly [K in keyof T]: T[K] extends ErrorDefinition<infer Args> ? Factory<Args> : never;
};

/** A definition with unknown arguments. */
type AnyDefinition = Omit<ErrorDefinition<never>, 'sample'> & { sample?: unknown };

const registry = new Map<string, DocumentedError>();

/** Helper that keeps the argument type of a definition: `error<{ status: string }>({...})`. */
export function error<Args = void>(definition: ErrorDefinition<Args>): ErrorDefinition<Args> {
  return definition;
}

/**
 * Declares a module's error table and returns one factory per code.
 *
 * @throws Error at load when a code is declared twice: codes are stable and mean one thing.
 */
export function defineErrors<T extends Record<string, AnyDefinition>>(module: string, table: T): Factories<T> {
  const factories: Record<string, (args: never, context?: ErrorContext) => AppError> = {};
  for (const [code, definition] of Object.entries(table)) {
    const { kind, alsoKinds = [], message, when, fix, extra, headers, sample } = definition;
    const known = registry.get(code);
    if (known !== undefined)
      throw new Error(`error code ${code} is declared by both "${known.module}" and "${module}"`);
    const given = sample as never;
    registry.set(code, {
      code,
      module,
      kind,
      alsoKinds,
      when,
      fix,
      message: typeof message === 'string' ? message : given === undefined ? fix : message(given),
      extra: extra === undefined ? {} : given === undefined ? null : extra(given),
    });
    factories[code] = (args, context) =>
      new AppError({
        kind,
        code,
        message: typeof message === 'string' ? message : message(args),
        extra: extra?.(args),
        headers: headers?.(args),
        ...context,
      });
  }
  return factories as Factories<T>;
}

/** Every declared code, sorted, for the generated documentation and for contract tests. */
export function declaredErrors(): DocumentedError[] {
  return [...registry.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
