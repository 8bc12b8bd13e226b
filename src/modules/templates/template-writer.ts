import { Injectable } from '@nestjs/common';
import { commonErrors } from '../../common/common.errors.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { Database } from '../../infrastructure/database/database.js';
import { CloudApiClient, type PlatformRequest } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { own, ownText } from '../../infrastructure/whatsapp/json-access.js';
import {
  failure,
  isTokenRefused,
  platformError,
  type PlatformFailure,
} from '../../infrastructure/whatsapp/platform-result.js';
import { Config } from '../../infrastructure/config/config.js';
import { MediaService } from '../media/media.service.js';
import { MediaTransferService } from '../media/media-transfer.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { SendingConnection } from '../connections/connections.types.js';
import type { TemplateEntity } from './entities/template.entity.js';
import { checkTemplate } from './form/check-template.js';
import { keyOf as keyOfSample, samplesIn, withHandles } from './form/samples.js';
import { TemplateAccountsRepository, type AccountState } from './template-accounts.repository.js';
import { readTemplate } from './template-listing.js';
import { TEMPLATES_CHANGED } from './template-sync.js';
import { templatesErrors, writeError } from './templates.errors.js';
import { TemplatesRepository } from './templates.repository.js';
import { TemplatesService } from './templates.service.js';
import type { AccountKey, TemplateDraft, TemplateEdit } from './templates.types.js';

export interface WrittenTemplate {
  template: TemplateEntity;
  /** When the mirror was last compared with WhatsApp's list. */
  syncedAt: Date | null;
}

/** On a deletion: there is no such template. */
const NOT_FOUND_SUBCODE = 2_593_002;

/** It exists already, does not exist, or its status allows no change: the mirror has missed something. */
const MISSED = new Set([2_388_024, 33, NOT_FOUND_SUBCODE, 2_388_039]);

/** Maximum age of the mirror when a template is deleted. */
const FRESH_MS = 5_000;

/** Changes templates: first at WhatsApp, then in the mirror. */
@Injectable()
export class TemplateWriter {
  constructor(
    private readonly accounts: TemplateAccountsRepository,
    private readonly mirror: TemplatesRepository,
    private readonly templates: TemplatesService,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly media: MediaService,
    private readonly files: MediaTransferService,
    private readonly config: Config,
  ) {}

  /**
   * Submits a new template to WhatsApp's review.
   *
   * @param draft well-formed.
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409), PLATFORM_REJECTED (400), RATE_LIMITED (429) where
   * the platform's limit is reached; PLATFORM_UNAVAILABLE (502), PLATFORM_TIMEOUT (504): it may still exist.
   */
  async create(organizationId: string, connectionId: string, draft: TemplateDraft): Promise<WrittenTemplate> {
    const number = await this.connections.sendable(organizationId, connectionId);
    const account = await this.accounts.get(keyOf(number));
    const { name, language, category, parameterFormat, messageSendTtlSeconds } = draft;
    const components = await this.withSamples(number, draft.components);
    const json = {
      name,
      language,
      category,
      ...(parameterFormat === 'NAMED' ? { parameter_format: parameterFormat } : {}),
      message_send_ttl_seconds: messageSendTtlSeconds,
      components,
    };
    const path = `/${encodeURIComponent(number.wabaId)}/message_templates`;
    const answer = await this.call(number, { method: 'POST', path, json });
    // WhatsApp may have approved it at once, or changed its category.
    const status = ownText(answer, 'status') || 'PENDING';
    const given = { ...json, id: own(answer, 'id'), status, category: ownText(answer, 'category') || category };
    const created = readTemplate(given);
    if (created === null || created === 'gone')
      return this.fail(
        number,
        failure('unavailable', { message: 'The answer is no template: its id, status or category cannot be read.' }),
      );
    const template = await this.change(account, name, async () => {
      const known = await this.mirror.findRow(account, name, language);
      // A list or a notification came first: its report about this template is newer than the creation.
      if (known !== null && known.deletedAt === null && known.platformId === created.platformId) return known;
      return this.mirror.replace(account, created);
    });
    return { template, syncedAt: account.syncedAt };
  }

