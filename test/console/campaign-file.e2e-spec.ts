import {
  keyOfLine,
  linesOf,
  matchColumns,
  numberOf,
  numberProblem,
  readTable,
  recipientColumn,
  textOf,
  uuidV5,
} from '../../console/src/campaign-file.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const cellsOf = (bytes: Uint8Array) => readTable(bytes).rows.map(({ line, cells }) => [line, ...cells]);

describe('the file of a campaign', () => {
  it('is read as Excel and other programs write it', () => {
    const wanted = [
      [2, '+4915112345678', 'Zoë; "Z"', '4711'],
      [3, '+4915112345679', 'Bo', '4712'],
    ];
    const comma = 'phone,name,order\r\n+4915112345678,"Zoë; ""Z""",4711\r\n+4915112345679,Bo,4712\r\n';
    const semicolon = 'phone;name;order\n+4915112345678;"Zoë; ""Z""";4711\n+4915112345679;Bo;4712';
    const tab = 'phone\tname\torder\r+4915112345678\t"Zoë; ""Z"""\t4711\r+4915112345679\tBo\t4712';
    expect(cellsOf(utf8(comma))).toEqual(wanted);
    expect(cellsOf(utf8(`\uFEFF${semicolon}`))).toEqual(wanted);
    expect(cellsOf(Buffer.from(semicolon, 'latin1'))).toEqual(wanted);
    expect(cellsOf(Buffer.from(`\uFEFF${comma}`, 'utf16le'))).toEqual(wanted);
    expect(readTable(utf8(tab)).rows.map(({ cells }) => cells)).toEqual(wanted.map(([, ...cells]) => cells));
    expect(cellsOf(utf8(`sep=;\r\n${semicolon}`))).toEqual(
      wanted.map(([line, ...cells]) => [Number(line) + 1, ...cells]),
    );
    expect(textOf(new Uint8Array([0xe4, 0x3b, 0xdf]))).toBe('ä;ß');
  });

  it('keeps the lines at which records begin, and leaves out empty ones', () => {
    const { columns, rows } = readTable(utf8('to,text\n\n+4915112345678,"two\nlines"\n,,\n+4915112345679,one\n'));
    expect(columns).toEqual(['to', 'text']);
    expect(rows.map(({ line, cells }) => [line, cells[1]])).toEqual([
      [3, 'two\nlines'],
      [6, 'one'],
    ]);
  });

  it('may be without names', () => {
    const table = readTable(utf8('4915112345678;Ana\n4915112345679;Bo\n'));
    expect(table.columns).toEqual(['Column 1', 'Column 2']);
    expect(table.rows).toHaveLength(2);
    expect(recipientColumn(table)).toBe(0);
  });

  it.each([
    ['', 'no lines'],
    [' \n\n', 'no lines'],
    ['PK\u0000\u0003', 'no CSV'],
  ])('%j is refused in words', (text, words) => {
    expect(() => readTable(utf8(text))).toThrow(words);
  });

  it('has numbers as people write them', () => {
    for (const text of [
      '+49 151 1234-5678',
      '004915112345678',
      '4915112345678',
      `="+4915112345678"`,
      `'+4915112345678`,
    ])
      expect([text, numberOf(text)]).toEqual([text, '+4915112345678']);
    const wrong: [string, string][] = [
      ['', 'no number'],
      ['4.91511E+12', 'Excel'],
      ['4,91511E+12', 'Excel'],
      ['0151 12345678', 'country code'],
      ['Ana', 'no whole number'],
    ];
    for (const [text, words] of wrong) {
      expect(numberOf(text)).toBeNull();
      expect(numberProblem(text)).toContain(words);
    }
  });

  it('matches columns to variables by name, and numbered ones in order', () => {
    const table = readTable(utf8('Vorname,Telefon,Bestellung\nAna,+4915112345678,4711\n'));
    expect(recipientColumn(table)).toBe(1);
    expect(matchColumns(table.columns, 1, [{ name: '1' }, { name: '2' }])).toEqual([0, 2]);
    expect(matchColumns(table.columns, 1, [{ name: 'bestellung' }, { name: 'vor_name' }])).toEqual([2, 0]);
    expect(matchColumns(table.columns, 1, [{ name: 'city' }, { name: '1' }])).toEqual([-1, 0]);
    expect(matchColumns(table.columns, 1, [{ name: '1' }, { name: '2' }, { name: '3' }])).toEqual([0, 2, -1]);
  });

  it('gives each line of a recipient its number, whatever stands between them', () => {
    const text = 'to,name\n+4915112345678,Ana\n+49 151 12345678,\n0151,Bo\n004915112345678,Cy\n+4915112345679,De\n';
    const { lines, problems, repeated } = linesOf(readTable(utf8(text)), 0, [{ name: 'name', column: 1 }]);
    expect(lines).toEqual([
      { line: 2, recipient: '+4915112345678', nth: 1, values: ['Ana'] },
      { line: 5, recipient: '+4915112345678', nth: 3, values: ['Cy'] },
      { line: 6, recipient: '+4915112345679', nth: 1, values: ['De'] },
    ]);
    expect(problems.map(({ line }) => line)).toEqual([3, 4]);
    expect(repeated).toBe(1);
  });

  it('of 50,000 lines is read at once', () => {
    const text = Array.from({ length: 50_000 }, (_, n) => `+49151${10_000_000 + n};Ana ${n};"${n}"`).join('\r\n');
    const table = readTable(utf8(`to;name;order\r\n${text}`));
    expect(table.rows).toHaveLength(50_000);
    expect(table.rows.at(-1)).toEqual({ line: 50_001, cells: ['+4915110049999', 'Ana 49999', '49999'] });
  });
});

describe('the key of a line', () => {
  const WORKSPACE = '01936f70-1c3d-7a55-9e21-0b1c2d3e4f5a';
  const line = { line: 2, recipient: '+4915112345678', nth: 1, values: ['Ana'] };

  it('is a UUID of version 5', async () => {
    // The example of RFC 9562, appendix A.4.
    expect(await uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
  });

  it('depends on workspace, tag, recipient and the how-manieth line of that recipient, and on nothing else', async () => {
    const key = await keyOfLine(WORKSPACE, 'sale', line);
    expect(await keyOfLine(WORKSPACE, 'sale', { ...line, line: 99, values: ['Bo'] })).toBe(key);
    const others = await Promise.all([
      keyOfLine('01936f70-1c3d-7a55-9e21-0b1c2d3e4f5b', 'sale', line),
      keyOfLine(WORKSPACE, 'sales', line),
      keyOfLine(WORKSPACE, 'sale', { ...line, recipient: '+4915112345679' }),
      keyOfLine(WORKSPACE, 'sale', { ...line, nth: 2 }),
    ]);
    expect(new Set([key, ...others]).size).toBe(5);
  });
});
