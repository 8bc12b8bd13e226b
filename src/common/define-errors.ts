import { AppError, type ErrorKind } from './app-error.js';

/**
 * One code of an error table. `Args` are the typed arguments of the factory; `extra` turns them into public fields.
 */
export interface ErrorDefinition<Args = void> {
  kind: ErrorKind;
  /** Further statuses under which the same code is answered elsewhere (documentation). */
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

export interface DocumentedError {
  code: string;
  module: string;
  kind: ErrorKind;
  alsoKinds: readonly ErrorKind[];
  message: string;
  when: string;
  fix: string;
  /** Public fields beside code and message, in a real case; null: the table has no sample of them. */
  extra: Record<string, unknown> | null;
}

type Factories<T> = {
  readonly [K in keyof T]: T[K] extends ErrorDefinition<infer A>
    ? unknown extends A
      ? (args?: undefined, context?: ErrorContext) => AppError
      : [A] extends [void]
        ? (args?: undefined, context?: ErrorContext) => AppError
        : (args: A, context?: ErrorContext) => AppError
    : never;
};

/** A definition whose arguments are not known. */
type AnyDefinition = Omit<ErrorDefinition<never>, 'sample'> & { sample?: unknown };

const registry = new Map<string, DocumentedError>();

/** Helper that keeps the argument type of a definition: `error<{ status: string }>({...})`. */
export function error<Args = void>(definition: ErrorDefinition<Args>): ErrorDefinition<Args> {
  return definition;
}

/**
 * Declares a module's error table and returns one factory a code.
 *
 * @throws Error at load when a code is declared twice: codes are stable and mean one thing.
 */
export function defineErrors<T extends Record<string, AnyDefinition>>(module: string, table: T): Factories<T> {
  const factories: Record<string, (args: never, context?: ErrorContext) => AppError> = {};
  for (const [code, definition] of Object.entries(table)) {
    if (registry.has(code)) {
      throw new Error(`error code ${code} is declared by both "${registry.get(code)?.module}" and "${module}"`);
    }
    registry.set(code, {
      code,
      module,
      kind: definition.kind,
      alsoKinds: definition.alsoKinds ?? [],
      when: definition.when,
      fix: definition.fix,
      ...sampleOf(definition),
    });
    factories[code] = (args, context) =>
      new AppError({
        kind: definition.kind,
        code,
        message: typeof definition.message === 'string' ? definition.message : definition.message(args),
        extra: definition.extra?.(args),
        headers: definition.headers?.(args),
        internal: context?.internal,
        cause: context?.cause,
      });
  }
  return factories as Factories<T>;
}

function sampleOf({ message, extra, sample, fix }: AnyDefinition): Pick<DocumentedError, 'message' | 'extra'> {
  const text = typeof message === 'string' ? message : sample === undefined ? fix : message(sample as never);
  if (extra === undefined) return { message: text, extra: {} };
  return { message: text, extra: sample === undefined ? null : extra(sample as never) };
}

/** Every declared code, sorted, for the generated documentation and for contract tests. */
export function declaredErrors(): DocumentedError[] {
  return [...registry.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
