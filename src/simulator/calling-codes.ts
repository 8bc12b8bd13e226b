/**
 * Country of the calling codes of one and two digits, and of the three-digit ones with most users. A code of three
 * digits that is not listed is still told apart: every prefix that is neither of one nor of two digits has three.
 */
// prettier-ignore
const COUNTRY_BY_CODE: Readonly<Record<string, string>> = {
  1: 'US', 7: 'RU', 20: 'EG', 27: 'ZA', 30: 'GR', 31: 'NL', 32: 'BE', 33: 'FR', 34: 'ES', 36: 'HU', 39: 'IT', 40: 'RO',
  41: 'CH', 43: 'AT', 44: 'GB', 45: 'DK', 46: 'SE', 47: 'NO', 48: 'PL', 49: 'DE', 51: 'PE', 52: 'MX', 53: 'CU', 54: 'AR',
  55: 'BR', 56: 'CL', 57: 'CO', 58: 'VE', 60: 'MY', 61: 'AU', 62: 'ID', 63: 'PH', 64: 'NZ', 65: 'SG', 66: 'TH', 81: 'JP',
  82: 'KR', 84: 'VN', 86: 'CN', 90: 'TR', 91: 'IN', 92: 'PK', 93: 'AF', 94: 'LK', 95: 'MM', 98: 'IR', 212: 'MA',
  213: 'DZ', 216: 'TN', 221: 'SN', 225: 'CI', 233: 'GH', 234: 'NG', 237: 'CM', 244: 'AO', 251: 'ET', 254: 'KE',
  255: 'TZ', 256: 'UG', 351: 'PT', 352: 'LU', 353: 'IE', 354: 'IS', 358: 'FI', 359: 'BG', 370: 'LT', 371: 'LV',
  372: 'EE', 380: 'UA', 381: 'RS', 385: 'HR', 386: 'SI', 420: 'CZ', 421: 'SK', 502: 'GT', 503: 'SV', 504: 'HN',
  505: 'NI', 506: 'CR', 507: 'PA', 591: 'BO', 593: 'EC', 595: 'PY', 598: 'UY', 852: 'HK', 880: 'BD', 886: 'TW',
  960: 'MV', 961: 'LB', 962: 'JO', 963: 'SY', 964: 'IQ', 965: 'KW', 966: 'SA', 968: 'OM', 971: 'AE', 972: 'IL',
  973: 'BH', 974: 'QA', 977: 'NP', 994: 'AZ', 995: 'GE', 998: 'UZ',
};

/** The calling code that a number in international digits begins with, such as `49`. */
export function callingCodeOf(digits: string): string {
  const one = digits.slice(0, 1);
  if (one in COUNTRY_BY_CODE) return one;
  const two = digits.slice(0, 2);
  return two in COUNTRY_BY_CODE ? two : digits.slice(0, 3);
}

/** ISO 3166 alpha-2 of a number in international digits; `ZZ` (user-assigned) where the table has none. */
export function countryOf(digits: string): string {
  return COUNTRY_BY_CODE[callingCodeOf(digits)] ?? 'ZZ';
}
