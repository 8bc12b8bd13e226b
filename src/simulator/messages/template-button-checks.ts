import { GraphError } from '../graph-error.js';
import type { TemplateButton } from '../templates/template.types.js';
import { invalidValue, type JsonObject, longerThan, missing } from './checks.js';
import {
  checkCount,
  formatMismatch,
  readParameters,
  type SentComponent,
  typed,
  valueOf,
  variablesIn,
} from './template-parameters.js';

const PAYLOAD_LIMIT = 256;
const COUPON_LIMIT = 20;

/** What `sub_type` a button of the template is addressed by. A one-time password travels as a link. */
const SUB_TYPES: Readonly<Record<string, string>> = { OTP: 'URL' };

/** Parameters that a button may have beside none at all. */
const OPTIONAL: readonly string[] = ['QUICK_REPLY', 'FLOW', 'CATALOG', 'MPM', 'SPM', 'VOICE_CALL'];

/**
 * Checks what is sent for the buttons of a template, or of a card.
 * @throws GraphError 131008 for a value that is missing, 131009, 132000, 132012 or 132018 for one that is wrong
 */
export function checkSentButtons(buttons: readonly TemplateButton[], components: readonly SentComponent[]): void {
  const sent = new Map<number, SentComponent>();
  for (const component of components.filter(({ type }) => type === 'BUTTON')) {
    const index = Number(component.content.index ?? 0);
    const button = buttons[index];
    if (button === undefined) {
      throw invalidValue(`buttons: the template has no button at index ${String(component.content.index)}`);
    }
    if (sent.has(index)) throw invalidValue(`buttons: index ${index} is given twice`);
    sent.set(index, component);
  }
  buttons.forEach((button, index) => {
    const component = sent.get(index);
    if (needsParameter(button) && (component === undefined || readParameters(component).length === 0)) {
      const label = button.type === 'COPY_CODE' ? 'Copy code' : 'Url';
      throw missing(`buttons: Button at index ${index} of type ${label} requires a parameter`);
    }
  });
  for (const [index, component] of sent) checkButton(buttons[index] as TemplateButton, index, component);
}

function checkButton(button: TemplateButton, index: number, component: SentComponent): void {
  const subType = typed(component.content.sub_type);
  const expected = SUB_TYPES[button.type] ?? button.type;
  if (subType !== '' && subType !== expected) throw formatMismatch(`buttons: index ${index}`, expected, subType);
  const [parameter, ...more] = readParameters(component);
  if (parameter === undefined) return;
  if (!needsParameter(button) && !OPTIONAL.includes(button.type)) {
    throw new GraphError(132018, {
      details: `buttons: Button at index ${index} of type ${button.type} does not require parameters`,
    });
  }
  checkCount('buttons', more.length + 1, 1);
  if (button.type === 'COPY_CODE') checkCoupon(parameter);
  else if (needsParameter(button)) valueOf('buttons', parameter);
  else if (button.type === 'QUICK_REPLY') checkPayload(parameter);
}

function checkPayload(parameter: JsonObject): void {
  if (parameter.type !== 'payload') throw formatMismatch('buttons', 'PAYLOAD', typed(parameter.type));
  const { payload } = parameter;
  if (typeof payload !== 'string' || payload === '') throw missing("Parameter 'payload' is mandatory");
  if (longerThan(payload, PAYLOAD_LIMIT))
    throw invalidValue(`payload must be at most ${PAYLOAD_LIMIT} characters long`);
}

function checkCoupon(parameter: JsonObject): void {
  if (parameter.type !== 'coupon_code') throw formatMismatch('buttons', 'COUPON_CODE', typed(parameter.type));
  const code = parameter.coupon_code;
  if (typeof code !== 'string' || code === '') throw missing("Parameter 'coupon_code' is mandatory");
  if (longerThan(code, COUPON_LIMIT)) throw invalidValue(`coupon_code must be at most ${COUPON_LIMIT} characters long`);
}

function needsParameter(button: TemplateButton): boolean {
  if (button.type === 'URL') return variablesIn(button.url).length > 0;
  return button.type === 'OTP' || button.type === 'COPY_CODE';
}
