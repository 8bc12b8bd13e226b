import { defineErrors, error } from '../../common/define-errors.js';
import { shownLimit } from './limits.types.js';

/** The used part of a limit, in the form of an error. */
type ReachedLimit = Parameters<typeof shownLimit>[0] & { retryAfterSeconds: number };

const ofLimit = {
  extra: ({ retryAfterSeconds, ...state }: ReachedLimit) => ({
    ...shownLimit(state),
    retry_after_seconds: retryAfterSeconds,
  }),
  headers: ({ retryAfterSeconds }: ReachedLimit) => ({ 'Retry-After': String(retryAfterSeconds) }),
  sample: {
    limit: 100,
    used: 100,
    currency: null,
    renewsAt: new Date('2026-11-22T00:00:00.000Z'),
    retryAfterSeconds: 57_600,
  },
};

export const billingErrors = defineErrors('billing', {
  SUBSCRIPTION_REQUIRED: error({
    kind: 'payment_required',
    message:
      'Sending needs a paid subscription: extend it with `herald subscription set`, or turn subscriptions off with BILLING=off.',
    when: 'The workspace has no paid access to the API at this moment. Reading still works.',
    fix: 'Extend the subscription: `herald subscription set --workspace <id> --paid-until <date>`. With `BILLING=off` none is asked for.',
  }),
  WORKSPACE_LIMIT_REACHED: error<ReachedLimit>({
    kind: 'rate_limited',
    message: ({ limit, renewsAt }) =>
      `This workspace may send ${limit} messages a day, and has; the next ones from ${renewsAt.toISOString()} on.`,
    when: "As many messages as the workspace's limit of a day allows were accepted on this day of its time zone. Messages that failed unsent are given back.",
    fix: 'Send it after `renews_at`, or have the limit raised: `herald workspace limits --workspace <id> --messages-per-day <n>`.',
    ...ofLimit,
  }),
  SPEND_LIMIT_REACHED: error<ReachedLimit>({
    kind: 'payment_required',
    message: (state) => {
      const { limit, remaining, currency, renews_at: renewsAt } = shownLimit(state);
      return `The messages of this workspace may cost ${limit} ${currency} a month, by the operator's prices; what is left of it, ${remaining} ${currency}, is less than this one costs. It renews at ${renewsAt}.`;
    },
    when: "The workspace's limit of a month, of its time zone, has no room for the estimated price of the message. Free messages still pass. What fails unsent is given back, and what WhatsApp reports as free.",
    fix: 'Send it after `renews_at`, or have the limit raised: `herald workspace limits --workspace <id> --spend-per-month <amount>`.',
    ...ofLimit,
    sample: {
      limit: 100_000_000,
      used: 99_950_000,
      currency: 'EUR',
      renewsAt: new Date('2026-12-01T00:00:00.000Z'),
      retryAfterSeconds: 864_000,
    },
  }),
  RECIPIENT_LIMIT_REACHED: error<ReachedLimit>({
    kind: 'unprocessable',
    message: ({ limit, renewsAt }) =>
      `This recipient has had ${limit} marketing messages of this workspace this week, as many as it may send; the next ones from ${renewsAt.toISOString()} on.`,
    when: "As many marketing templates as the workspace's limit of a week allows for one recipient were accepted in this week, from Monday on, of its time zone.",
    fix: 'Send it after `renews_at`, or have the limit raised: `herald workspace limits --workspace <id> --marketing-per-recipient-per-week <n>`.',
    ...ofLimit,
  }),
  OTP_PACKAGE_REQUIRED: error<{ country: string }>({
    kind: 'payment_required',
    message: ({ country }) => `This project has no package of codes for ${country}; have one granted.`,
    when: 'A live code was asked for a number of a country for which the project has no package.',
    fix: 'Grant a package: `herald otp-package grant --project <id> --country <code> --limit <codes a month>`. With `BILLING=off` none is asked for.',
    extra: ({ country }) => ({ country }),
    sample: { country: 'DE' },
  }),
  OTP_PACKAGE_EXHAUSTED: error<{ country: string }>({
    kind: 'payment_required',
    message: ({ country }) =>
      `This month's package of codes for ${country} is used up; have it raised, or wait for the next month.`,
    when: "As many codes as the project's package for that country allows were accepted in this calendar month (UTC).",
    fix: 'Raise the package with `herald otp-package grant`; it counts at once. Sends that failed are given back.',
    extra: ({ country }) => ({ country }),
    sample: { country: 'DE' },
  }),
});
