/** For what a test knows to be there: `const [first = never()] = list`. */
export function never(): never {
  throw new Error('it is missing');
}
