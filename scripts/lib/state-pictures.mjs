// The pictures of states in the API description and in docs/, compared with the tables that the code goes by.
import { drawStates } from './draw-states.mjs';

/** @type {Record<string, import('./draw-states.mjs').StatePicture>} */
const PICTURES = {
  'message-states': {
    title: 'States of a message',
    width: 430,
    height: 530,
    starts: [{ at: 'queued', label: 'POST /messages' }],
    states: [
      { name: 'queued', kind: 'way', x: 96, y: 76 },
      { name: 'processing', kind: 'way', x: 96, y: 160 },
      { name: 'accepted', kind: 'way', x: 96, y: 244 },
      { name: 'sent', kind: 'good', x: 96, y: 328 },
      { name: 'delivered', kind: 'good', x: 96, y: 412 },
      { name: 'read', kind: 'good', x: 96, y: 496 },
      { name: 'failed', kind: 'bad', x: 345, y: 128 },
      { name: 'outcome_unknown', kind: 'doubt', x: 345, y: 310 },
    ],
    moves: [
      { from: 'queued', to: 'processing', label: 'taken', bend: -20 },
      { from: 'processing', to: 'queued', label: 'later', bend: -26 },
      { from: 'processing', to: 'accepted', label: 'platform took it' },
      { from: 'accepted', to: 'sent', label: 'notification' },
      { from: 'sent', to: 'delivered', label: 'notification' },
      { from: 'delivered', to: 'read', label: 'notification' },
      { from: 'failed', to: 'queued', label: 'retry', bend: 22 },
      { from: 'processing', to: 'failed', label: 'refused', at: 0.7 },
      { from: 'accepted', to: 'failed', label: 'notification', at: 0.36 },
      { from: 'sent', to: 'failed', label: 'notification', at: 0.42 },
      { from: 'processing', to: 'outcome_unknown', label: 'no clear answer', bend: -14, at: 0.75 },
      { from: 'outcome_unknown', to: 'failed', label: 'notification', at: 0.6 },
      { from: 'outcome_unknown', to: 'sent', label: 'notification', bend: -10 },
      { from: 'outcome_unknown', to: 'queued', label: 'retry, confirmed', bend: 30, at: 0.84 },
    ],
    notes: [
      'delivered and read win over any unknown outcome, failure or retry.',
      'Canceled, or 24 hours in the queue: a message fails.',
      'Nothing is sent twice by itself.',
      'What customers write is received, and stays so.',
    ],
  },
  'otp-states': {
    title: 'States of a one-time code',
    width: 430,
    height: 450,
    starts: [{ at: 'queued', label: 'POST /otp/send' }],
    states: [
      { name: 'queued', kind: 'way', x: 84, y: 76 },
      { name: 'sending', kind: 'way', x: 84, y: 160 },
      { name: 'sent', kind: 'way', x: 84, y: 244 },
      { name: 'delivered', kind: 'way', x: 84, y: 328 },
      { name: 'read', kind: 'way', x: 84, y: 412 },
      { name: 'outcome_unknown', kind: 'doubt', x: 330, y: 160 },
      { name: 'failed', kind: 'bad', x: 330, y: 76 },
      { name: 'verified', kind: 'good', x: 330, y: 328 },
      { name: 'expired', kind: 'bad', x: 330, y: 412 },
    ],
    moves: [
      { from: 'queued', to: 'sending', label: 'sender takes it' },
      { from: 'sending', to: 'sent', label: 'platform took it' },
      { from: 'sent', to: 'delivered', label: 'notification' },
      { from: 'delivered', to: 'read', label: 'notification' },
      { from: 'sending', to: 'outcome_unknown', label: 'no clear answer' },
      { from: 'queued', to: 'failed', label: '30 s in the queue' },
      { from: 'sending', to: 'failed', label: 'refused' },
      { from: 'outcome_unknown', to: 'sent', label: 'notification' },
      { from: 'delivered', to: 'verified', label: 'right code' },
      { from: 'read', to: 'expired', label: 'time over, 5 wrong' },
    ],
    notes: [
      'The right code verifies from any state but failed and expired.',
      'Any state but verified and failed expires when its time is',
      'over, five codes were wrong, or a newer code was sent.',
      'A sandbox begins at sent, with test_code.',
    ],
  },
  'template-states': {
    title: 'States of a template',
    width: 430,
    height: 380,
    starts: [{ at: 'pending', label: 'POST templates' }],
    states: [
      { name: 'pending', kind: 'way', x: 90, y: 76 },
      { name: 'approved', kind: 'good', x: 90, y: 200 },
      { name: 'pending_deletion', kind: 'bad', x: 90, y: 330 },
      { name: 'rejected', kind: 'bad', x: 330, y: 76 },
      { name: 'in_appeal', kind: 'way', x: 330, y: 160 },
      { name: 'paused', kind: 'doubt', x: 330, y: 245 },
      { name: 'disabled', kind: 'bad', x: 330, y: 330 },
    ],
    moves: [
      { from: 'pending', to: 'approved', label: 'review', bend: -22 },
      { from: 'approved', to: 'pending', label: 'PATCH', bend: -28 },
      { from: 'pending', to: 'rejected', label: 'review', bend: -8 },
      { from: 'rejected', to: 'pending', label: 'PATCH', bend: -14 },
      { from: 'rejected', to: 'in_appeal', label: 'appeal' },
      { from: 'in_appeal', to: 'approved', label: 'granted' },
      { from: 'approved', to: 'paused', label: 'low quality', bend: -10 },
      { from: 'paused', to: 'approved', label: 'pause over', bend: -14 },
      { from: 'paused', to: 'disabled', label: 'paused too often' },
      { from: 'approved', to: 'pending_deletion', label: 'deleted elsewhere' },
    ],
    notes: [
      'Only an approved template can be sent. The platform decides',
      'every move but PATCH; DELETE ends a template in any state.',
    ],
  },
  'webhook-states': {
    title: 'States of the webhook',
    width: 430,
    height: 290,
    starts: [{ at: 'active', label: 'PUT /webhook' }],
    states: [
      { name: 'active', kind: 'good', x: 90, y: 76 },
      { name: 'paused', kind: 'doubt', x: 320, y: 76 },
      { name: 'disabled', kind: 'bad', x: 320, y: 240 },
      { name: 'deleted', kind: 'bad', x: 90, y: 240 },
    ],
    moves: [
      { from: 'active', to: 'paused', label: 'PUT, active: false', bend: -16 },
      { from: 'paused', to: 'active', label: 'PUT, active: true', bend: -16 },
      { from: 'active', to: 'disabled', label: '410, or failures for 5 days', bend: -22 },
      { from: 'disabled', to: 'active', label: 'PUT, active: true', bend: -22 },
      { from: 'active', to: 'deleted', label: 'DELETE' },
      { from: 'disabled', to: 'deleted', label: 'DELETE' },
    ],
    notes: [
      'Paused or disabled, events wait for three days at the most,',
      'and go out when it is active again. disabled_reason is gone',
      'after a 410, failing after five days.',
    ],
  },
};

