/** Sets a variable that is not set, for libraries that take a switch from the environment only. */
export function environmentDefault(name: string, value: string): void {
  process.env[name] ??= value;
}
