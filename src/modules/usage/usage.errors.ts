import { defineErrors, error } from '../../common/define-errors.js';

export const usageErrors = defineErrors('usage', {
  RATES_INVALID: error<{ reason: string }>({
    kind: 'unprocessable',
    message: ({ reason }) => reason,
    when: 'The prices are not of the form that is expected; `message` names the line and the column.',
    fix: 'Mend the line. docs/usage.md shows the form.',
    sample: { reason: 'line 3: column 4: price must be a decimal such as 0.1131, with at most six places' },
  }),
  RATES_IN_USE: error({
    kind: 'conflict',
    message:
      'a workspace has a limit of spending, which is in the currency of the prices; remove such limits before the currency changes',
    when: 'The prices are in another currency than those before, and a workspace has a limit of spending.',
    fix: 'Set `spend_per_month` of those workspaces to null, replace the prices, then set the limits again.',
  }),
  USAGE_TOO_LARGE: error({
    kind: 'unprocessable',
    message: 'The answer would have too many rows. Ask for a shorter time, a longer interval or fewer groups.',
    when: 'GET /usage or GET /usage/codes would answer more than 10,000 rows.',
    fix: 'Shorten `since` to `until`, choose a longer `interval`, leave out groups such as `template`, or add a filter.',
  }),
});
