import { parseUrl } from '../../common/parse-url.js';
import { ConfigError } from './load-config.js';

/** What a caller of the API needs to know; where it runs there may be no service, no database and no other setting. */
export interface ClientConfig {
  /** Without a trailing slash; null: not set. */
  url: string | null;
  apiKey: string | null;
  dataDir: string;
  /** Port of a service on this machine. */
  port: number;
}

/**
 * Reads the settings of commands that speak to a service over HTTP. Nothing is validated but what they use.
 *
 * @throws ConfigError naming what is faulty.
 */
export function loadClientConfig(env: Record<string, string | undefined> = process.env): ClientConfig {
  const text = (name: string): string | null => env[name]?.trim() || null;
  const url = text('HERALD_URL');
  if (url !== null && !/^https?:$/.test(parseUrl(url)?.protocol ?? '')) {
    throw new ConfigError(['HERALD_URL must be a URL that begins with http:// or https://']);
  }
  const port = Number(text('PORT') ?? 3_000);
  return {
    url: url?.replace(/\/+$/, '') ?? null,
    apiKey: text('HERALD_API_KEY'),
    dataDir: text('DATA_DIR') ?? '.data',
    port: Number.isInteger(port) && port > 0 && port <= 65_535 ? port : 3_000,
  };
}
