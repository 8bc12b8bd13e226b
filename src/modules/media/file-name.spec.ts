import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.js';
import { cleanFileName } from './file-name.js';

describe('cleanFileName', () => {
  it.each([
    ['invoice.pdf', 'invoice.pdf'],
    ['  a b.pdf ', 'a b.pdf'],
    ['/etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['a\r\nSet-Cookie: x.pdf', 'aSet-Cookie: x.pdf'],
    ['a\0.pdf', 'a.pdf'],
    ['evil\u202Efdp.exe', 'evilfdp.exe'],
    ['a\u200Bb\uFEFF.txt', 'ab.txt'],
    ['e\u0301.txt', '\u00e9.txt'],
    ['👩‍💻.png', '👩‍💻.png'],
    ['..', null],
    ['...', null],
    ['a/', null],
    ['', null],
    [' ', null],
    [null, null],
    [undefined, null],
  ])('%j', (name, clean) => expect(cleanFileName(name)).toBe(clean));

  it('keeps the extension of a long name, and no half characters', () => {
    expect(cleanFileName(`${'x'.repeat(500)}.jpeg`)).toBe(`${'x'.repeat(235)}.jpeg`);
    expect(cleanFileName('🎉'.repeat(200))).toBe('🎉'.repeat(120));
    expect(cleanFileName(`a.${'x'.repeat(500)}`)).toHaveLength(240);
  });

  it('is harmless data whatever comes, and stays as it is when it is cleaned again', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 600 }), (name) => {
        const clean = cleanFileName(name);
        if (clean === null) return;
        expect(clean.length).toBeGreaterThan(0);
        expect(clean.length).toBeLessThanOrEqual(240);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cs}/\\\u202A-\u202E\u2066-\u2069]/u);
        expect(cleanFileName(clean)).toBe(clean);
      }),
      { numRuns: 2_000 },
    );
  });
});
