import fc from 'fast-check';
import { attachment } from './content-disposition.js';

describe('attachment', () => {
  it.each([
    ['a.pdf', `attachment; filename="a.pdf"; filename*=UTF-8''a.pdf`],
    ['Übung 1.pdf', `attachment; filename="_bung 1.pdf"; filename*=UTF-8''%C3%9Cbung%201.pdf`],
    [`a"b;c'd.pdf`, `attachment; filename="a_b_c'd.pdf"; filename*=UTF-8''a%22b%3Bc%27d.pdf`],
  ])('%s', (name, header) => expect(attachment(name)).toBe(header));

  it('is a safe header whatever the name, and loses nothing of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 240 }), (name) => {
        const header = attachment(name);
        expect(header).toMatch(/^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[A-Za-z0-9%._~-]+$/);
        expect(decodeURIComponent(header.split("UTF-8''")[1] ?? '')).toBe(name);
      }),
    );
  });
});
