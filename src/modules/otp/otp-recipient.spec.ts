import { readRecipient } from './otp-recipient.js';

describe('a number of a request', () => {
  it.each([
    ['+54 (11) 15-2345-6789', '5491123456789', '541123456789'],
    ['+52 1 55 1234 5678', '5215512345678', '525512345678'],
  ])('%s is read as it is sent, and counted by its account', (text, digits, account) => {
    expect(readRecipient(text, null)).toMatchObject({ digits, account });
  });
});
