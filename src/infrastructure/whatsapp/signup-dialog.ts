import type { Config } from '../config/config.js';
import { platformUrl } from './connect-options.js';

/** The Meta app of this service. */
export interface OwnApp {
  appId: string;
  appSecret: string;
}

/** The app's dialog for embedded signup, which grants access to the numbers of other businesses. */
export interface SignupDialog extends OwnApp {
  configId: string;
  apiVersion: string;
  /** The address of the simulator's dialog; null: Meta's is used. */
  simulatorUrl: string | null;
}

/** Null where META_APP_ID is not set. */
export function ownApp({ whatsapp }: Pick<Config, 'whatsapp'>): OwnApp | null {
  const { appId, signupAppSecret, appSecrets } = whatsapp;
  const appSecret = signupAppSecret ?? appSecrets?.[0] ?? null;
  return appId === null || appSecret === null ? null : { appId, appSecret };
}

/** Null where embedded signup is not set up. */
export function signupDialog(config: Pick<Config, 'process' | 'whatsapp'>): SignupDialog | null {
  const { process, whatsapp } = config;
  const app = ownApp(config);
  const { signupConfigId: configId, apiVersion } = whatsapp;
  if (app === null || configId === null) return null;
  const url = platformUrl(whatsapp);
  // Meta itself is never called without TLS; production refuses such an address.
  const isSimulated = process.roles.includes('simulator') || url.startsWith('http:');
  return { ...app, configId, apiVersion, simulatorUrl: isSimulated ? url : null };
}
