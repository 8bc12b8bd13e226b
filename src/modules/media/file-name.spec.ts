import fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { anyText } from '../../../test/support/any-text.js';
import { cleanFileName, contentDisposition, servedName, uploadName } from './file-name.js';

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
    ['x\u0300\u200b\u1ab5.txt', 'x\u1ab5\u0300.txt'],
    ['e\u200b\u0301.txt', '\u00e9.txt'],
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
      { numRuns: runs(500) },
    );
  });
});

describe('the name of a served file', () => {
  it.each([
    ['a.png', 'image/png', 'a.png'],
    ['A.PNG', 'image/png', 'A.PNG'],
    ['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
    ['list.csv', 'text/plain', 'list.csv'],
    ['voice.opus', 'audio/ogg; codecs=opus', 'voice.opus'],
    ['customers.zip', 'application/zip', 'customers.zip'],
    ['README', 'application/zip', 'README'],
    [null, 'application/pdf', 'id.pdf'],
    [null, 'application/zip', 'id.bin'],
  ])('%s of %s is %s', (filename, mimeType, served) => {
    expect(servedName(filename, 'id', mimeType)).toBe(served);
  });

  it.each([
    ['a.html', 'image/png', 'a.html.png'],
    ['a.png.HTML', 'image/png', 'a.png.HTML.png'],
    ['a.svg', 'text/plain', 'a.svg.txt'],
    ['a.js', 'text/plain', 'a.js.txt'],
    ['a', 'application/pdf', 'a.pdf'],
    ['report 2026.01', 'application/pdf', 'report 2026.01.pdf'],
    ['a.html', 'application/zip', 'a.html.bin'],
    ['a.html.', 'application/zip', 'a.html..bin'],
    ['a.exe ', 'application/octet-stream', 'a.exe .bin'],
    ['a.png.', 'image/png', 'a.png..png'],
  ])('%s of %s becomes %s', (filename, mimeType, served) => {
    expect(servedName(filename, 'id', mimeType)).toBe(served);
  });
});

describe('attachment', () => {
  it.each([
    ['a.pdf', `attachment; filename="a.pdf"; filename*=UTF-8''a.pdf`],
    ['Übung 1.pdf', `attachment; filename="_bung 1.pdf"; filename*=UTF-8''%C3%9Cbung%201.pdf`],
    [`a"b;c'd.pdf`, `attachment; filename="a_b_c'd.pdf"; filename*=UTF-8''a%22b%3Bc%27d.pdf`],
  ])('%s', (name, header) => expect(contentDisposition('attachment', name)).toBe(header));

  it('is a safe header whatever the name, and loses nothing of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 240 }), (name) => {
        const header = contentDisposition('attachment', name);
        expect(header).toMatch(/^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[A-Za-z0-9%._~-]+$/);
        expect(decodeURIComponent(header.split("UTF-8''")[1] ?? '')).toBe(name);
      }),
    );
  });
});

describe('the name of an upload', () => {
  it.each([
    ['image/jpeg', 'holiday.jpeg', 'file.jpg'],
    ['image/jpeg', 'virus.exe', 'file.jpg'],
    ['audio/ogg; codecs=opus', null, 'file.ogg'],
    ['Application/PDF', 'x', 'file.pdf'],
    ['application/zip', 'secret plans.ZIP', 'file.zip'],
    ['application/zip', '../../a.b/c', 'file.bin'],
    ['application/zip', 'a."\r\n', 'file.bin'],
    ['', null, 'file.bin'],
  ])('of %j called %j is %s', (mimeType, filename, expected) => {
    expect(uploadName(mimeType, filename)).toBe(expected);
  });
});
