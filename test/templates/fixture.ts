import { TemplatesService } from '../../src/modules/templates/templates.service.js';
import type { Connection } from '../../src/modules/connections/connections.types.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { ManagementNotification } from '../../src/infrastructure/whatsapp/webhook-payload.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { platformId, type ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { FakeTemplates } from '../support/whatsapp/fake-templates.js';

export interface TemplateStage {
  test: TestApp;
  platform: FakeTemplates;
  stop: () => Promise<void>;
}

/** The application with a platform that has nothing but templates. */
export async function startTemplateStage(env: Record<string, string> = {}): Promise<TemplateStage> {
  const platform = await new FakeTemplates().start();
  const test = await startTestApp({
    roles: ['api', 'worker'],
    env: { WHATSAPP_API_URL: platform.url, ...env },
  }).catch(async (error: unknown) => {
    await platform.stop();
    throw error;
  });
  return {
    test,
    platform,
    stop: async () => {
      platform.endSilence();
      await test.stop();
      await platform.stop();
    },
  };
}

/** A workspace with two numbers of one account. */
export interface TemplateWorkspace {
  organizationId: string;
  wabaId: string;
  connection: ConnectionRow;
  /** Another number of the same account. */
  second: ConnectionRow;
  api: ApiClient;
  /** Address of the connection's templates. */
  path: string;
  /** By name and language, as the API shows it; undefined where it does not. */
  version(name?: string, language?: string): Promise<ApiResponse['body']['data']>;
  /** As the send path has it. */
  forSending(name?: string, language?: string): ReturnType<TemplatesService['forSending']>;
  notify(field: string, value: Record<string, unknown>, occurredAt?: Date | null): Promise<void>;
}

export async function templateWorkspace(test: TestApp, wabaId = platformId()): Promise<TemplateWorkspace> {
  const { factories, app } = test;
  const { id: organizationId } = await factories.workspace();
  const { text: key } = await factories.apiKey({ organizationId });
  const connection = await factories.connection({ organizationId, wabaId });
  const second = await factories.connection({ organizationId, wabaId });
  const api = test.api.as(key);
  const path = `/connections/${connection.id}/templates`;
  return {
    organizationId,
    wabaId,
    connection,
    second,
    api,
    path,
    version: async (name = 'order_update', language = 'en_US') => {
      const answer = await api.get(`${path}/${name}?language=${language}`);
      return answer.status === 200 ? answer.body.data.versions[0] : undefined;
    },
    forSending: async (name = 'order_update', language = 'en_US') => {
      const row: Connection = await app.get(ConnectionsService).getById(organizationId, connection.id);
      return app.get(TemplatesService).forSending(row, name, language);
    },
    notify: (field, value, occurredAt = new Date(Math.floor(Date.now() / 1_000) * 1_000)) => {
      const notification: ManagementNotification = { field, value, occurredAt, wabaId, phoneNumberId: null };
      return app.get(TemplatesService).applyNotification(notification);
    },
  };
}

/** Makes the mirror so old; the database's clock is the only one. */
export async function ageMirror(test: TestApp, wabaId: string, seconds: number): Promise<void> {
  const changed = await test.database.execute(
    `update template_account set synced_at = synced_at - make_interval(secs => $2),
       tried_at = tried_at - make_interval(secs => $2) where waba_id = $1`,
    [wabaId, seconds],
  );
  if (changed === 0) throw new Error(`there is no mirror of ${wabaId}`);
}
