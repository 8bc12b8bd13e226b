import { documentStates } from '../../../infrastructure/http/docs/documented-pictures.js';

const MAIN = 90;
const SIDE = 330;

export const TEMPLATE_STATES = documentStates('template-states', {
  title: 'States of a template',
  width: 430,
  height: 380,
  starts: [{ at: 'pending', label: 'POST templates' }],
  states: [
    { name: 'pending', kind: 'way', x: MAIN, y: 76 },
    { name: 'approved', kind: 'good', x: MAIN, y: 200 },
    { name: 'pending_deletion', kind: 'bad', x: MAIN, y: 330 },
    { name: 'rejected', kind: 'bad', x: SIDE, y: 76 },
    { name: 'in_appeal', kind: 'way', x: SIDE, y: 160 },
    { name: 'paused', kind: 'doubt', x: SIDE, y: 245 },
    { name: 'disabled', kind: 'bad', x: SIDE, y: 330 },
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
});
