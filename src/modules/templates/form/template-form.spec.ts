import type { TemplateForm } from '../templates.types.js';
import { componentsFromBody } from '../template-input.js';
import { checkTemplate } from './check-template.js';
import { componentsOf, previewTemplate, renderBody } from './preview.js';
import { checkSendParameters } from './send-parameters.js';
import { variablesOf } from './components.js';

/** With values of header and body alone. */
const preview = (
  template: TemplateForm,
  values: Parameters<typeof componentsOf>[1],
): ReturnType<typeof previewTemplate> => previewTemplate(template, componentsOf(template, values));

/**
 * The life of one template, from a text with two variables to a message: what each function is for, in order.
 */
describe('a shop notifies its customers that an order has left', () => {
  const identity = { name: 'order_left', language: 'en_US', category: 'UTILITY' } as const;
  const written = componentsFromBody('Hi {{first_name}}, your order {{order}} has left us.', ['Ana', '4711']);
  const template = { ...identity, ...written };

  it('writes the text with names for what changes, and an example for each', () => {
    expect(template).toEqual({
      name: 'order_left',
      language: 'en_US',
      category: 'UTILITY',
      parameterFormat: 'NAMED',
      components: [
        {
          type: 'BODY',
          text: 'Hi {{first_name}}, your order {{order}} has left us.',
          example: {
            body_text_named_params: [
              { param_name: 'first_name', example: 'Ana' },
              { param_name: 'order', example: '4711' },
            ],
          },
        },
      ],
    });
  });

  it('gets an error at once for what WhatsApp would refuse, before any review', () => {
    const hasty = componentsFromBody('{{first_name}}, your order {{order}}', ['Ana', '4711']);
    expect(checkTemplate({ ...identity, ...hasty })).toEqual([
      {
        field: 'components[0].text',
        rule: 'variable_position',
        message: 'components[0].text must neither begin nor end with a variable: add words around it.',
      },
    ]);
    expect(checkTemplate(template)).toEqual([]);
  });

  it('asks what a message must bring', () => {
    expect(variablesOf(template)).toEqual([
      { component: 'body', button_index: null, card_index: null, name: 'first_name', example: 'Ana' },
      { component: 'body', button_index: null, card_index: null, name: 'order', example: '4711' },
    ]);
  });

  it('looks at the message before the first one goes out', () => {
    expect(preview(template, { body: ['Bo'] })).toMatchObject({
      body: 'Hi Bo, your order {{order}} has left us.',
      missing: ['body.{{order}}'],
    });
  });

  it('sends it with names, in any order; the journal shows what the customer reads', () => {
    const sent = [
      {
        type: 'body',
        parameters: [
          { type: 'text', parameter_name: 'order', text: '4712' },
          { type: 'text', parameter_name: 'first_name', text: 'Bo' },
        ],
      },
    ];
    expect(checkSendParameters(template, sent)).toBeNull();
    expect(renderBody(template, sent)).toBe('Hi Bo, your order 4712 has left us.');
  });

  it('gets an error before the message is accepted where a value is missing', () => {
    const sent = [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'first_name', text: 'Bo' }] }];
    expect(checkSendParameters(template, sent)).toEqual({
      expected: { component: 'body', parameters: 2 },
      given: { component: 'body', parameters: 1 },
      message: 'The body takes 2 parameters, not 1.',
    });
  });
});
