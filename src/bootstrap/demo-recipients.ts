import type { DemoRecipient } from './demo-file.js';

/** The customer to whom the first example is sent: whatever it gets goes its way. */
export const DEMO_CUSTOMER = '15550001234';

/** What the simulator does with a message to a number that ends in these digits. */
const SCENARIOS: Readonly<Record<string, string>> = {
  '0001': 'sent, then nothing',
  '0002': 'accepted, then failed with 131026 by notification',
  '0003': 'refused at once with 131009',
  '0004': '429 with 130429 twice, then accepted',
  '0005': 'the message is taken, and the connection cut without an answer',
  '0006': '500 without a body, message not taken',
  '0007': 'answer after 60 s',
  '0008': 'notifications twice, in reverse order, before the answer',
  '0009': 'read without delivered',
  '0010': '131056 until 6 s have passed since the last message to it',
  '0011': 'accepted, then failed as 131047',
  '0012': 'the customer replies with a text at once',
};

/** Everybody whose window the demo keeps open on its first connection. */
export const DEMO_RECIPIENTS: readonly DemoRecipient[] = [
  { to: `+${DEMO_CUSTOMER}`, outcome: 'sent, delivered, read' },
  ...Object.entries(SCENARIOS).map(([digits, outcome]) => ({ to: `+1555010${digits}`, outcome })),
];
