import { is, object, oneOf, text, time } from './described.js';

const AMOUNT = { anyOf: [{ type: 'integer', minimum: 0 }, text] };
/** Data of `workspace.limit.reached`. */
export const LIMIT = object(
  {
    kind: is(
      oneOf(['messages_per_day', 'spend_per_month']),
      'messages_per_day',
      'Which limit, by its name at the command line.',
    ),
    percent: is(
      { type: 'integer', enum: [80, 100] },
      80,
      'The share of the limit that was reached; 100: there is no room for another message like the last one.',
    ),
    limit: is(AMOUNT, 1_000, 'Messages, or of `spend_per_month` an amount as a decimal.'),
    used: is(AMOUNT, 800, 'Accepted in the period, less what failed unsent.'),
    remaining: is(AMOUNT, 200),
    renews_at: is(time, '2026-11-22T00:00:00.000Z', "When the next period begins, in the workspace's time zone."),
    occurred_at: is(time, '2026-11-21T16:20:00.125Z'),
  },
  { currency: { ...text, description: 'Of `spend_per_month`, which is estimated.' } },
);