/** What the picture of a message leaves out: what its notes say, and what an operator does to a restored backup. */
const UNDRAWN = new Set([
  'outcome_unknown -> accepted',
  'queued -> accepted',
  'queued -> failed',
  'queued -> outcome_unknown',
]);

/**
 * Each picture by its name.
 *
 * @param {{MESSAGE_STATUSES: string[], legalMoves: () => {from: string, to: string}[]}} messages the states of a message
 * @throws Error where the picture of a message shows other states or moves than the code knows.
 */
export function renderStatePictures({ MESSAGE_STATUSES, legalMoves }) {
  const { states, moves } = PICTURES['message-states'];
  const pair = ({ from, to }) => `${from} -> ${to}`;
  const drawn = new Set(moves.map(pair));
  const legal = new Set(legalMoves().map(pair));
  const wins = (move) => /-> (sent|delivered|read)$/.test(move);
  const faults = [
    // An inbound message is received, and stays so.
    ...MESSAGE_STATUSES.filter((status) => status !== 'received' && !states.some(({ name }) => name === status)),
    ...[...drawn].filter((move) => !legal.has(move)),
    ...[...legal].filter((move) => !drawn.has(move) && !wins(move) && !UNDRAWN.has(move)),
  ];
  if (faults.length > 0) throw new Error(`the picture of a message's states is wrong about: ${faults.join('; ')}`);
  return Object.entries(PICTURES).map(([name, picture]) => [name, drawStates(picture)]);
}
