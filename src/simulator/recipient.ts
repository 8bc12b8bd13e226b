import { callingCodeOf } from './calling-codes.js';
import { GraphError } from './graph-error.js';
import type { SimulatorNumber } from './simulator.types.js';

/** Whom a message is for, as the platform understood the request. */
export interface Recipient {
  /** As the caller wrote it; comes back in `contacts[].input`. */
  input: string;
  /** The number that was addressed, digits only, or the user id. */
  to: string;
  /** The platform's own number for that person; null where only a user id was given. */
  waId: string | null;
  /** False for a user id in `to`: taken with a 200, and never heard of again. */
  reachable: boolean;
}

const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** Digits of a number however it is written. */
export function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, '');
}

/**
 * The number that WhatsApp itself knows a person by. It differs from the dialled one in two countries: Brazilian mobiles
 * outside the area codes 11 to 28 lose their ninth digit, Mexican ones get a 1 after the country code.
 */
export function waIdOf(digits: string): string {
  if (/^55\d{2}9\d{8}$/.test(digits) && Number(digits.slice(2, 4)) >= 31) return digits.slice(0, 4) + digits.slice(5);
  if (/^52[2-9]\d{9}$/.test(digits)) return `521${digits.slice(2)}`;
  return digits;
}

/**
 * Reads `to` and `recipient` (`to` wins). Without `+` the business number's country code goes in front, whatever the
 * digits already begin with.
 * @throws GraphError 100, 131009, 131021 or 131041
 */
export function resolveRecipient(body: Record<string, unknown>, sender: SimulatorNumber): Recipient {
  const to = typeof body.to === 'number' ? String(body.to) : body.to;
  if (to === undefined || to === null || to === '') return resolveUserId(body.recipient);
  if (typeof to !== 'string') throw new GraphError(100, { message: '(#100) Param to must be a string.' });
  if (body.recipient_type === 'group') {
    throw new GraphError(131041, { details: 'The simulator has no groups' });
  }
  if (USER_ID.test(to)) return { input: to, to, waId: to, reachable: false };
  if (!/^\+?[\d\s().-]+$/.test(to)) throw invalidNumber(to);
  const given = digitsOf(to);
  const own = digitsOf(sender.displayPhoneNumber);
  const digits = to.startsWith('+') ? given : callingCodeOf(own) + given;
  // E.164 ends at 15 digits; nothing shorter than 7 is a subscriber.
  if (digits.length < 7 || digits.length > 15) throw invalidNumber(to);
  if (digits === own) throw new GraphError(131021, { details: 'Sender and recipient are the same number' });
  return { input: to, to: digits, waId: waIdOf(digits), reachable: true };
}

function resolveUserId(recipient: unknown): Recipient {
  if (recipient === undefined || recipient === null || recipient === '') {
    throw new GraphError(100, { message: '(#100) The parameter to is required.' });
  }
  if (typeof recipient !== 'string' || !USER_ID.test(recipient)) {
    throw new GraphError(131009, { details: 'Parameter recipient is not a business-scoped user id of this business' });
  }
  return { input: recipient, to: recipient, waId: null, reachable: true };
}

function invalidNumber(to: string): GraphError {
  return new GraphError(131009, { details: `Recipient phone number is not valid: ${to}` });
}
