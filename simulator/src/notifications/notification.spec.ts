import { escapedJson, signBody } from './notification.js';

describe('a signed body', () => {
  it.each([
    [{ text: 'é' }, '{"text":"\\u00e9"}'],
    [{ text: 'a/b' }, '{"text":"a\\/b"}'],
    [{ text: '\u{1F44D}' }, '{"text":"\\ud83d\\udc4d"}'],
    [{ text: '"\\\n' }, '{"text":"\\"\\\\\\n"}'],
    [{ text: '\u007f plain' }, '{"text":"\u007f plain"}'],
    [{ ключ: 1 }, '{"\\u043a\\u043b\\u044e\\u0447":1}'],
  ])('%j is written with escapes only', (value, text) => {
    expect(escapedJson(value)).toBe(text);
    expect(JSON.parse(text)).toEqual(value);
  });

  it('is signed over exactly the bytes that are sent', () => {
    // Both sums were computed by another program over the bytes below.
    const { bytes, headers } = signBody({ text: 'Zoé — \u{1F44D} a/b', n: 1 }, 'simulator-app-secret');
    expect(bytes.toString('latin1')).toBe('{"text":"Zo\\u00e9 \\u2014 \\ud83d\\udc4d a\\/b","n":1}');
    expect(headers['x-hub-signature-256']).toBe(
      'sha256=bdb591e6863d211cfe4991775530a7816085f8e956d303a5de0f9793b7044749',
    );
    expect(headers['x-hub-signature']).toBe('sha1=680aa5c95648171212190d3ac00a279d08f30519');
  });
});
