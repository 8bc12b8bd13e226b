import { documentStates } from '../../../infrastructure/http/docs/documented-pictures.js';

const MAIN = 90;
const SIDE = 320;

export const WEBHOOK_STATES = documentStates('webhook-states', {
  title: 'States of the webhook',
  width: 430,
  height: 290,
  starts: [{ at: 'active', label: 'PUT /webhook' }],
  states: [
    { name: 'active', kind: 'good', x: MAIN, y: 76 },
    { name: 'paused', kind: 'doubt', x: SIDE, y: 76 },
    { name: 'disabled', kind: 'bad', x: SIDE, y: 240 },
    { name: 'deleted', kind: 'bad', x: MAIN, y: 240 },
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
});
