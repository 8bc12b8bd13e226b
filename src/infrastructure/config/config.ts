import type { LoadedConfig } from './load-config.js';

/** The validated settings of this process, in typed sections. Injected by class, never constructed. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export abstract class Config {}
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export interface Config extends LoadedConfig {}

/** The same settings with some sections replaced. */
export function changedConfig(config: Config, sections: Partial<Config>): Config {
  return Object.assign({}, config, sections);
}

/** Sets an unset variable, for libraries that read a switch only from the environment. */
export function environmentDefault(name: string, value: string): void {
  process.env[name] ??= value;
}
