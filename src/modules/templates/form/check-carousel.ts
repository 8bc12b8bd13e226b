import { isObject } from '../../../common/json.js';
import type { ParameterFormat } from '../templates.types.js';
import { checkCardButtons } from './check-buttons.js';
import { checkCardHeader } from './check-header.js';
import { checkText } from './check-text.js';
import type { FaultList } from './fault-list.js';
import { componentOf, own, ownArray, ownWord, type JsonObject } from './json-reading.js';

const FEWEST_CARDS = 2;
const MOST_CARDS = 10;
const CARD_BODY_MAX = 160;

/** Checks a CAROUSEL component: 2 to 10 cards, each well-formed, all of one shape. */
export function checkCarousel(carousel: JsonObject, field: string, format: ParameterFormat, faults: FaultList): void {
  const cards = own(carousel, 'cards');
  const at = `${field}.cards`;
  if (!Array.isArray(cards)) {
    faults.add(at, 'type', `${at} must be an array.`);
    return;
  }
  if (cards.length < FEWEST_CARDS || cards.length > MOST_CARDS) {
    faults.add(at, 'count', `${at} must be ${FEWEST_CARDS} to ${MOST_CARDS}, not ${cards.length}.`);
  }
  const shapes = cards.slice(0, MOST_CARDS).map((card: unknown, index) => {
    checkCard(card, `${at}[${index}]`, format, faults);
    return shapeOf(card);
  });
  const other = shapes.findIndex((shape) => shape !== shapes[0]);
  if (other !== -1) {
    faults.add(
      `${at}[${other}]`,
      'same_shape',
      `${at}[${other}] must have the same components, header format and kinds of buttons as the first card.`,
    );
  }
}

function checkCard(card: unknown, field: string, format: ParameterFormat, faults: FaultList): void {
  const components = own(card, 'components');
  if (!Array.isArray(components)) {
    faults.add(`${field}.components`, 'type', `${field}.components must be an array.`);
    return;
  }
  for (const [index, component] of components.entries()) {
    const at = `${field}.components[${index}]`;
    if (!isObject(component)) {
      faults.add(at, 'type', `${at} must be a JSON object.`);
      continue;
    }
    const type = ownWord(component, 'type');
    if (type === 'HEADER') checkCardHeader(component, at, faults);
    if (type === 'BODY') checkText(component, at, format, { part: 'body', max: CARD_BODY_MAX }, faults);
    if (type === 'BUTTONS') checkCardButtons(component, at, faults);
  }
  for (const needed of ['HEADER', 'BUTTONS']) {
    if (componentOf(components, needed) !== undefined) continue;
    faults.add(`${field}.components`, 'required', `${field}.components must hold a ${needed}.`);
  }
}

/** What must be alike in all cards, as text. */
function shapeOf(card: unknown): string {
  const components = ownArray(card, 'components');
  const parts = components.map((component) => ownWord(component, 'type')).toSorted();
  const buttons = ownArray(componentOf(components, 'BUTTONS'), 'buttons').map((button) => ownWord(button, 'type'));
  return [parts.join(), ownWord(componentOf(components, 'HEADER'), 'format'), buttons.join()].join(' ');
}
