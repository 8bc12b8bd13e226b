import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.js';
import type { ErrorDetail } from './app-error.js';
import { array, boolean, number, object, oneOf, string, tagged, uuid, type Shape } from './shape.js';

function violationsOf(shape: Shape, value: unknown, field = 'f'): ErrorDetail[] {
  const violations: ErrorDetail[] = [];
  shape.check(value, field, violations);
  return violations;
}
const rules = (shape: Shape, value: unknown): string[] =>
  violationsOf(shape, value, '').map((violation) => `${violation.field}:${violation.rule}`);

describe('shapes', () => {
  it.each<[unknown, string[]]>([
    ['', ['length']],
    ['x', []],
    ['x'.repeat(5), []],
    ['x'.repeat(6), ['length']],
    ['😀'.repeat(5), []],
    ['😀'.repeat(6), ['length']],
    [5, ['type']],
    [null, ['type']],
    [['x'], ['type']],
  ])('a string of 1 to 5 characters takes %j: %j', (value, expected) => {
    expect(violationsOf(string({ min: 1, max: 5 }), value).map((violation) => violation.rule)).toEqual(expected);
  });

  it('names nested, missing and unknown fields', () => {
    const shape = object({
      required: { id: uuid(), text: object({ required: { body: string() }, optional: { flag: boolean() } }) },
      optional: { kind: oneOf(['a', 'b']), list: array(string({ max: 2 }), { min: 1, max: 2 }) },
    });
    const id = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
    expect(rules(shape, { id, text: { body: '' } })).toEqual([]);
    expect(rules(shape, { id: 'x', text: { flag: 1, other: 2 }, kind: 'c', list: ['abc'], extra: 1 })).toEqual([
      'id:format',
      'text.body:required',
      'text.flag:type',
      'text.other:unknown_field',
      'kind:one_of',
      'list[0]:length',
      'extra:unknown_field',
    ]);
    expect(rules(shape, { id, text: 'no', list: [] })).toEqual(['text:type', 'list:length']);
    expect(rules(shape, null)).toEqual([':type']);
    expect(rules(shape, [])).toEqual([':type']);
  });

  it.each<[unknown, string[]]>([
    [-90, []],
    [90, []],
    [0.5, []],
    [90.1, ['range']],
    [-91, ['range']],
    [Number.NaN, ['range']],
    ['5', ['type']],
    [null, ['type']],
  ])('a number of -90 to 90 takes %j: %j', (value, expected) => {
    expect(violationsOf(number({ min: -90, max: 90 }), value).map((violation) => violation.rule)).toEqual(expected);
  });

  it('reads an object in the form that its word names', () => {
    const form = (word: string, key: string) => object({ required: { type: oneOf([word]), [key]: string() } });
    const shape = tagged('type', { a: form('a', 'x'), b: form('b', 'y') });
    expect(rules(shape, { type: 'a', x: '' })).toEqual([]);
    expect(rules(shape, { type: 'b', x: '' })).toEqual(['y:required', 'x:unknown_field']);
    expect(rules(shape, { x: '' })).toEqual(['type:required']);
    for (const type of ['c', 'constructor', 5]) expect(rules(shape, { type })).toEqual(['type:one_of']);
    expect(rules(shape, null)).toEqual([':type']);
    expect(tagged('type', { a: form('a', 'x') }).schema).toEqual(form('a', 'x').schema);
  });

  it('lets other keys pass where it is open', () => {
    expect(rules(object({ open: true, optional: { a: string() } }), { a: 1, b: 2 })).toEqual(['a:type']);
  });

  it('agrees with its own JSON Schema', () => {
    const shape = object({
      required: { a: string({ min: 1, max: 3 }), b: boolean() },
      optional: { c: oneOf(['x', 'y']), d: array(string({ pattern: /^[0-9]+$/ }), { min: 1, max: 2 }) },
    });
    const validate = new Ajv2020({ allErrors: true }).compile(shape.schema);
    const loose = fc.oneof(
      fc.string({ maxLength: 5, unit: 'grapheme' }),
      fc.boolean(),
      fc.constantFrom('x', 'y', '1'),
      fc.array(fc.constantFrom('1', '23', 'z', 4), { maxLength: 3 }),
      fc.constant(null),
    );
    const value = fc.record({ a: loose, b: loose, c: loose, d: loose, e: loose }, { requiredKeys: [] });
    fc.assert(
      fc.property(value, (candidate) => {
        expect(violationsOf(shape, candidate, '').length === 0).toBe(validate(candidate));
      }),
      { numRuns: runs(200) },
    );
  });
});
