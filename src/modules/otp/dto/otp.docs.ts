import { EXAMPLE_OTP_CODE, EXAMPLE_OTP_ID } from '../../../common/example-ids.js';

interface Example {
  summary: string;
  value: { data: Record<string, unknown> };
}

const TAKEN = {
  id: EXAMPLE_OTP_ID,
  channel: 'whatsapp',
  mode: 'live',
  recipient: '15550001234',
  status: 'queued',
  attempts_remaining: 5,
  error: null,
  created_at: '2026-11-21T08:00:00.000Z',
  expires_at: '2026-11-21T08:05:00.000Z',
  sent_at: null as string | null,
  delivered_at: null as string | null,
  read_at: null as string | null,
  verified_at: null as string | null,
};
const SENT = { ...TAKEN, status: 'sent', sent_at: '2026-11-21T08:00:00.180Z' };
const DELIVERED = { ...SENT, status: 'delivered', delivered_at: '2026-11-21T08:00:02.000Z' };
const SANDBOX = { ...TAKEN, mode: 'sandbox', status: 'sent', sent_at: '2026-11-21T08:00:00.000Z' };
const VERIFIED = {
  ...DELIVERED,
  status: 'verified',
  attempts_remaining: 4,
  verified_at: '2026-11-21T08:00:41.305Z',
};
const FAILED = { ...TAKEN, status: 'failed', error: 'recipient_unreachable' };

function example(summary: string, data: Record<string, unknown>): Example {
  return { summary, value: { data } };
}

/** The answers to a first send. */
export const TAKEN_EXAMPLES: Record<string, Example> = {
  live: example('Live: the code is on its way', TAKEN),
  sandbox: example('Sandbox: nothing is sent, and the code is in the answer', {
    ...SANDBOX,
    test_code: EXAMPLE_OTP_CODE,
  }),
};

/** The answers to its repeat. */
export const REPEATED_EXAMPLES: Record<string, Example> = {
  live: example('Live: where the code is by now', SENT),
  sandbox: example('Sandbox: without the code', SANDBOX),
};

export const VERIFIED_EXAMPLES: Record<string, Example> = { verified: example('Verified', VERIFIED) };

export const STATE_EXAMPLES: Record<string, Example> = {
  delivered: example('On the phone', DELIVERED),
  verified: example('Verified', VERIFIED),
  failed: example('Could not be delivered; it does not count', FAILED),
};
