import { Injectable } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Database } from '../../infrastructure/database/database.js';
import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import { failure } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import type { PreviewData } from './dto/templates.response.js';
import type { TemplateEntity } from './entities/template.entity.js';
import { componentsOf, previewTemplate, renderBody } from './form/preview.js';
import { checkSendParameters, checkValues, headerMediaOf } from './form/send-parameters.js';
import type { PreviewInput } from './template-input.js';
import { TemplateAccountsRepository, type AccountState } from './template-accounts.repository.js';
import { decide, readTemplateEvent, type TemplateEvent } from './template-events.js';
import { TEMPLATES_CHANGED, TemplateSync, type Freshness } from './template-sync.js';
import { listError, notInLanguage, templatesErrors } from './templates.errors.js';
import { TemplatesRepository, type TemplateFilter, type TemplatePlace } from './templates.repository.js';
import type { AccountKey, SendableTemplate, TemplateCategory, TemplateValues } from './templates.types.js';

/** A template filled with a message's values. */
export interface ShownTemplate {
  category: TemplateCategory;
  /** GREEN, YELLOW, RED or UNKNOWN; null where WhatsApp reported none. */
  quality: string | null;
  preview: Omit<PreviewData, 'name' | 'language'>;
}

export interface TemplateVersions {
  /** By name and language. */
  versions: TemplateEntity[];
  /** When the mirror was last compared with WhatsApp's list. */
  syncedAt: Date | null;
}

/** Reads answer from the mirror after two seconds, however slow WhatsApp is; without a mirror they must wait. */
const READ: Freshness = { maxAgeMs: 60_000, waitMs: 2_000, firstWaitMs: 10_000 };
/** For templates missing in the mirror: they may have been created elsewhere a moment ago. */
const READ_UNKNOWN: Freshness = { ...READ, maxAgeMs: 5_000 };

/** A send waits less, because its caller can repeat it. */
const SEND: Freshness = { maxAgeMs: 60_000, waitMs: 2_000, firstWaitMs: 5_000 };
const SEND_UNKNOWN: Freshness = { ...SEND, maxAgeMs: 5_000 };

/** The workspace's message templates, from a mirror of the platform's list. */
@Injectable()
export class TemplatesService {
  /** Caches approved templates only, so that no refusal is based on a cache. */
  private readonly sendable = new ExpiringCache<string, SendableTemplate | null>({ ttlMs: 2_000, maxEntries: 10_000 });

  /** Decides the endpoint of a template's next message; notifications clear it. */
  private readonly categories = new ExpiringCache<string, TemplateCategory | null>({
    ttlMs: 10_000,
    maxEntries: 10_000,
  });

  constructor(
    private readonly templates: TemplatesRepository,
    private readonly accounts: TemplateAccountsRepository,
    private readonly connections: ConnectionsService,
    private readonly sync: TemplateSync,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
  ) {
    invalidation.on(TEMPLATES_CHANGED, () => {
      this.sendable.clear();
      this.categories.clear();
    });
  }

  /**
   * The templates of the connection's account, by name and language, after `after`, at most `limit`. `next` is the last
   * one of this page if more follow.
   *
   * @throws CONNECTION_NOT_FOUND (404); where the account could never be read, PLATFORM_UNAVAILABLE (502),
   * PLATFORM_TIMEOUT (504), PLATFORM_REJECTED (400).
   */
  async list(
    organizationId: string,
    connectionId: string,
    filter: TemplateFilter,
    { after, limit }: { after: TemplatePlace | null; limit: number },
  ): Promise<TemplateVersions & { next: TemplateEntity | null }> {
    const { wabaId } = await this.connections.getById(organizationId, connectionId);
    const { syncedAt } = requireMirror(await this.sync.refresh({ organizationId, wabaId }, READ));
    const found = await this.templates.page({ organizationId, wabaId }, filter, after, limit + 1);
    const versions = found.slice(0, limit);
    return { versions, syncedAt, next: found.length > limit ? (versions.at(-1) ?? null) : null };
  }

