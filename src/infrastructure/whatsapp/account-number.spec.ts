import { accountOf, spellingsOf } from './account-number.js';

describe('the account of a number', () => {
  it.each([
    ['5491123456789', '541123456789'],
    ['541123456789', '541123456789'],
    ['5511912345678', '551112345678'],
    ['551112345678', '551112345678'],
    ['5531987654321', '553187654321'],
    ['5215512345678', '525512345678'],
    ['525512345678', '525512345678'],
    // Without the 9 this is a landline, which may have an account of its own.
    ['5511933334444', '5511933334444'],
    ['551133334444', '551133334444'],
    ['4915112345678', '4915112345678'],
    ['15550001234', '15550001234'],
  ])('%s: %s', (digits, account) => {
    expect(accountOf(digits)).toBe(account);
    const spellings = spellingsOf(digits);
    expect(spellings).toContain(digits);
    for (const each of spellings) expect(spellingsOf(each)).toEqual(spellings);
    expect(spellings).toHaveLength(/^(54|52|551112|5531)/.test(account) ? 2 : 1);
  });
});
