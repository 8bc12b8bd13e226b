/**
 * Fields that a log line may have. What is not named here is left out and only its name is told: texts, numbers and
 * bodies do not get into a log because somebody handed over a whole object.
 */
const LOGGABLE: ReadonlySet<string> = new Set([
  'aborted',
  'address',
  'base_url',
  'context',
  'err',
  'key_id',
  'method',
  'ms',
  'msg',
  'organization_id',
  'phases',
  'request_id',
  'roles',
  'route',
  'stack',
  'status',
]);

const MAX_CAUSES = 5;

/** The fields that may be logged, and the names of those that were left out. */
export function loggable(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (!LOGGABLE.has(name)) leftOut.push(name);
    else kept[name] = value instanceof Error ? errorFields(value) : value;
  }
  return leftOut.length === 0 ? kept : { ...kept, left_out: leftOut };
}

/**
 * What may be told of an error. Drivers hang the statement, its parameters and the row's values onto theirs: those stay
 * here.
 */
export function errorFields(error: Error): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    stack: stackOf(error),
    ...(typeof code === 'string' && { code }),
  };
}

function stackOf(error: Error): string {
  const stacks: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth <= MAX_CAUSES && current instanceof Error; depth++) {
    stacks.push(current.stack ?? `${current.name}: ${current.message}`);
    current = current.cause;
  }
  return stacks.join('\ncaused by: ');
}
