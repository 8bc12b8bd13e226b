import { GraphError } from '../graph-error.js';
import type { NumberFacts } from './number-facts.js';

/** Refuses to send from a number that can't. @throws GraphError 131031, 368 or 133010 */
export function checkCanSend({ status }: Readonly<NumberFacts>): void {
  if (status === 'CONNECTED' || status === 'FLAGGED') return;
  if (status === 'BANNED')
    throw new GraphError(131031, { details: 'Business account is locked: the number is banned' });
  if (status === 'RESTRICTED') {
    throw new GraphError(368, { details: 'The number is restricted for violating a policy' });
  }
  throw new GraphError(133010, { details: `The number is ${status.toLowerCase()}: it is not registered` });
}
