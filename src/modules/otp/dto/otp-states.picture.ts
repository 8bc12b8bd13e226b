import { documentStates } from '../../../infrastructure/http/docs/documented-pictures.js';

const MAIN = 84;
const SIDE = 330;

export const OTP_STATES = documentStates('otp-states', {
  title: 'States of a one-time code',
  width: 430,
  height: 450,
  starts: [{ at: 'queued', label: 'POST /otp/send' }],
  states: [
    { name: 'queued', kind: 'way', x: MAIN, y: 76 },
    { name: 'sending', kind: 'way', x: MAIN, y: 160 },
    { name: 'sent', kind: 'way', x: MAIN, y: 244 },
    { name: 'delivered', kind: 'way', x: MAIN, y: 328 },
    { name: 'read', kind: 'way', x: MAIN, y: 412 },
    { name: 'outcome_unknown', kind: 'doubt', x: SIDE, y: 160 },
    { name: 'failed', kind: 'bad', x: SIDE, y: 76 },
    { name: 'verified', kind: 'good', x: SIDE, y: 328 },
    { name: 'expired', kind: 'bad', x: SIDE, y: 412 },
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
});
