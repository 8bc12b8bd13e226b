import type { ParameterFormat } from '../templates.types.js';
import { componentOf, ownArray } from './json-reading.js';
import type { ParameterMismatch } from './parameter-mismatch.js';
import { indexOf } from './send-buttons.js';

/** Checks one card's components against those of the template's card. */
export type CheckCard = (
  card: { components: readonly unknown[]; parameterFormat: ParameterFormat },
  sent: readonly unknown[],
  place: { card: number },
) => ParameterMismatch | null;

/** Checks the cards of a send, found by `card_index`, or by their place where they have none. */
export function checkCards(
  components: readonly unknown[],
  parameterFormat: ParameterFormat,
  sent: readonly unknown[],
  checkCard: CheckCard,
): ParameterMismatch | null {
  const cards = ownArray(componentOf(components, 'CAROUSEL'), 'cards');
  const given = ownArray(componentOf(sent, 'CAROUSEL'), 'cards');
  const byIndex = new Map<number, unknown>();
  for (const [place, card] of given.entries()) {
    const index = indexOf(card, 'card_index') ?? place;
    if (!(index in cards)) return wrongCards(cards.length, given.length);
    byIndex.set(index, card);
  }
  for (const [index, card] of cards.entries()) {
    const form = { components: ownArray(card, 'components'), parameterFormat };
    const mismatch = checkCard(form, ownArray(byIndex.get(index), 'components'), { card: index });
    if (mismatch !== null) return mismatch;
  }
  return null;
}

function wrongCards(expected: number, given: number): ParameterMismatch {
  return {
    expected: { component: 'carousel', cards: expected },
    given: { component: 'carousel', cards: given },
    message:
      expected === 0
        ? 'This template has no carousel: leave out the carousel component.'
        : `card_index must be a place among the template's ${expected} cards, from 0 to ${expected - 1}.`,
  };
}