  /**
   * Replaces the components of one language of a template, and its time to live if given; WhatsApp reviews it again.
   *
   * @throws INVALID_REQUEST (400) for a malformed template, TEMPLATE_NOT_FOUND (404), and as `create`.
   */
  async edit(
    organizationId: string,
    connectionId: string,
    name: string,
    { language, ...edit }: TemplateEdit,
  ): Promise<WrittenTemplate> {
    const { versions } = await this.templates.get(organizationId, connectionId, name, language);
    const [version] = versions;
    if (version === undefined) throw templatesErrors.TEMPLATE_NOT_FOUND();
    const details = checkTemplate({ ...version, ...edit });
    if (details.length > 0) throw commonErrors.INVALID_REQUEST({ details });
    const number = await this.connections.sendable(organizationId, connectionId);
    const account = await this.accounts.get(keyOf(number));
    const components = await this.withSamples(number, edit.components);
    await this.call(number, {
      method: 'POST',
      path: `/${encodeURIComponent(version.platformId)}`,
      json: { components, message_send_ttl_seconds: edit.messageSendTtlSeconds },
    });
    const edited = { ...edit, components };
    const template = await this.change(account, name, () => this.mirror.edit(account, version.id, edited, account.now));
    // Deleted during the edit.
    if (template === null) throw templatesErrors.TEMPLATE_NOT_FOUND();
    return { template, syncedAt: account.syncedAt };
  }

  /**
   * Deletes all languages of a template. From then on it does not exist here, whatever WhatsApp still lists.
   *
   * @throws TEMPLATE_NOT_FOUND (404), and as `create`.
   */
  async remove(organizationId: string, connectionId: string, name: string): Promise<string[]> {
    // Fresh if possible, so that every language is known, and recognised if it is listed later.
    const { versions } = await this.templates.get(organizationId, connectionId, name, null, FRESH_MS);
    const number = await this.connections.sendable(organizationId, connectionId);
    const account = await this.accounts.get(keyOf(number));
    const result = await this.client.request({
      method: 'DELETE',
      path: `/${encodeURIComponent(number.wabaId)}/message_templates`,
      token: number.token,
      query: { name },
    });
    // Already deleted, elsewhere or by a request whose answer was lost.
    if (!result.ok && result.subcode !== NOT_FOUND_SUBCODE) return this.fail(number, result);
    const languages = await this.change(account, name, () => this.mirror.remove(account, name));
    if (languages.length > 0) return languages;
    if (!result.ok) throw templatesErrors.TEMPLATE_NOT_FOUND();
    // WhatsApp's own notification of this deletion came before its answer.
    return versions.map(({ language }) => language).sort();
  }

  /**
   * The components with handles in place of files, each of which is uploaded for the review.
   *
   * @throws META_APP_ID_MISSING (409), MEDIA_NOT_FOUND, MEDIA_TYPE_MISMATCH (422), and of the upload as `create`; then
   * there is no template.
   */
  private async withSamples(number: SendingConnection, components: TemplateEdit['components']) {
    const samples = samplesIn(components);
    if (samples.length === 0) return components;
    const { appId } = this.config.whatsapp;
    if (appId === null) throw templatesErrors.META_APP_ID_MISSING();
    for (const { mediaObjectId, type } of samples)
      await this.media.requireForSending(number.organizationId, mediaObjectId, type);
    const handles = new Map<string, string>();
    for (const sample of samples) {
      const result = await this.files.uploadSample(number, sample.mediaObjectId, appId);
      if (result === null) throw this.media.gone();
      if (!result.ok) {
        if (isTokenRefused(result)) await this.connections.requireOtherToken(number);
        throw platformError(result);
      }
      handles.set(keyOfSample(sample), result.body);
    }
    return withHandles(components, (sample) => handles.get(keyOfSample(sample)) ?? null);
  }

  private async call(number: SendingConnection, request: Omit<PlatformRequest, 'token'>): Promise<unknown> {
    const result = await this.client.request({ ...request, token: number.token });
    return result.ok ? result.body : this.fail(number, result);
  }

  /** Without a clear answer the state is unknown: the mirror stays, and WhatsApp is queried. */
  private async fail(number: SendingConnection, problem: PlatformFailure): Promise<never> {
    const { kind, code, subcode } = problem;
    if (kind !== 'rejected' || MISSED.has(subcode ?? code ?? 0)) {
      await this.accounts.markStale(keyOf(number));
    }
    if (isTokenRefused(problem)) await this.connections.requireOtherToken(number);
    throw writeError(problem);
  }

  /** Changes the mirror after WhatsApp has accepted a change that was sent when `account` was read. */
  private change<T>(account: AccountState, name: string, work: () => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      await this.accounts.lock(account);
      const result = await this.mirror.recordingChanges(account, name, work);
      await this.accounts.markWritten(account, account.now);
      await this.invalidation.publish(TEMPLATES_CHANGED, account.wabaId);
      return result;
    });
  }
}

function keyOf({ organizationId, wabaId }: SendingConnection): AccountKey {
  return { organizationId, wabaId };
}
