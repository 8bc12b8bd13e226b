import { fault } from '../../../common/shape.js';
import type { ParameterFormat, TemplateComponent } from '../templates.types.js';
import type { Fault } from './check-template.js';
import { variableNamesIn } from './template-text.js';

/**
 * Components of a template that is given as its body alone. The examples stand in the order in which the variables
 * first appear, or, for `{{1}}` to `{{n}}`, in the order of the numbers.
 *
 * @returns faults (fields `body` and `variable_examples`) where examples and variables do not fit. The text itself is
 *   for checkTemplate to check.
 */
export function componentsFromBody(
  body: string,
  examples: readonly string[] | undefined,
): { components: TemplateComponent[]; parameterFormat: ParameterFormat } | { faults: Fault[] } {
  const names = variableNamesIn(body);
  const given = examples ?? [];
  if (given.length !== names.length) {
    const message = `variable_examples must have one example for each variable of body: ${names.length}, not ${given.length}.`;
    return { faults: [fault('variable_examples', 'examples', message)] };
  }
  const named = names.some((name) => !/^\d+$/.test(name));
  const blank = given.findIndex((example) => typeof example !== 'string' || example.trim() === '');
  if (blank !== -1) {
    const field = `variable_examples[${blank}]`;
    return { faults: [fault(field, 'required', `${field} must be an example of what the variable will hold.`)] };
  }
  const example = named
    ? { body_text_named_params: names.map((name, index) => ({ param_name: name, example: given[index] })) }
    : { body_text: [[...given]] };
  const component: TemplateComponent =
    names.length === 0 ? { type: 'BODY', text: body } : { type: 'BODY', text: body, example };
  return { components: [component], parameterFormat: named ? 'NAMED' : 'POSITIONAL' };
}
