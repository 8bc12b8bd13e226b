import { Injectable } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseUrl } from '../../../common/parse-url.js';
import { Config } from '../../../infrastructure/config/config.js';
import { DeliveryClient } from '../delivery-client.js';
import { DEMO_RECEIVERS_FILE } from '../webhook.types.js';

/** This machine, as an IP address so that no look-up is needed, with an unprivileged port. */
const LOOPBACK = /^http:\/\/127\.0\.0\.1:([1-9]\d{3,4})\/$/;
const MIN_PORT = 1_024;
const LOCAL_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0']);

/**
 * Receivers on this machine to which the demo workspace may point its webhook, so that it can be tried without a
 * setting. An API key alone allows none: the exact address must be in a file that only the owner of DATA_DIR can write.
 * No other workspace may use them, and there are none in production.
 */
@Injectable()
export class DemoReceivers {
  private organizationId: string | null = null;
  private client: DeliveryClient | null = null;

  constructor(private readonly config: Config) {}

  /** Registers the demo workspace; called at its start. */
  allow(organizationId: string): void {
    if (this.config.process.environment !== 'production') this.organizationId = organizationId;
  }

  /** Whether exactly this address may be this workspace's webhook now. */
  isAllowed(organizationId: string, url: string): boolean {
    if (this.organizationId === null || this.organizationId !== organizationId) return false;
    const port = Number(LOOPBACK.exec(url)?.[1] ?? 0);
    return port >= MIN_PORT && port <= 65_535 && this.listening().includes(url);
  }

  /**
   * Advice on how the demo workspace can use a receiver on this machine; null: the address is elsewhere, or it is
   * another workspace.
   */
  hintFor(organizationId: string, url: string): string | null {
    const { hostname, port } = parseUrl(url) ?? {};
    if (this.organizationId !== organizationId || hostname === undefined || !LOCAL_NAMES.has(hostname)) return null;
    return `In the demo, \`npx herald webhook set http://127.0.0.1:${port || '4000'}/\` allows a receiver on this machine.`;
  }

  /** The client for such a receiver; null: use the ordinary one. */
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
