import type { TemplateForm } from '../templates.types.js';
import { bodyTextOf } from './authentication-text.js';
import { asText, componentOf, own, ownList, ownText, ownWord, type JsonObject } from './json-reading.js';
import { fillIn } from './template-text.js';

/** Why the platform would refuse the parameters of a send. */
export interface ParameterMismatch {
  expected: object;
  given: object;
  message: string;
}

/** What the platform would refuse (132000, 132012, 132018), the first of it; null where nothing is known to be wrong. */
export function checkSendParameters(template: TemplateForm, sent: readonly JsonObject[]): ParameterMismatch | null {
  const expected = headerMediaOf(template.components);
  const header = componentOf(sent, 'HEADER');
  const given = ownList(header, 'parameters').length;
  if (expected === null || given === 1) return null;
  return {
    expected: { component: 'header', type: expected },
    given: { component: 'header', parameters: given },
    message: `The header takes one parameter, of type ${expected}.`,
  };
}

/** The body as its reader sees it; null where the template has no body text. Variables without a value stay. */
export function renderBody(template: TemplateForm, sent: readonly JsonObject[]): string | null {
  const text = bodyTextOf(template);
  if (text === null) return null;
  const parameters = ownList(componentOf(sent, 'BODY'), 'parameters');
  const values = new Map<string, string>();
  for (const [index, parameter] of parameters.entries()) {
    const value = parameterText(parameter);
    if (value !== null) values.set(ownText(parameter, 'parameter_name') ?? String(index + 1), value);
  }
  return fillIn(text, (name) => values.get(name));
}

function parameterText(parameter: unknown): string | null {
  const localized = own(parameter, ownText(parameter, 'type') ?? '');
  return ownText(localized, 'fallback_value') ?? asText(own(parameter, 'text'));
}

/** Kind of media that the header takes, null where it takes none. What the platform calls GIF is sent as a video. */
export function headerMediaOf(components: readonly unknown[]): 'image' | 'video' | 'document' | null {
  switch (ownWord(componentOf(components, 'HEADER'), 'format')) {
    case 'IMAGE':
      return 'image';
    case 'VIDEO':
    case 'GIF':
      return 'video';
    case 'DOCUMENT':
      return 'document';
    default:
      return null;
  }
}
