import { documentStates } from '../../../infrastructure/http/docs/documented-pictures.js';
import type { StatePicture } from '../../../infrastructure/http/docs/state-picture.js';

const MAIN = 96;
const SIDE = 345;

export const MESSAGE_STATES_PICTURE: StatePicture = {
  title: 'States of a message',
  width: 430,
  height: 530,
  starts: [{ at: 'queued', label: 'POST /messages' }],
  states: [
    { name: 'queued', kind: 'way', x: MAIN, y: 76 },
    { name: 'processing', kind: 'way', x: MAIN, y: 160 },
    { name: 'accepted', kind: 'way', x: MAIN, y: 244 },
    { name: 'sent', kind: 'good', x: MAIN, y: 328 },
    { name: 'delivered', kind: 'good', x: MAIN, y: 412 },
    { name: 'read', kind: 'good', x: MAIN, y: 496 },
    { name: 'failed', kind: 'bad', x: SIDE, y: 128 },
    { name: 'outcome_unknown', kind: 'doubt', x: SIDE, y: 310 },
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
    'delivered and read win over any doubt, failure or retry.',
    'After 24 hours in the queue a message fails.',
    'Nothing is sent twice by itself.',
    'What customers write is received, and stays so.',
  ],
};

export const MESSAGE_STATES = documentStates('message-states', MESSAGE_STATES_PICTURE);
