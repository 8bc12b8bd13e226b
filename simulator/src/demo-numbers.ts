import type { SimulatorNumber } from './simulator.types.js';

/**
 * Two numbers on one business account, from ranges that regulators keep free for fiction
 * (US 555-01xx, Berlin 23125 xxx), so that no demo names a real subscriber.
 */
export const DEMO_NUMBERS: readonly SimulatorNumber[] = [
  {
    phoneNumberId: '106540352242922',
    wabaId: '102290129340398',
    displayPhoneNumber: '+1 650-555-0134',
    verifiedName: 'Lucky Shrub',
  },
  {
    phoneNumberId: '109215861790437',
    wabaId: '102290129340398',
    displayPhoneNumber: '+49 30 23125 042',
    verifiedName: 'Lucky Shrub Berlin',
  },
];

/** The number from which the demo's one-time codes come, on an account of its own. */
export const DEMO_OTP_NUMBER: SimulatorNumber = {
  phoneNumberId: '111470992846013',
  wabaId: '108733915920254',
  displayPhoneNumber: '+1 650-555-0177',
  verifiedName: 'Lucky Shrub Codes',
};

/** The template that carries them. */
export const DEMO_OTP_TEMPLATE = 'login_code';
