/** JSON texts of about `size` bytes that cost more than usual where something is not linear or not bounded. */
export function hostileJson(size: number): [name: string, text: string][] {
  const times = (text: string, part = 1): string => text.repeat(Math.max(1, Math.floor((size * part) / text.length)));
  const list = (item: string): string => `[${times(`${item},`).slice(0, -1)}]`;
  const keys = (count: number, keyOf: (index: number) => string, value = '0'): string =>
    `{${Array.from({ length: count }, (_, index) => `"${keyOf(index)}":${value}`).join(',')}}`;
  const long = (length: number, unit = 'k'): string => unit.repeat(Math.max(1, Math.floor(length / unit.length)));
  const half = Math.floor(size / 2);
  const texts = ['a', ' ', '.', '@', '1', '+', '-', '/', '{{', '{{1}}', '{{a', 'a@', '*_~`', '\u{1F600}', '\u00e9'];
  return [
    ['a long key over many U+0000', `{"${long(half)}":[${times('"\\u0000",', 0.5).slice(0, -1)}]}`],
    ['a key of 55 KB over many U+0000', `{"${long(55_000)}":[${'"\\u0000",'.repeat(6_000).slice(0, -1)}]}`],
    [
      'long keys 30 levels deep over many U+0000',
      `${`{"${long(size / 60)}":`.repeat(30)}[${times('"\\u0000",', 0.4).slice(0, -1)}]${'}'.repeat(30)}`,
    ],
    ['many U+0000', list('"\\u0000"')],
    ['many lone surrogates', list('"\\ud800"')],
    ['lone surrogates in keys', keys(900, (index) => `\\udc00${index}${long(size / 1_000)}`)],
    ['900 keys', keys(900, (index) => `key_${index}`)],
    ['900 long keys', keys(900, (index) => `${index}${long(size / 1_000)}`)],
    ['900 keys of control characters', keys(900, (index) => `${long(size / 1_000, '\\u0001')}${index}`)],
    ['many keys', keys(Math.floor(size / 12), (index) => `k${index}`)],
    ['many numeric keys', keys(Math.floor(size / 14), (index) => String(index * 97))],
    ['one key many times', `{${times('"a":0,').slice(0, -1)}}`],
    ['one key', `{"${long(size - 20)}":0}`],
    ['keys of prototypes', keys(900, () => '__proto__', '{"constructor":{}}')],
    ['deep lists', `${times('[', 0.5)}${times(']', 0.5)}`],
    ['deep objects', `${times('{"a":', 0.8)}0${'}'.repeat(Math.floor((size * 0.8) / 5))}`],
    ['many numbers', list('0')],
    ['many strings', list('"a"')],
    ['many nulls', list('null')],
    ['many empty lists', list('[]')],
    ['many empty objects', list('{}')],
    ['many objects', list('{"type":"BODY"}')],
    ['a list of lists of 30 levels', list(`${'['.repeat(25)}${']'.repeat(25)}`)],
    ['a long number', `1${times('0')}`],
    ['a long fraction', `0.${times('0')}1`],
    ['a number beyond all', '1e999999'],
    ['a tree of buttons', list('{"type":"reply","reply":{"id":"1","title":"a"}}')],
    ['a tree of sections', list('{"title":"a","rows":[{"id":"1","title":"a"}]}')],
    ['a text of escapes', `"${times('\\u0001')}"`],
    ['a text of line breaks', `"${times('\\n')}"`],
    ...texts.map((unit): [string, string] => [
      `a text of ${unit}`,
      JSON.stringify(times(unit, (0.9 / Buffer.byteLength(unit)) * unit.length)),
    ]),
  ];
}

/** What is no JSON at all, found out late. */
export function brokenJson(size: number): [name: string, text: string][] {
  const times = (text: string): string => text.repeat(Math.floor(size / text.length));
  return [
    ['no JSON: an unfinished text', `"${times('a')}`],
    ['no JSON: escapes', `"${times('\\\\')}\\`],
    ['no JSON: digits', `${times('1')}x`],
    ['no JSON: white space', `${times(' ')}x`],
    ['no JSON: lines', `${times('\n')}x`],
    ['no JSON: brackets', times('[')],
    ['no JSON: commas', `[${times('0,')}`],
    ['no JSON: braces', times('{"a":')],
    ['no JSON: bytes', times('\u00ff')],
  ];
}
