import { own, ownArray, ownText, ownWord, type JsonObject } from './json-reading.js';
import type { ParameterMismatch, ParameterShape } from './parameter-mismatch.js';
import { buttonVariable } from './variables.js';

/** `sub_type` of the kinds for which it is certain. */
const SUB_TYPES: Readonly<Record<string, string>> = {
  QUICK_REPLY: 'quick_reply',
  URL: 'url',
  COPY_CODE: 'copy_code',
  FLOW: 'flow',
};

/** Kinds that never take a parameter. A link takes one only for its variable. */
const WITHOUT_PARAMETERS = new Set(['PHONE_NUMBER', 'URL']);

/**
 * Checks the buttons of a send against the template's. Links with a variable, codes and coupons need exactly one
 * parameter; quick replies and flows may have one.
 *
 * @param sent all components of the message, or of the card
 */
export function checkButtonParameters(
  buttons: readonly unknown[],
  sent: readonly unknown[],
  place: { card?: number },
): ParameterMismatch | null {
  const byIndex = new Map<number, JsonObject>();
  for (const component of sent) {
    if (ownWord(component, 'type') !== 'BUTTON') continue;
    const index = indexOf(component, 'index') ?? 0;
    const mismatch = checkPlace(component, index, buttons, place);
    if (mismatch !== null) return mismatch;
    if (!byIndex.has(index)) byIndex.set(index, component as JsonObject);
  }
  for (const [index, button] of buttons.entries()) {
    const mismatch = checkCount(button, index, byIndex.get(index), place);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** A place that came as a number or as its digits; NaN for anything else, null where it is not given. */
export function indexOf(value: unknown, key: string): number | null {
  const index = own(value, key);
  if (index === undefined || index === null) return null;
  if (typeof index === 'string') return /^\d{1,2}$/.test(index) ? Number(index) : Number.NaN;
  return typeof index === 'number' ? index : Number.NaN;
}

function checkPlace(
  component: unknown,
  index: number,
  buttons: readonly unknown[],
  place: { card?: number },
): ParameterMismatch | null {
  const button = buttons[index];
  const subType = ownText(component, 'sub_type')?.toLowerCase();
  const given: ParameterShape = { component: 'button', ...place, ...(Number.isFinite(index) && { index }) };
  if (button === undefined) {
    if (ownArray(component, 'parameters').length === 0) return null;
    return {
      expected: { component: 'button', ...place, parameters: 0 },
      given: { ...given, parameters: ownArray(component, 'parameters').length },
      message:
        buttons.length === 0
          ? 'This template has no buttons: leave out the button components.'
          : `index must be a place among the template's buttons, from 0 to ${buttons.length - 1}.`,
    };
  }
  const expected = SUB_TYPES[ownWord(button, 'type')];
  if (expected === undefined || subType === undefined || subType === expected) return null;
  return {
    expected: { ...given, sub_type: expected },
    given: { ...given, sub_type: subType.slice(0, 64) },
    message: `The button at index ${index} is of sub_type ${expected}.`,
  };
}

function checkCount(
  button: unknown,
  index: number,
  sent: JsonObject | undefined,
  place: { card?: number },
): ParameterMismatch | null {
  const given = ownArray(sent, 'parameters').length;
  const type = ownWord(button, 'type');
  const needed = buttonVariable(button) === null ? 0 : 1;
  if (given === needed || (needed === 0 && !WITHOUT_PARAMETERS.has(type))) return null;
  const shape: ParameterShape = { component: 'button', ...place, index };
  return {
    expected: {
      ...shape,
      sub_type: SUB_TYPES[type] ?? (type === 'OTP' ? 'url' : type.toLowerCase()),
      parameters: needed,
    },
    given: { ...shape, parameters: given },
    message:
      needed === 1
        ? `The button at index ${index} takes 1 parameter, not ${given}.`
        : `The button at index ${index} takes no parameters: leave out its component.`,
  };
}
