import { SimulatorClient } from '../support/simulator/simulator-client.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import type { SendingWorkspace } from './fixture.js';

/** A template as the platform keeps it, and what the platform decides about it. */
export interface PlatformTemplate {
  id: string;
  name: string;
  /** Lets the platform decide: `PAUSED`, `REINSTATED`, `DELETED` ...; it sends Herald a notification, or none. */
  review(event: string, options?: { notify: boolean }): Promise<void>;
}

/** Makes a template at the platform, behind Herald's back, and waits until it is approved and Herald could know it. */
export async function approvedTemplate(
  test: TestApp,
  workspace: SendingWorkspace,
  template: { name: string; language?: string; components: Record<string, unknown>[]; parameter_format?: string },
): Promise<PlatformTemplate> {
  const { wabaId, phoneNumberId } = workspace.connection;
  const client = new SimulatorClient(test.simulatorUrl ?? '', phoneNumberId);
  const id = await client.approvedTemplate(wabaId, { category: 'UTILITY', ...template });
  await knownToHerald(test, workspace, template.name);
  return {
    id,
    name: template.name,
    review: async (event, { notify } = { notify: true }) => {
      const answer = await client.control('POST', `templates/${id}/review`, { event, notify });
      if (answer.status !== 200) throw new Error(`not decided: ${answer.status} ${answer.text}`);
    },
  };
}

/** The platform's notification is on its way yet; an account that was never read is read when it is first sent from. */
async function knownToHerald(test: TestApp, { api, connection }: SendingWorkspace, name: string): Promise<void> {
  const [mirrored] = await test.database.query('select from template_account where waba_id = $1', [connection.wabaId]);
  if (mirrored === undefined) return;
  const path = `/connections/${connection.id}/templates/${name}`;
  await waitFor(async () => (await api.get(path)).body.data?.versions[0]?.status === 'approved', {
    what: `the template ${name} to come to Herald`,
  });
}

/** The body of a request that sends a template. */
export function templateBody(
  name: string,
  components?: Record<string, unknown>[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { type: 'template', text: undefined, template: { name, language: { code: 'en_US' }, components }, ...more };
}

export function bodyValues(...texts: string[]): Record<string, unknown> {
  return { type: 'body', parameters: texts.map((text) => ({ type: 'text', text })) };
}
