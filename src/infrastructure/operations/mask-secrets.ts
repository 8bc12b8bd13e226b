/**
 * Texts that open something, by their own shape: our keys, webhook signing secrets, the platform's access tokens, other
 * bearers, passwords in addresses, proofs of signed links. And phone numbers: with their plus, or ten to fourteen digits
 * that stand alone (the platform's ids are longer, the digits of a UUID have neighbours). What stays readable is enough
 * to tell which one it was.
 */
const SECRETS: readonly { sign: string; pattern: RegExp; shown: string }[] = [
  { sign: 'hrld_', pattern: /(hrld_(?:live|test)_[0-9A-Za-z]{1,12})(?:_[0-9A-Za-z]*)?/g, shown: '$1_***' },
  { sign: 'whsec_', pattern: /whsec_[0-9A-Za-z+/=_-]+/g, shown: 'whsec_***' },
  { sign: 'EAA', pattern: /\bEAA[0-9A-Za-z]{16,}/g, shown: 'EAA***' },
  { sign: 'Bearer ', pattern: /Bearer (?!hrld_|EAA)[\w.~+/=-]{8,}/g, shown: 'Bearer ***' },
  { sign: '://', pattern: /(:\/\/[^:@/\s"]*):[^@/\s"]+@/g, shown: '$1:***@' },
  { sign: 'signature=', pattern: /signature=[\w-]{16,}/g, shown: 'signature=***' },
  { sign: '+', pattern: /\+\d{5,13}(\d{2})(?!\d)/g, shown: '+***$1' },
  { sign: '', pattern: /(?<![\w.+*-])\d{8,12}(\d{2})(?![\w.-])/g, shown: '***$1' },
];

/** The last line of defence before a log line is written: whatever a caller let slip is masked by its shape. */
export function maskSecrets(line: string): string {
  let masked = line;
  for (const { sign, pattern, shown } of SECRETS) {
    if (masked.includes(sign)) masked = masked.replace(pattern, shown);
  }
  return masked;
}
