import fc from 'fast-check';
import { jsonFaultAt } from './json-fault-place.js';

describe('jsonFaultAt', () => {
  it.each([
    ['{', 1],
    ['', 0],
    ['  ', 2],
    ['{"a":1,}', 7],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":1} x', 8],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['[1}', 2],
    ['01', 0],
    ['1.e5', 0],
    ['{"a": hunter2}', 6],
    ['{"a": "x\u0000"}', 6],
    ['{"a": "\\x"}', 6],
    ['nulls', 0],
    ['{"a":tru}', 5],
    ['"open', 0],
  ])('%j is at fault at %i', (text, at) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonFaultAt(text)).toBe(at);
  });

  it('finds no fault before the end of any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonFaultAt(text)).toBe(text.length);
      }),
    );
  });

  it('finds what was broken at or before the end, wherever a text is cut', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        const part = text.slice(0, cut % text.length);
        expect(jsonFaultAt(part)).toBeLessThanOrEqual(part.length);
      }),
    );
  });
});
