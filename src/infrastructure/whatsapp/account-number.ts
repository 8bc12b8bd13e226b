import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Mobile numbers of Argentina, Mexico and Brazil with an extra digit, which does not distinguish WhatsApp accounts. */
const WITH_EXTRA_DIGIT = /^(?:(54)9(\d{10})|(52)1(\d{10})|(55\d\d)9(\d{8}))$/;
const EXTRA_DIGITS: readonly (readonly [digit: string, at: number])[] = [
  ['9', 2],
  ['1', 2],
  ['9', 4],
];

/** One spelling for each WhatsApp account: without the extra digit in countries with two spellings. */
export function accountOf(digits: string): string {
  const short = digits.replace(WITH_EXTRA_DIGIT, '$1$2$3$4$5$6');
  // In Brazil the number without the digit may be another person's landline. In Argentina and Mexico each number is
  // assigned once.
  const isLandline = short.startsWith('55') && parsePhoneNumberFromString(`+${short}`)?.getType() === 'FIXED_LINE';
  return isLandline ? digits : short;
}

/** Whether a country has numbers with this code and length. */
export function isPossibleNumber(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.isPossible() === true;
}

/** ISO 3166 alpha-2; null where several countries share the code and the number does not tell which. */
export function countryOf(digits: string): string | null {
  return parsePhoneNumberFromString(`+${digits}`)?.country ?? null;
}

/** Codes of several countries, and the one with by far the most numbers. For +1 and +7, further digits decide. */
const SHARED_CODES: Readonly<Record<string, string>> = {
  '1': 'US',
  '7': 'RU',
  '39': 'IT',
  '44': 'GB',
  '47': 'NO',
  '61': 'AU',
  '76': 'KZ',
  '77': 'KZ',
  '212': 'MA',
  '262': 'RE',
  '290': 'SH',
  '358': 'FI',
  '590': 'GP',
  '599': 'CW',
};

/** Leading digits of each country's numbers; if two match, the longer one counts. */
export function countryPrefixes(): { prefix: string; country: string }[] {
  const prefixes = new Map<string, string>(getCountries().map((country) => [getCountryCallingCode(country), country]));
  for (let area = 200; area < 1_000; area++) {
    const country = countryOf(`1${area}2345678`);
    if (country !== null && country !== 'US') prefixes.set(`1${area}`, country);
  }
  for (const [prefix, country] of Object.entries(SHARED_CODES)) prefixes.set(prefix, country);
  return [...prefixes].map(([prefix, country]) => ({ prefix, country }));
}

let countries: ReadonlyMap<string, string> | null = null;

/** The country of a number by its leading digits, or of a user id, which begins with the country; null: unknown. */
export function countryOfRecipient(recipient: string): string | null {
  if (/^[A-Z]{2}\./.test(recipient)) return recipient.slice(0, 2);
  countries ??= new Map(countryPrefixes().map(({ prefix, country }) => [prefix, country]));
  for (let length = 4; length > 0; length--) {
    const country = countries.get(recipient.slice(0, length));
    if (country !== undefined) return country;
  }
  return null;
}

/** Every spelling of the number of the same account, the given one first. */
export function spellingsOf(digits: string): string[] {
  const account = accountOf(digits);
  const longer = EXTRA_DIGITS.map(([digit, at]) => account.slice(0, at) + digit + account.slice(at));
  return [account, ...longer.filter((each) => accountOf(each) === account)];
}