  /** How many templates the number's account had at the last sync. @throws CONNECTION_NOT_FOUND (404). */
  async count(organizationId: string, connectionId: string): Promise<number> {
    const { wabaId } = await this.connections.getById(organizationId, connectionId);
    return this.templates.count({ organizationId, wabaId });
  }

  /**
   * All languages of a template, or the requested one; never none.
   *
   * @param maxAgeMs the allowed age of the mirror, if WhatsApp can be reached
   * @throws CONNECTION_NOT_FOUND, TEMPLATE_NOT_FOUND (404), and as `list`.
   */
  async get(
    organizationId: string,
    connectionId: string,
    name: string,
    language: string | null,
    maxAgeMs = READ.maxAgeMs,
  ): Promise<TemplateVersions> {
    const { wabaId } = await this.connections.getById(organizationId, connectionId);
    const key = { organizationId, wabaId };
    let state = await this.sync.refresh(key, { ...READ, maxAgeMs });
    let versions = await this.find(key, name, language);
    if (versions.length === 0 && isName(name)) {
      state = await this.sync.refresh(key, READ_UNKNOWN);
      versions = await this.find(key, name, language);
    }
    if (versions.length > 0) return { versions, syncedAt: state.syncedAt };
    requireMirror(state);
    throw await this.notFound(key, name, language);
  }

  /**
   * Renders a template with these values; without a language an approved version comes first, then by language.
   *
   * @throws the same as `get`, and TEMPLATE_PARAMETERS_MISMATCH (422) for a value that a send refuses.
   */
  async preview(
    organizationId: string,
    connectionId: string,
    { template_name: name, language, parameters, components }: PreviewInput,
  ): Promise<PreviewData> {
    const { versions } = await this.get(organizationId, connectionId, name, language ?? null);
    const version = versions.find(({ status }) => status === 'approved') ?? versions[0];
    if (version === undefined) throw templatesErrors.TEMPLATE_NOT_FOUND();
    const sent = components ?? componentsOf(version, parameters);
    const mismatch = checkValues(version, sent);
    if (mismatch !== null) throw templatesErrors.TEMPLATE_PARAMETERS_MISMATCH(mismatch);
    return { name: version.name, language: version.language, ...previewTemplate(version, sent) };
  }

  /**
   * The template for sending. Cached for at most two seconds; before a refusal the database is read, and WhatsApp
   * queried if the mirror could be outdated.
   *
   * @param language in exactly WhatsApp's form, such as `en_US`.
   * @throws TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED (422); where the account could never be read,
   * PLATFORM_UNAVAILABLE (502), PLATFORM_TIMEOUT (504), PLATFORM_REJECTED (400).
   */
  async forSending(connection: Connection, name: string, language: string): Promise<SendableTemplate> {
    const { organizationId, wabaId } = connection;
    const key = { organizationId, wabaId };
    const cached = await this.sendable.get(`${organizationId}/${wabaId}/${language}/${name}`, async () => {
      const found = await this.findOne(key, name, language);
      return found?.status === 'approved' ? sendableOf(found) : null;
    });
    if (cached !== null) return cached;
    const known = await this.findOne(key, name, language);
    if (known?.status === 'approved') return sendableOf(known);
    const state = await this.sync.refresh(key, known === null ? SEND_UNKNOWN : SEND);
    // Read again, because another request may have filled the mirror meanwhile.
    const template = await this.findOne(key, name, language);
    if (template?.status === 'approved') return sendableOf(template);
    if (template !== null) throw templatesErrors.TEMPLATE_NOT_APPROVED({ status: template.status });
    requireMirror(state);
    throw (await this.notFound(key, name, language)).withKind('unprocessable');
  }

  /** The latest confirmed category; null where the mirror does not have the template. At most ten seconds old. */
  categoryOf({ organizationId, wabaId }: Connection, name: string, language: string): Promise<TemplateCategory | null> {
    return this.categories.get(`${organizationId}/${wabaId}/${language}/${name}`, async () => {
      const found = await this.findOne({ organizationId, wabaId }, name, language);
      return found?.category ?? null;
    });
  }

