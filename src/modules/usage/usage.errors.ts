import { defineErrors, error } from '../../common/define-errors.js';

export const usageErrors = defineErrors('usage', {
  USAGE_TOO_LARGE: error({
    kind: 'unprocessable',
    message: 'The answer would have too many rows. Ask for a shorter time, a longer interval or fewer groups.',
    when: 'GET /usage or GET /usage/codes would answer more than 10,000 rows.',
    fix: 'Shorten `since` to `until`, choose a longer `interval`, leave out groups such as `template`, or add a filter.',
  }),
});
