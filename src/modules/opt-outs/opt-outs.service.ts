import { pageOf } from '../../infrastructure/http/pagination.response.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Database } from '../../infrastructure/database/database.js';
import type { InboundNotification } from '../../infrastructure/whatsapp/webhook-message.js';
import type { ManagementNotification, StatusNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import { Audit } from '../audit/audit.service.js';
import type { Connection } from '../connections/connections.types.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { Erasure } from '../workspaces/erasure/erasure.service.js';
import {
  type Keywords,
  type KeywordsByLanguage,
  MAX_LANGUAGES,
  meaningOf,
  readKeywords,
  refuseConflicts,
} from './opt-out-keywords.js';
import { optOutsErrors } from './opt-outs.errors.js';
import { type OptOutFilter, OptOutsRepository } from './opt-outs.repository.js';
import {
  OPTED_OUT_CODE,
  type OptOut,
  type OptOutCategory,
  type OptOutReport,
  type OptOutsFound,
  type OptOutTarget,
} from './opt-outs.types.js';
import { readUserPreferences } from './user-preferences.js';

/** Published when the keywords of a workspace changed. */
const KEYWORDS_CHANGED = 'opt_out_keywords';
const CACHE = { ttlMs: 60_000, maxEntries: 100_000 };

/** The person of the workspace's own opt-out: digits, or a user id. */
export interface NewOptOut {
  phone: string | null;
  userId: string | null;
  category: OptOutCategory;
  reason: string | null;
}

/** Opt-outs that WhatsApp reports, and those that the workspace records; neither changes the other. */
@Injectable()
export class OptOutsService implements OnModuleInit {
  private readonly keywordsOf = new ExpiringCache<string, KeywordsByLanguage>(CACHE);

  constructor(
    private readonly optOuts: OptOutsRepository,
    private readonly webhook: WebhookService,
    private readonly erasure: Erasure,
    private readonly audit: Audit,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
  ) {
    const { keywordsOf } = this;
    invalidation.on(KEYWORDS_CHANGED, (id) => (id === null ? keywordsOf.clear() : keywordsOf.delete(id)));
  }

  onModuleInit(): void {
    this.erasure.add({
      name: 'opt-outs',
      batch: async (subject, _cursor, erase) => ({
        found: { opt_outs: await this.optOuts.erase(subject, erase) },
        cursor: null,
      }),
    });
  }

  /** One page, newest first. */
  async list(organizationId: string, filter: OptOutFilter) {
    const found = await this.optOuts.page(organizationId, { ...filter, limit: filter.limit + 1 });
    return pageOf(found, filter.limit, ({ since }) => since);
  }

  /** Records that a person wants no messages of the workspace; repeating it changes at most the reason. */
  async put(organizationId: string, given: NewOptOut): Promise<OptOut> {
    const report = { ...given, organizationId, connectionId: null, source: 'own', optedOut: true, at: null } as const;
    const { entry, changed } = await this.optOuts.enter(report);
    if (changed) this.webhook.wake([organizationId]);
    return entry;
  }

  /** @throws OPT_OUT_NOT_FOUND (404), OPT_OUT_NOT_YOURS (409) for an entry that WhatsApp reported. */
  async remove(organizationId: string, id: string): Promise<void> {
    const result = await this.optOuts.remove(organizationId, id);
    if (result === 'missing') throw optOutsErrors.OPT_OUT_NOT_FOUND();
    if (result === 'platform') throw optOutsErrors.OPT_OUT_NOT_YOURS();
    this.webhook.wake([organizationId]);
  }

  /** For each message, in the same order, the opt-outs that block it. One statement. */
  find(targets: readonly OptOutTarget[]): Promise<OptOutsFound[]> {
    return this.optOuts.find(targets);
  }

  /** Records that WhatsApp refused a marketing message because the person opted out. */
  noteRefusal(given: Pick<OptOutReport, 'organizationId' | 'connectionId' | 'phone' | 'userId'>): Promise<void> {
    return this.enter([{ ...given, ...REFUSED, at: null }]);
  }

  /**
   * Applies a notification's reports about opt-outs. Repeatable, and in any order.
   *
   * @param connectionOf the number with this WhatsApp id; null: no workspace has it.
   */
  async applyNotification(
    notification: {
      management: readonly ManagementNotification[];
      statuses: readonly StatusNotification[];
      inbound: readonly InboundNotification[];
    },
    connectionOf: (phoneNumberId: string) => Promise<Connection | null>,
  ): Promise<void> {
    const reports: OptOutReport[] = [];
    const of = async (item: { phoneNumberId: string | null }) =>
      item.phoneNumberId === null ? null : connectionOf(item.phoneNumberId);
    for (const item of notification.management) {
      if (item.field !== 'user_preferences') continue;
      const number = await of(item);
      if (number === null) continue;
      for (const { at, detail: reason, ...preference } of readUserPreferences(item.value)) {
        reports.push({ ...ofNumber(number), ...preference, at: at ?? item.occurredAt, reason });
      }
    }
    for (const item of notification.statuses) {
      if (item.error?.code !== OPTED_OUT_CODE || item.status !== 'failed') continue;
      const number = await of(item);
      const { recipientId: phone, recipientUserId: userId, occurredAt: at } = item;
      if (number !== null && (phone ?? userId) !== null)
        reports.push({ ...ofNumber(number), ...REFUSED, phone, userId, at });
    }
    for (const item of notification.inbound) {
      if (!item.opensWindow || item.body === null || !WITH_KEYWORDS.has(item.type)) continue;
      const number = await of(item);
      if (number === null || (item.from ?? item.userId) === null) continue;
      const { organizationId } = number;
      const optedOut = meaningOf(item.body, await this.keywords(organizationId));
      if (optedOut === null) continue;
      const { from: phone, userId, occurredAt: at } = item;
      const own = { connectionId: null, source: 'own', category: 'marketing', reason: item.body.trim() } as const;
      reports.push({ organizationId, ...own, phone, userId, optedOut, at });
    }
    await this.enter(reports);
  }

  /** The words by which customers of the workspace opt out and in. */
  keywords(organizationId: string): Promise<KeywordsByLanguage> {
    return this.keywordsOf.get(organizationId, () => this.optOuts.keywords(organizationId));
  }

  /**
   * Sets the words of one language; null removes them.
   *
   * @throws OPT_OUT_KEYWORDS_INVALID (422) for an invalid language or word.
   */
  async setKeywords(organizationId: string, language: string, given: Keywords | null): Promise<KeywordsByLanguage> {
    const words = given === null ? null : readKeywords(language, given);
    const changed = await this.database.transaction(async () => {
      await this.optOuts.lock(organizationId);
      const { [language]: _before, ...others } = await this.optOuts.keywords(organizationId);
      const keywords = words === null ? others : { ...others, [language]: words };
      if (Object.keys(keywords).length > MAX_LANGUAGES)
        throw optOutsErrors.OPT_OUT_KEYWORDS_INVALID({ reason: `at most ${MAX_LANGUAGES} languages` });
      refuseConflicts(keywords);
      await this.optOuts.setKeywords(organizationId, keywords);
      const details = { languages: Object.keys(keywords) };
      await this.audit.record({
        action: 'workspace.opt_out_keywords_changed',
        organizationId,
        target: organizationId,
        details,
      });
      await this.invalidation.publish(KEYWORDS_CHANGED, organizationId);
      return keywords;
    });
    // The notice reaches this process too, but only after its next step.
    this.keywordsOf.delete(organizationId);
    return changed;
  }

  private async enter(reports: readonly OptOutReport[]): Promise<void> {
    const changed = new Set<string>();
    for (const report of reports) {
      if ((await this.optOuts.enter(report)).changed) changed.add(report.organizationId);
    }
    if (changed.size > 0) this.webhook.wake(changed);
  }
}

/** Types of messages with text that a customer chose: typed, or by a button such as "Stop promotions". */
const WITH_KEYWORDS: ReadonlySet<string> = new Set(['text', 'button']);

const REFUSED = {
  source: 'platform',
  category: 'marketing',
  optedOut: true,
  reason: `WhatsApp refused a message (${OPTED_OUT_CODE}).`,
} as const;

function ofNumber({ id: connectionId, organizationId }: Connection) {
  return { connectionId, organizationId, source: 'platform', category: 'marketing' } as const;
}
