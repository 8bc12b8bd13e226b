import { Injectable } from '@nestjs/common';
import { CacheInvalidation } from '../../infrastructure/access/cache-invalidation.js';
import { Database } from '../../infrastructure/database/database.js';
import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.types.js';
import { MirrorRepository } from './mirror.repository.js';
import { TemplateAccountsRepository } from './template-accounts.repository.js';
import { decide, readTemplateEvent, type TemplateEvent } from './template-events.js';
import { TEMPLATES_CHANGED, TemplateSync } from './template-sync.js';
import type { AccountKey } from './templates.types.js';

/** Applies what the platform tells of templates unasked. */
@Injectable()
export class TemplateNotifications {
  constructor(
    private readonly accounts: TemplateAccountsRepository,
    private readonly mirror: MirrorRepository,
    private readonly sync: TemplateSync,
    private readonly database: Database,
    private readonly invalidation: CacheInvalidation,
  ) {}

  /** In every workspace that has a mirror of the account; an account without one is read whole when it is first used. */
  async apply(notification: ManagementNotification): Promise<void> {
    const event = readTemplateEvent(notification);
    if (event === null || notification.wabaId === null) return;
    for (const account of await this.accounts.listByWaba(notification.wabaId)) {
      const stale = await this.database.transaction(() => this.applyTo(account, event));
      if (stale) this.sync.poke(account);
    }
  }

  /** Returns whether the platform must be asked. */
  private async applyTo(key: AccountKey, event: TemplateEvent): Promise<boolean> {
    const account = await this.accounts.lock(key);
    if (account === null) return false;
    const row = await this.mirror.findRow(key, event.name, event.language);
    const { change, stale } = decide(event, row, account.syncedAt);
    if (change !== null && row !== null) {
      await this.mirror.apply(key, row.id, change);
      await this.accounts.markChanged(key);
      await this.invalidation.publish(TEMPLATES_CHANGED, key.wabaId);
    }
    if (stale) await this.accounts.markStale(key);
    return stale;
  }
}
