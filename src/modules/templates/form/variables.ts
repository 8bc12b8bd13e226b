import type { ParameterFormat, TemplateComponent, TemplateVariable } from '../templates.types.js';
import { ownText, ownWord } from './json-reading.js';
import { variableNamesIn } from './template-text.js';

/** Every place that a send of this template fills, in order of appearance. */
export function variablesOf(components: readonly TemplateComponent[], _format: ParameterFormat): TemplateVariable[] {
  return components.flatMap((component) => {
    const type = ownWord(component, 'type');
    if (type !== 'HEADER' && type !== 'BODY') return [];
    const place = type === 'HEADER' ? 'header' : 'body';
    return variableNamesIn(ownText(component, 'text') ?? '').map((name) => ({ component: place, name, example: null }));
  });
}
