import { isObject } from '../../../common/json.js';
import { checkOtpButton } from './check-authentication.js';
import { MARKDOWN } from './check-text.js';
import type { FaultList } from './fault-list.js';
import { firstText, own, ownWord, type JsonObject } from './json-reading.js';
import { placeholdersIn } from './template-text.js';

const MOST_BUTTONS = 10;
const LABEL_MAX = 25;
const URL_MAX = 2000;
const PHONE_MAX = 20;
const COUPON_MAX = 20;

/** How many of a kind a template takes; kinds that are not here are for the platform to count. */
const MOST_OF_KIND: Readonly<Record<string, number>> = { URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1, VOICE_CALL: 1 };

/** Kinds whose label the template gives; the others have one of their own, or leave it to the platform. */
const LABELLED = new Set(['QUICK_REPLY', 'URL', 'PHONE_NUMBER']);
const PLAIN_LABELS = new Set([...LABELLED, 'OTP']);

/** Characters that are drawn as emoji by themselves, and the selector that makes others so. */
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

/** Checks a BUTTONS component of the template itself. */
export function checkButtons(component: JsonObject, field: string, faults: FaultList): void {
  const buttons = checkedButtons(component, field, faults);
  if (buttons === null) return;
  if (buttons.length > MOST_BUTTONS) {
    faults.add(`${field}.buttons`, 'count', `${field}.buttons takes at most ${MOST_BUTTONS}, not ${buttons.length}.`);
  }
  const kinds = buttons.map((button) => ownWord(button, 'type'));
  for (const [kind, most] of Object.entries(MOST_OF_KIND)) {
    const count = kinds.filter((other) => other === kind).length;
    if (count > most) {
      faults.add(`${field}.buttons`, 'count', `${field}.buttons takes at most ${most} of type ${kind}, not ${count}.`);
    }
  }
  checkContiguous(kinds, `${field}.buttons`, faults);
}

/** Checks the buttons of a carousel's card: one or two. */
export function checkCardButtons(component: JsonObject, field: string, faults: FaultList): void {
  const buttons = checkedButtons(component, field, faults);
  if (buttons !== null && (buttons.length < 1 || buttons.length > 2)) {
    faults.add(`${field}.buttons`, 'count', `${field}.buttons of a card must be 1 or 2, not ${buttons.length}.`);
  }
}

/** In an offer that ends, the button that copies the code stands before the link. */
export function checkOfferButtons(component: JsonObject, field: string, faults: FaultList): void {
  const buttons = own(component, 'buttons');
  if (!Array.isArray(buttons)) return;
  const kinds = buttons.map((button: unknown) => ownWord(button, 'type'));
  const link = kinds.indexOf('URL');
  if (link !== -1 && link < kinds.indexOf('COPY_CODE')) {
    faults.add(`${field}.buttons`, 'order', `${field}.buttons of a limited-time offer: COPY_CODE first, then URL.`);
  }
}

/** The buttons, each checked by itself; null where there is no list. */
function checkedButtons(component: JsonObject, field: string, faults: FaultList): readonly unknown[] | null {
  const buttons = own(component, 'buttons');
  if (!Array.isArray(buttons)) {
    faults.add(`${field}.buttons`, 'type', `${field}.buttons must be an array.`);
    return null;
  }
  // More than the platform takes are refused by number; looking at each of thousands would help nobody.
  for (const [index, button] of buttons.slice(0, MOST_BUTTONS).entries())
    checkButton(button, `${field}.buttons[${index}]`, faults);
  return buttons;
}

function checkButton(button: unknown, field: string, faults: FaultList): void {
  if (!isObject(button)) {
    faults.add(field, 'type', `${field} must be a JSON object.`);
    return;
  }
  if (faults.text(own(button, 'type'), `${field}.type`, 64) === null) return;
  const kind = ownWord(button, 'type');
  checkLabel(button, kind, field, faults);
  if (kind === 'URL') checkUrl(button, field, faults);
  if (kind === 'PHONE_NUMBER') faults.text(own(button, 'phone_number'), `${field}.phone_number`, PHONE_MAX);
  if (kind === 'COPY_CODE') faults.atMost(firstText(own(button, 'example')) ?? '', `${field}.example`, COUPON_MAX);
  if (kind === 'OTP') checkOtpButton(button, field, faults);
}

function checkLabel(button: JsonObject, kind: string, field: string, faults: FaultList): void {
  const label = own(button, 'text');
  if (LABELLED.has(kind)) faults.text(label, `${field}.text`, LABEL_MAX);
  else if (typeof label === 'string') faults.atMost(label, `${field}.text`, LABEL_MAX);
  if (typeof label === 'string' && PLAIN_LABELS.has(kind)) checkPlain(label, `${field}.text`, faults);
}

/** The platform refuses them in so many words (100, subcode 2388060). */
function checkPlain(label: string, at: string, faults: FaultList): void {
  // A label far too long is refused for that alone, so that the work stays small.
  if (label.length > 4 * LABEL_MAX) return;
  const isPlain =
    placeholdersIn(label).length === 0 && !/[\r\n]/.test(label) && !EMOJI.test(label) && !MARKDOWN.test(label);
  if (!isPlain) {
    faults.add(at, 'plain_text', `${at} must be plain words: no variables, line breaks, emoji or formatting.`);
  }
}

function checkUrl(button: JsonObject, field: string, faults: FaultList): void {
  const at = `${field}.url`;
  const url = faults.text(own(button, 'url'), at, URL_MAX);
  if (url === null) return;
  const placeholders = placeholdersIn(url);
  const [variable] = placeholders;
  if (variable === undefined) return;
  if (placeholders.length > 1) {
    faults.add(at, 'variable_count', `${at} takes one variable, not ${placeholders.length}.`);
  } else if (variable.end !== url.length) {
    faults.add(at, 'variable_position', `${at} must end with its variable.`);
  }
  if ((firstText(own(button, 'example')) ?? '').trim() === '') {
    faults.add(`${field}.example`, 'variable_example', `${field}.example must hold an example of the whole address.`);
  }
}

function checkContiguous(kinds: readonly string[], field: string, faults: FaultList): void {
  const first = kinds.indexOf('QUICK_REPLY');
  if (first === -1) return;
  if (kinds.slice(first, kinds.lastIndexOf('QUICK_REPLY')).some((kind) => kind !== 'QUICK_REPLY')) {
    faults.add(field, 'order', `${field} must keep its quick replies together, before or after the other buttons.`);
  }
}
