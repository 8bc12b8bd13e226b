/**
 * Fields that a log line may have. For any other field only its name is logged, so that no text, number or body gets
 * into a log as part of an object.
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
  'person_id',
  'phases',
  'request_id',
  'roles',
  'route',
  'stack',
  'status',
  'trace_id',
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

/** The loggable part of an error: drivers add the statement, its parameters and the row's values to theirs. */
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

/**
 * Secrets recognised by their form: Herald's keys, webhook signing secrets, WhatsApp's access tokens, other bearer
 * tokens, passwords in addresses, signatures of links. Also phone numbers: with a plus, or ten to fourteen digits on
 * their own (WhatsApp's ids are longer, and the digits of a UUID have neighbours). The visible rest is enough to
 * identify each.
 */
const SECRETS: readonly { sign: string; pattern: RegExp; shown: string }[] = [
  { sign: 'hrld_', pattern: /(hrld_(?:live|test|admin)_[0-9A-Za-z]{1,12})(?:_[0-9A-Za-z]*)?/g, shown: '$1_***' },
  { sign: 'hrld_setup_', pattern: /hrld_setup_[\w-]+/g, shown: 'hrld_setup_***' },
  { sign: 'whsec_', pattern: /whsec_[0-9A-Za-z+/=_-]+/g, shown: 'whsec_***' },
  { sign: 'EAA', pattern: /\bEAA[0-9A-Za-z]{16,}/g, shown: 'EAA***' },
  { sign: 'Bearer ', pattern: /Bearer (?!hrld_|EAA)[\w.~+/=-]{8,}/g, shown: 'Bearer ***' },
  { sign: '://', pattern: /(:\/\/[^:@/\s"]*):[^@/\s"]+@/g, shown: '$1:***@' },
  { sign: 'signature=', pattern: /signature=[\w-]{16,}/g, shown: 'signature=***' },
  { sign: '+', pattern: /\+\d{5,13}(\d{2})(?!\d)/g, shown: '+***$1' },
  { sign: '', pattern: /(?<![\w.+*-])\d{8,12}(\d{2})(?![\w.-])/g, shown: '***$1' },
];

/** The last check before a log line is written: masks secrets that a caller logged by mistake. */
export function maskSecrets(line: string): string {
  let masked = line;
  for (const { sign, pattern, shown } of SECRETS) {
    if (masked.includes(sign)) masked = masked.replace(pattern, shown);
  }
  return masked;
}
