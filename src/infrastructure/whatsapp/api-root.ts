import type { Config } from '../config/config.js';

/** Where the platform is called: an origin, and the path before every endpoint's own. */
export interface ApiRoot {
  /** Scheme, host and port. */
  readonly origin: string;
  /** `/v26.0`, after a path of the address where it has one. */
  readonly path: string;
}

/** The address of the platform: the one that is set, or that of the simulator on this machine. */
export function platformUrl({ apiUrl, simulatorPort }: Pick<Config['whatsapp'], 'apiUrl' | 'simulatorPort'>): string {
  return apiUrl ?? `http://127.0.0.1:${simulatorPort}`;
}

/** @throws Error when the address or the version can't be used. */
export function apiRootOf(baseUrl: string, apiVersion: string): ApiRoot {
  const { origin, protocol, pathname } = new URL(baseUrl);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new Error('the address of the platform must begin with https:// or http://');
  }
  if (!/^v\d+\.\d+$/.test(apiVersion)) throw new Error('the version of the platform must look like v26.0');
  return { origin, path: `${pathname.replace(/\/+$/, '')}/${apiVersion}` };
}
