import { Injectable } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseUrl } from '../../../common/parse-url.js';
import { Config } from '../../../infrastructure/config/config.js';
import { DeliveryClient } from '../delivery-client.js';
import { DEMO_RECEIVERS_FILE } from '../webhook.types.js';

/** This machine itself, by its number and so without any look-up, and no port of the system. */
const LOOPBACK = /^http:\/\/127\.0\.0\.1:([1-9]\d{3,4})\/$/;
const MIN_PORT = 1_024;
const LOCAL_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0']);

/**
 * Receivers on this machine to which the demo workspace may point its webhook, so that it can be tried without a setting.
 * An API key alone opens none: the very address must stand in a file that only the owner of DATA_DIR can write. No other
 * workspace has any, and there are none in production.
 */
@Injectable()
export class DemoReceivers {
  private organizationId: string | null = null;
  private client: DeliveryClient | null = null;

  constructor(private readonly config: Config) {}

  /** Says which workspace is the demo's; at its start. */
  allow(organizationId: string): void {
    if (this.config.process.environment !== 'production') this.organizationId = organizationId;
  }

  /** Whether this address, as it stands there, may be this workspace's webhook now. */
  isAllowed(organizationId: string, url: string): boolean {
    if (this.organizationId === null || this.organizationId !== organizationId) return false;
    const port = Number(LOOPBACK.exec(url)?.[1] ?? 0);
    return port >= MIN_PORT && port <= 65_535 && this.listening().includes(url);
  }

  /** What leads the demo workspace to a receiver on this machine; null: the address is not on it, or the workspace is another. */
  hintFor(organizationId: string, url: string): string | null {
    const { hostname, port } = parseUrl(url) ?? {};
    if (this.organizationId !== organizationId || hostname === undefined || !LOCAL_NAMES.has(hostname)) return null;
    return `In the demo, \`npx herald webhook set http://127.0.0.1:${port || '4000'}/\` allows a receiver on this machine.`;
  }

  /** What delivers to it; null: as to every other address. */
  clientFor(organizationId: string, url: string): DeliveryClient | null {
    if (!this.isAllowed(organizationId, url)) return null;
    this.client ??= new DeliveryClient({ allowPrivate: true });
    return this.client;
  }

  async close(): Promise<void> {
    await this.client?.close();
  }

  private listening(): unknown[] {
    try {
      const urls: unknown = JSON.parse(readFileSync(join(this.config.process.dataDir, DEMO_RECEIVERS_FILE), 'utf8'));
      return Array.isArray(urls) ? urls : [];
    } catch {
      return [];
    }
  }
}
