import { defineErrors, error } from '../../common/define-errors.js';

export const billingErrors = defineErrors('billing', {
  SUBSCRIPTION_REQUIRED: error({
    kind: 'payment_required',
    message: 'Sending needs a paid subscription; extend it, then repeat the request.',
    when: 'The workspace has no paid access to the API at this moment. Reading still works.',
    fix: 'Extend the subscription: `herald subscription set --workspace <id> --paid-until <date>`. With `BILLING=off` none is asked for.',
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
