import { newId } from '../../src/common/ids.js';
import type { ApiClient } from '../support/api-client.js';
import type { TestApp } from '../support/test-app.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

export interface Limits {
  perDay?: number;
  spend?: string;
  marketing?: number;
  zone?: string;
}

/** A workspace with these limits, whose calls have a key of their own, so that none knows the workspace without them. */
export async function limitedWorkspace(
  test: TestApp,
  { perDay, spend, marketing, zone = 'UTC' }: Limits,
): Promise<SendingWorkspace & { key: string }> {
  const workspace = await sendingWorkspace(test);
  await test.database.execute(
    `update organization set messages_per_day = $2, spend_per_month = $3, marketing_per_recipient_per_week = $4, time_zone = $5 where id = $1`,
    [workspace.organizationId, perDay ?? null, spend ?? null, marketing ?? null, zone],
  );
  const { text: key } = await test.factories.apiKey({ organizationId: workspace.organizationId });
  const api = test.api.as(key);
  const send: SendingWorkspace['send'] = (to, options) =>
    post(api, workspace, to, options?.body ?? {}, options?.key ?? newId());
  return { ...workspace, api, key, send };
}

export const post = (api: ApiClient, { connection }: SendingWorkspace, to: string, body: object, key: string) =>
  api.post(
    '/messages',
    { connection_id: connection.id, to, type: 'text', text: { body: 'hello' }, ...body },
    { headers: { 'idempotency-key': key } },
  );
