import { invalidParam, isObject, type JsonObject, requireOneOf } from '../messages/checks.js';
import { checkAuthenticationComponents } from './authentication-components.js';
import { checkButtons } from './button-checks.js';
import { checkBody, checkFooter, checkHeader, type ComponentFrame } from './component-parts.js';
import { checkCards, checkLimitedTimeOffer } from './special-component-checks.js';
import { missingField, objectList } from './template-error.js';
import type { TemplateComponent } from './template.types.js';

const TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER', 'CALL_PERMISSION_REQUEST'];
const BODY_LIMIT = 1024;
/** A body next to a limited-time offer is held to less. */
const OFFER_BODY_LIMIT = 600;

/**
 * Checks the components of a new or edited template the way the platform does, and gives them as it stores them: types
 * in capitals, an authentication template with its fixed texts.
 * @throws GraphError 100, most with a subcode
 */
export function checkComponents(given: unknown, frame: ComponentFrame): TemplateComponent[] {
  if (given === undefined || given === null) throw invalidParam('The parameter components is required.');
  const components = objectList(given, 'components', 1, 10).map(normalised);
  const types = components.map(({ type }, i) => requireOneOf(type, TYPES, `components[${i}]['type']`));
  const twice = types.find((type, i) => types.indexOf(type) !== i);
  if (twice !== undefined) throw invalidParam(`Param components has more than one component of type ${twice}.`);
  if (!types.includes('BODY')) throw missingField('BODY', 'text');
  if (frame.category === 'AUTHENTICATION') return checkAuthenticationComponents(components);
  const offer = components.find(({ type }) => type === 'LIMITED_TIME_OFFER');
  for (const component of components) checkComponent(component, frame, offer !== undefined);
  if (offer !== undefined) checkLimitedTimeOffer(offer, components, frame.category);
  return components;
}

function checkComponent(component: TemplateComponent, frame: ComponentFrame, hasOffer: boolean): void {
  if (component.type === 'HEADER') checkHeader(component, frame);
  else if (component.type === 'BODY') checkBody(component, frame, hasOffer ? OFFER_BODY_LIMIT : BODY_LIMIT);
  else if (component.type === 'FOOTER') checkFooter(component);
  else if (component.type === 'BUTTONS') checkButtons(component);
  else if (component.type === 'CAROUSEL') checkCards(component, frame);
}

/** Types and formats may come in either case; they are stored in capitals. */
function normalised(component: JsonObject): TemplateComponent {
  const upper = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value);
  const copy = { ...component, type: upper(component.type) } as TemplateComponent;
  if (component.format !== undefined) copy.format = upper(component.format) as string;
  if (Array.isArray(component.buttons)) {
    copy.buttons = component.buttons.map((button: unknown) => (isObject(button) ? normalised(button) : button)) as [];
  }
  if (Array.isArray(component.cards)) {
    copy.cards = component.cards.map((card: unknown) => {
      if (!isObject(card) || !Array.isArray(card.components)) return card;
      return {
        ...card,
        components: card.components.map((part: unknown) => (isObject(part) ? normalised(part) : part)),
      };
    });
  }
  return copy;
}
