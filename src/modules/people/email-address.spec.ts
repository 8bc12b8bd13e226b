import { addressOf } from './email-address.js';

it('an address is the same in upper and lower case', () => {
  expect(addressOf('Robin.Wells@Example.COM')).toBe('robin.wells@example.com');
});

it.each(['\u212Aim@example.com', 'kim@example.com\u0130', '\u017Fam@example.com'])(
  'the letters of %s become no others',
  (email) => {
    expect(addressOf(email)).toBe(email);
  },
);
