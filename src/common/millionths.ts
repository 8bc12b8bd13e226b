/** Amounts of money are whole millionths, so that no sum is rounded. */
const PLACES = 6;

/** @param decimal digits with at most six decimal places. */
export function millionthsOf(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0').slice(0, PLACES));
}

/** A decimal with two places, or as many as it needs. @param millionths not negative. */
export function decimalText(millionths: bigint): string {
  const digits = millionths.toString().padStart(PLACES + 1, '0');
  return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES).replace(/0{1,4}$/, '')}`;
}
