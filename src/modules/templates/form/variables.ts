import type { ParameterFormat, TemplateComponent, TemplateVariable } from '../templates.types.js';
import { examplesIn } from './examples.js';
import { componentOf, firstText, own, ownArray, ownText, ownWord } from './json-reading.js';
import { variableNamesIn } from './template-text.js';

/**
 * Every place that a send of this template fills: in the order of the components, `{{1}}` before `{{2}}`, names in
 * order of appearance. Templates for codes, whose words are fixed, have the code in the body and in their button.
 */
export function variablesOf(components: readonly TemplateComponent[], format: ParameterFormat): TemplateVariable[] {
  const buttons = ownArray(componentOf(components, 'BUTTONS'), 'buttons');
  const hasCodeButton = buttons.some((button) => ownWord(button, 'type') === 'OTP');
  return components.flatMap((component): TemplateVariable[] => {
    switch (ownWord(component, 'type')) {
      case 'HEADER':
        return textVariables(component, 'header', format);
      case 'BODY':
        return isFixed(component, hasCodeButton)
          ? [{ component: 'body', name: '1', example: null }]
          : textVariables(component, 'body', format);
      case 'BUTTONS':
        return buttonVariables(component);
      case 'CAROUSEL':
        return cardVariables(component, format);
      case 'LIMITED_TIME_OFFER':
        return own(own(component, 'limited_time_offer'), 'has_expiration') === true
          ? [{ component: 'limited_time_offer', name: 'expiration_time_ms', example: null }]
          : [];
      default:
        return [];
    }
  });
}

/** The names in a text as a send fills them: by number, or in order of appearance. */
export function namesInOrder(text: string, format: ParameterFormat): string[] {
  const names = variableNamesIn(text);
  return format === 'NAMED' ? names : names.toSorted((a, b) => Number(a) - Number(b) || 0);
}

/** The parameter that fills a button, null where it needs none. A code's button is a link that carries the code. */
export function buttonVariable(button: unknown): { name: string; example: string | null } | null {
  const example = firstText(own(button, 'example'));
  switch (ownWord(button, 'type')) {
    case 'URL': {
      const [name] = variableNamesIn(ownText(button, 'url') ?? '');
      return name === undefined ? null : { name, example };
    }
    case 'COPY_CODE':
      return { name: 'coupon_code', example };
    case 'OTP':
      return { name: '1', example: null };
    default:
      return null;
  }
}

function textVariables(component: unknown, part: 'header' | 'body', format: ParameterFormat): TemplateVariable[] {
  const examples = examplesIn(component, part);
  return namesInOrder(ownText(component, 'text') ?? '', format).map((name) => ({
    component: part,
    name,
    example: examples.get(name) ?? null,
  }));
}

function buttonVariables(component: unknown): TemplateVariable[] {
  return ownArray(component, 'buttons').flatMap((button, buttonIndex): TemplateVariable[] => {
    const variable = buttonVariable(button);
    return variable === null ? [] : [{ component: 'button', buttonIndex, ...variable }];
  });
}

function cardVariables(carousel: unknown, format: ParameterFormat): TemplateVariable[] {
  return ownArray(carousel, 'cards').flatMap((card, cardIndex): TemplateVariable[] => {
    const components = ownArray(card, 'components');
    return [
      ...textVariables(componentOf(components, 'BODY'), 'body', format),
      ...buttonVariables(componentOf(components, 'BUTTONS')),
    ].map((variable) => ({ ...variable, component: 'carousel', cardIndex }));
  });
}

/** A body without words of its own belongs to a template for codes. */
function isFixed(body: unknown, hasCodeButton: boolean): boolean {
  return ownText(body, 'text') === null && (hasCodeButton || own(body, 'add_security_recommendation') !== undefined);
}
