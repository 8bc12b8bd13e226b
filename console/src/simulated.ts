import { createContext, useSyncExternalStore } from 'react';
import { wholeNumber } from './parts.tsx';

/** The simulated customers of the demo, by how a message to them ends. */
export const CUSTOMERS: readonly (readonly [string, string])[] = [
  ['+15550001234', 'reads everything'],
  ['+15550100012', 'answers at once'],
  ['+15550100001', 'is offline'],
  ['+15550100002', 'cannot be reached'],
  ['+15550100003', 'refused by WhatsApp'],
  ['+15550100004', 'over the limit twice'],
  ['+15550100005', 'outcome unknown'],
  ['+15550100008', 'all reported twice'],
  ['+15550100013', 'has opted out'],
  ['+15550100014', 'no valid payment method'],
];

export const HasSimulator = createContext(false);

let customer = CUSTOMERS[0]?.[0] ?? '';
const listeners = new Set<() => void>();

/** The customer with this number, however it is written. */
export function customerOf(text: string): string | null {
  const number = wholeNumber(text);
  return CUSTOMERS.some(([phone]) => phone === number) ? number : null;
}

/** Whose phone is shown; other numbers change nothing. */
export function chooseCustomer(text: string): void {
  const number = customerOf(text);
  if (number === null || number === customer) return;
  customer = number;
  for (const listener of listeners) listener();
}

export function useCustomer(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => customer,
  );
}
