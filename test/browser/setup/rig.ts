import type { Page } from 'playwright-core';
import { newId } from '../../../src/common/ids.js';
import type { ConsoleRig } from '../console/rig.js';

export const RETURN_URL = 'https://app.example.com/numbers';

/** A setup link that the operator made by the API. */
export interface MadeLink {
  id: string;
  url: string;
  workspaceId: string;
}

export async function operator<T>(rig: ConsoleRig, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${rig.demo.base_url}/api/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${rig.demo.operator_key}`,
      'content-type': 'application/json',
      ...(method === 'POST' && { 'idempotency-key': newId() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: T }).data;
}

/** A link of a new workspace that has paid. */
export async function makeLink(rig: ConsoleRig, body: object = {}): Promise<MadeLink> {
  const workspace = await operator<{ id: string }>(rig, 'POST', '/workspaces', { name: 'Lighthouse Coffee' });
  await operator(rig, 'PATCH', `/workspaces/${workspace.id}`, { api_paid_until: '2099-12-31T00:00:00Z' });
  const path = `/workspaces/${workspace.id}/setup-links`;
  const { id, url } = await operator<{ id: string; url: string }>(rig, 'POST', path, body);
  return { id, url, workspaceId: workspace.id };
}

/** The window of the sign-up that the work opens. */
export async function signUp(page: Page, open: () => Promise<void>, outcome = 'done'): Promise<void> {
  const [dialog] = await Promise.all([page.waitForEvent('popup'), open()]);
  await dialog.locator('#outcome').selectOption(outcome);
  const closed = dialog.waitForEvent('close');
  await dialog.getByRole('button', { name: 'Finish' }).click();
  await closed;
}