  /** The template in the mirror, in any status; null where there is none. */
  async shown(
    { organizationId, wabaId }: Connection,
    name: string,
    language: string,
    sent: readonly unknown[] | TemplateValues,
  ): Promise<ShownTemplate | null> {
    const found = await this.findOne({ organizationId, wabaId }, name, language);
    if (found === null) return null;
    const components = isList(sent) ? sent : componentsOf(found, sent);
    return { category: found.category, quality: found.quality, preview: previewTemplate(found, components) };
  }

  /** WhatsApp refused a template that the mirror has as valid: its list is requested within seconds. */
  suspect({ organizationId, wabaId }: Connection): Promise<void> {
    return this.sync.suspect({ organizationId, wabaId });
  }

  /**
   * Applies a notification about templates in every workspace with a mirror of the account. Idempotent, in any order:
   * if two can't be ordered, WhatsApp's list decides.
   */
  async applyNotification(notification: ManagementNotification): Promise<void> {
    const event = readTemplateEvent(notification);
    if (event === null || notification.wabaId === null) return;
    for (const account of await this.accounts.listByWaba(notification.wabaId)) {
      const stale = await this.database.transaction(() => this.apply(account, event));
      if (stale) this.sync.poke(account);
    }
  }

  /** Returns whether WhatsApp must be queried. */
  private async apply(key: AccountKey, event: TemplateEvent): Promise<boolean> {
    const account = await this.accounts.lock(key);
    if (account === null) return false;
    const row = await this.templates.findRow(key, event.name, event.language);
    const { change, stale } = decide(event, row, account.syncedAt);
    if (change !== null && row !== null) {
      await this.templates.recordingChanges(key, row.name, () => this.templates.apply(key, row.id, change));
      await this.accounts.markChanged(key);
      await this.invalidation.publish(TEMPLATES_CHANGED, key.wabaId);
    }
    if (stale) await this.accounts.markStale(key);
    return stale;
  }

  private async notFound(key: AccountKey, name: string, language: string | null): Promise<AppError> {
    const others = language === null ? [] : await this.find(key, name, null);
    if (language === null || others.length === 0) return templatesErrors.TEMPLATE_NOT_FOUND();
    return notInLanguage(
      language,
      others.map((version) => version.language),
    );
  }

  private async find(key: AccountKey, name: string, language: string | null): Promise<TemplateEntity[]> {
    if (!isName(name)) return [];
    const versions = await this.templates.versions(key, name);
    const wanted = language?.replaceAll('-', '_');
    return wanted === undefined ? versions : versions.filter((version) => version.language === wanted);
  }

  private async findOne(key: AccountKey, name: string, language: string): Promise<TemplateEntity | null> {
    return isName(name) ? this.templates.find(key, name, language) : null;
  }
}

function sendableOf(template: TemplateEntity): SendableTemplate {
  return {
    category: template.category,
    headerMedia: headerMediaOf(template.components),
    componentsOf: (values) => componentsOf(template, values),
    render(components) {
      const mismatch = checkSendParameters(template, components);
      if (mismatch !== null) throw templatesErrors.TEMPLATE_PARAMETERS_MISMATCH(mismatch);
      return renderBody(template, components);
    },
  };
}

function isList(sent: readonly unknown[] | TemplateValues): sent is readonly unknown[] {
  return Array.isArray(sent);
}

/** An invalid name is not looked up, neither here nor at WhatsApp. */
function isName(name: string): boolean {
  return /^[a-z0-9_]{1,512}$/.test(name);
}

/** An empty answer from a mirror that was never filled would mean that there are no templates. */
function requireMirror(state: AccountState): AccountState {
  if (state.syncedAt !== null) return state;
  throw listError(
    state.failure ?? failure('timeout', { message: 'The first list of the templates is still on its way.' }),
  );
}
