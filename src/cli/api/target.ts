import { type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { secretArgument } from '../arguments.js';
import { ApiClient } from './api-client.js';

/** Options of every command that calls the API. */
export interface TargetOptions {
  url?: string;
  key?: string;
}

export const URL_OPTION = ['--url <url>', 'the service; default HERALD_URL, the demo, or this machine'] as const;
export const KEY_OPTION = [
  '--key <key>',
  'API key, or - for standard input; default HERALD_API_KEY, or the demo’s',
] as const;

export interface Target {
  api: ApiClient;
  /** The demo workspace's facts where its key is used; else empty. */
  demo: Partial<DemoFile>;
}

/**
 * Where to call, and as whom: options first, then settings, then the demo's file. The demo's key goes to the demo's
 * address only.
 *
 * @throws Error saying how to name a key where there is none.
 */
export async function targetOf({ url, key }: TargetOptions, signal?: AbortSignal): Promise<Target> {
  const config = loadClientConfig();
  const demo = readDemoFile(config.dataDir);
  const base = (url ?? config.url ?? demo.base_url ?? `http://127.0.0.1:${config.port}`).replace(/\/+$/, '');
  if (!/^https?:\/\//.test(base)) throw new Error(`${base} is no address: it must begin with http:// or https://`);
  const given = key === undefined ? config.apiKey : await secretArgument(key);
  if (given !== null) {
    const isDemo = given === demo.api_key && base === demo.base_url;
    return { api: new ApiClient(base, given, signal), demo: isDemo ? demo : {} };
  }
  if (demo.api_key !== undefined && base === demo.base_url) {
    return { api: new ApiClient(base, demo.api_key, signal), demo };
  }
  throw new Error(
    demo.api_key === undefined
      ? 'no API key: give --key or HERALD_API_KEY (herald key create makes one), or start the demo with "npm start"'
      : `no API key for ${base}: give --key or HERALD_API_KEY; the demo's is good for ${demo.base_url} only`,
  );
}
