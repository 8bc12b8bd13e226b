import { defineErrors, error } from '../../common/define-errors.js';

export const billingErrors = defineErrors('billing', {
  SUBSCRIPTION_REQUIRED: error({
    kind: 'payment_required',
    message: 'Sending needs a paid subscription; extend it, then repeat the request.',
    when: 'The workspace has no paid access to the API at this moment. Reading still works.',
    fix: 'Extend the subscription: `herald subscription set --workspace <id> --paid-until <date>`.',
  }),
});
