import { jest } from '@jest/globals';
import { TemplateSync } from '../../src/modules/templates/template-sync.js';
import { startTestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import {
  ageMirror,
  startTemplateStage,
  templateWorkspace,
  type TemplateStage,
  type TemplateWorkspace,
} from './fixture.js';

let stage: TemplateStage;
let workspace: TemplateWorkspace;

beforeAll(async () => {
  stage = await startTemplateStage();
});
afterAll(() => stage?.stop());
beforeEach(async () => {
  workspace = await templateWorkspace(stage.test);
});
afterEach(() => {
  jest.restoreAllMocks();
  stage.platform.fate = () => ({ kind: 'answer' });
  stage.platform.beforePage = () => undefined;
});

/** Lists, and while the platform's answer is on its way does something else; what the answer shows is old by then. */
async function whileListing(work: () => Promise<unknown>): Promise<void> {
  let worked: Promise<unknown> | undefined;
  stage.platform.beforePage = async ({ path }) => {
    if (!path.includes(workspace.wabaId)) return;
    await (worked ??= work());
  };
  await ageMirror(stage.test, workspace.wabaId, 61);
  await workspace.api.get(workspace.path);
  expect(worked).toBeDefined();
  await worked;
  stage.platform.beforePage = () => undefined;
}

/** What the mirror says, without asking the platform. */
async function mirrored(): Promise<Record<string, string>> {
  const rows = await stage.test.database.query<{ name: string; status: string }>(
    'select name, status from template where waba_id = $1 and deleted_at is null',
    [workspace.wabaId],
  );
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

describe('a sync under way', () => {
  it('does not undo a deletion of ours', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await whileListing(() => workspace.api.request({ method: 'DELETE', path: `${workspace.path}/order_update` }));
    expect(await mirrored()).toEqual({});
  });

  it('does not undo a change of ours', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    const components = [{ type: 'BODY', text: 'Hello there, dear friend.' }];
    await whileListing(() =>
      workspace.api.request({
        method: 'PATCH',
        path: `${workspace.path}/order_update`,
        body: { language: 'en_US', components },
      }),
    );
    expect(await mirrored()).toEqual({ order_update: 'pending' });
    expect(await workspace.version()).toMatchObject({ components });
  });

  it('changes nothing when another one has taken its place', async () => {
    const template = stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await whileListing(() => {
      template.status = 'PAUSED';
      return stage.test.database.execute(
        'update template_account set sync_owner = gen_random_uuid() where waba_id = $1',
        [workspace.wabaId],
      );
    });
    expect(await mirrored()).toEqual({ order_update: 'approved' });
    await stage.test.database.execute('update template_account set sync_until = null where waba_id = $1', [
      workspace.wabaId,
    ]);
  });

  it('is given back when the process ends', async () => {
    stage.platform.add(workspace.wabaId);
    const passing = await startTestApp({
      roles: ['api'],
      env: { WHATSAPP_API_URL: stage.platform.url, WHATSAPP_TIMEOUT_MS: '3000' },
      shareWith: stage.test,
    });
    // The one list of the process that ends; every waiting caller has an answer.
    let first = true;
    stage.platform.fate = () => {
      if (!first) return { kind: 'answer' };
      first = false;
      return { kind: 'silence' };
    };
    void passing.app.get(TemplateSync).refresh(workspace, { maxAgeMs: 0, waitMs: 0 });
    await waitFor(() => stage.platform.lists(workspace.wabaId).length > 0, { what: 'the list to be asked for' });
    await passing.stop();
    expect((await workspace.api.get(workspace.path)).body.data).toHaveLength(1);
  });
});
