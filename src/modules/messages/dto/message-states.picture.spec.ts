import { MESSAGE_STATUSES, legalMoves } from '../message-state.js';
import { MESSAGE_STATES_PICTURE } from './message-states.picture.js';

const pair = ({ from, to }: { from: string; to: string }) => `${from} -> ${to}`;

describe('the picture of the states of a message', () => {
  const drawn = new Set(MESSAGE_STATES_PICTURE.moves.map(pair));
  const legal = new Set(legalMoves().map(pair));

  it('shows every state that a message of ours can be in', () => {
    const shown = MESSAGE_STATES_PICTURE.states.map(({ name }) => name);
    expect([...shown, 'received'].sort()).toEqual([...MESSAGE_STATUSES].sort());
  });

  it('draws no move that does not exist', () => {
    expect([...drawn].filter((move) => !legal.has(move))).toEqual([]);
  });

  it('leaves out only what its notes say, and what an operator does to a restored backup', () => {
    const left = [...legal].filter((move) => !drawn.has(move) && !/-> (sent|delivered|read)$/.test(move));
    // "After 24 hours in the queue", and the doubt's own late answer.
    expect(left.sort()).toEqual(['outcome_unknown -> accepted', 'queued -> failed', 'queued -> outcome_unknown']);
  });
});
