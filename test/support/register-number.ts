import type { Simulator } from '../../simulator/src/simulator.js';
import type { ConnectionRow } from './factories.js';

/** Makes a connection's number known to the simulator. */
export function registerNumber(
  simulator: Simulator,
  { phoneNumberId, wabaId, phoneNumber }: ConnectionRow,
  verifiedName = 'Shop',
): void {
  simulator.registerNumber({ phoneNumberId, wabaId, displayPhoneNumber: `+${phoneNumber}`, verifiedName });
}
