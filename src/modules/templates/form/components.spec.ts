import fc from 'fast-check';
import { componentsFromBody } from '../template-input.js';
import { fillIn, placeholdersIn, variableNamesIn, variablesOf } from './components.js';

describe('variables in a text', () => {
  it.each([
    ['Hi {{1}}, {{2}} and {{1}}', ['1', '2']],
    ['{{first_name}}{{ order }}', ['first_name', 'order']],
    ['{{{1}}}', ['1']],
    ['{{a{{1}}', ['1']],
    ['{{}} {{ }} {1} {{1} }}{{', []],
    ['', []],
  ])('of %j are %j', (text, names) => {
    expect(variableNamesIn(text)).toEqual(names);
  });

  it('cut out leave the rest of the text, whatever it is', () => {
    const piece = fc.constantFrom('{', '}', '{{', '}}', '1', 'a', ' ', '{{1}}', '😀');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        expect(fillIn(text, () => undefined)).toBe(text);
        expect(fillIn(text, () => '<>').split('<>')).toHaveLength(placeholdersIn(text).length + 1);
        for (const { name, start, end } of placeholdersIn(text)) expect(text.slice(start, end)).toContain(name);
      }),
    );
  });

  it('are filled once: a value is never read again', () => {
    expect(fillIn('{{1}} {{2}}', (name) => (name === '1' ? '{{2}}' : '$& {{1}}'))).toBe('{{2}} $& {{1}}');
  });
});

describe('a template given as its body', () => {
  it.each([
    ['without variables', 'Hello there', undefined, 'POSITIONAL', undefined],
    ['with numbers', 'Hi {{2}}, {{1}}!', ['Ana', 'Bo'], 'POSITIONAL', { body_text: [['Ana', 'Bo']] }],
    [
      'with names, in order of appearance',
      'Hi {{first_name}}, {{day}}!',
      ['Ana', 'Monday'],
      'NAMED',
      {
        body_text_named_params: [
          { param_name: 'first_name', example: 'Ana' },
          { param_name: 'day', example: 'Monday' },
        ],
      },
    ],
  ])('%s', (_name, body, examples, parameterFormat, example) => {
    expect(componentsFromBody(body, examples)).toEqual({
      parameterFormat,
      components: [{ type: 'BODY', text: body, ...(example !== undefined && { example }) }],
    });
  });

  it.each([
    ['too few examples', 'Hi {{1}} and {{2}}!', ['Ana'], 'variable_examples'],
    ['too many examples', 'Hi {{1}}!', ['Ana', 'Bo'], 'variable_examples'],
    ['examples for no variable', 'Hi!', ['Ana'], 'variable_examples'],
    ['no examples', 'Hi {{name}}!', undefined, 'variable_examples'],
    ['an empty example', 'Hi {{1}} and {{2}}!', ['Ana', ' '], 'variable_examples[1]'],
  ])('is refused with %s', (_name, body, examples, field) => {
    const details = [{ field, rule: expect.any(String), message: expect.stringContaining(field) }];
    expect(() => componentsFromBody(body, examples)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', extra: expect.objectContaining({ details }) }),
    );
  });
});

describe('the variables of a template', () => {
  it('are listed with their place and example', () => {
    const components = [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['42'] } },
      { type: 'BODY', text: 'On {{2}}, {{1}}.', example: { body_text: [['Ana', 'Monday']] } },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop' },
          { type: 'URL', text: 'Track', url: 'https://x/{{1}}', example: ['https://x/42'] },
          { type: 'COPY_CODE', example: 'OFF25' },
        ],
      },
    ];
    expect(variablesOf({ category: 'UTILITY', parameterFormat: 'POSITIONAL', components })).toEqual([
      { component: 'header', button_index: null, card_index: null, name: '1', example: '42' },
      { component: 'body', button_index: null, card_index: null, name: '1', example: 'Ana' },
      { component: 'body', button_index: null, card_index: null, name: '2', example: 'Monday' },
      { component: 'button', button_index: 1, card_index: null, name: '1', example: 'https://x/42' },
      { component: 'button', button_index: 2, card_index: null, name: 'coupon_code', example: 'OFF25' },
    ]);
  });

  it('of a carousel name their card', () => {
    const body = { type: 'BODY', text: 'Only {{1}}.', example: { body_text: [['5 €']] } };
    const buttons = {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: 'Buy', url: 'https://x/{{1}}', example: ['a'] }],
    };
    const components = [{ type: 'CAROUSEL', cards: [{ components: [body] }, { components: [body, buttons] }] }];
    expect(variablesOf({ category: 'UTILITY', parameterFormat: 'POSITIONAL', components })).toEqual([
      { component: 'carousel', card_index: 0, button_index: null, name: '1', example: '5 €' },
      { component: 'carousel', card_index: 1, button_index: null, name: '1', example: '5 €' },
      { component: 'carousel', card_index: 1, button_index: 0, name: '1', example: 'a' },
    ]);
  });
});
