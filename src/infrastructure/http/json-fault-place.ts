const TOKEN =
  // oxlint-disable-next-line no-control-regex -- JSON's texts must not hold them
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)))/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'next' | 'end';

/**
 * Where a text stops being JSON, as an offset; its length where it ends too early. The engine's own messages name the
 * place only sometimes, and quote the text, which may hold what no answer should repeat.
 */
export function jsonFaultAt(text: string): number {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return skipSpace(text, at);
    const start = skipSpace(text, at);
    const next = step(expected, match[1] ?? (match[2] === undefined ? 'scalar' : 'string'), open);
    if (next === null) return start;
    expected = next;
    at = TOKEN.lastIndex;
  }
}

/** What may follow the token; null where the token may not stand here. */
function step(expected: Expected, token: string, open: string[]): Expected | null {
  const after = (): Expected => (open.length === 0 ? 'end' : 'next');
  const closes = token === '}' || token === ']';
  if (closes) {
    const emptyOrNext = expected === 'next' || expected === (token === '}' ? 'key or }' : 'value or ]');
    if (!emptyOrNext || open.pop() !== token) return null;
    return after();
  }
  if (expected === 'next') {
    if (token !== ',') return null;
    return open.at(-1) === '}' ? 'key' : 'value';
  }
  if (expected === ':') return token === ':' ? 'value' : null;
  if (expected === 'key' || expected === 'key or }') return token === 'string' ? ':' : null;
  if (expected === 'end' || token === ',' || token === ':') return null;
  if (token === '{') {
    open.push('}');
    return 'key or }';
  }
  if (token === '[') {
    open.push(']');
    return 'value or ]';
  }
  return after();
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}
