import { exampleOf, type ExampleSchema } from './openapi-operations.js';

const THING: ExampleSchema = {
  type: 'object',
  required: ['id', 'kind'],
  properties: {
    id: { type: 'string', example: 't-1' },
    kind: { type: 'string', enum: ['small', 'large'] },
    note: { type: 'string' },
    gone_at: { type: ['string', 'null'], example: null },
    tags: { type: 'array', items: { type: 'string', examples: ['red'] } },
  },
};

const resolve = (ref: string): ExampleSchema => (ref === '#/components/schemas/Thing' ? THING : {});

describe('exampleOf', () => {
  it('puts together what the parts of a schema show, and leaves out what may be left out', () => {
    const list = { properties: { data: { items: { $ref: '#/components/schemas/Thing' } } }, required: ['data'] };
    expect(exampleOf(list, resolve)).toEqual({ data: [{ id: 't-1', kind: 'small', gone_at: null, tags: ['red'] }] });
  });

  it('takes the first of several forms, and the parts of a whole together', () => {
    expect(exampleOf({ oneOf: [{ const: 'v1' }, { const: 'v2' }] }, resolve)).toBe('v1');
    const whole = { allOf: [{ $ref: '#/components/schemas/Thing' }, { properties: { size: { default: 3 } } }] };
    expect(exampleOf(whole, resolve)).toMatchObject({ id: 't-1', size: 3 });
  });

  it('names the required field that shows nothing', () => {
    const schema = { required: ['data'], properties: { data: { required: ['to'], properties: { to: {} } } } };
    expect(() => exampleOf(schema, resolve)).toThrow('data.to needs an example');
  });
});
