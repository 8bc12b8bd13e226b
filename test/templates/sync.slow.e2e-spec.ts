import { jest } from '@jest/globals';
import { TemplateSync } from '../../src/modules/templates/template-sync.js';
import { startTestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startTemplateStage, templateWorkspace, type TemplateStage, type TemplateWorkspace } from './fixture.js';
import { mirrored, whileListing } from './mirror.js';

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
  stage.platform.recover();
});

describe('a sync under way', () => {
  it('does not undo a deletion of ours', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await whileListing(stage, workspace, () =>
      workspace.api.request({ method: 'DELETE', path: `${workspace.path}/order_update` }),
    );
    expect(await mirrored(stage, workspace)).toEqual({});
  });

  it('does not undo a change of ours', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    const components = [{ type: 'BODY', text: 'Hello there, dear friend.' }];
    await whileListing(stage, workspace, () =>
      workspace.api.request({
        method: 'PATCH',
        path: `${workspace.path}/order_update`,
        body: { language: 'en_US', components },
      }),
    );
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'pending' });
    expect(await workspace.version()).toMatchObject({ components });
  });

  it('changes nothing when another one has taken its place', async () => {
    const template = stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await whileListing(stage, workspace, () => {
      template.status = 'PAUSED';
      return stage.test.database.execute(
        'update template_account set sync_owner = gen_random_uuid() where waba_id = $1',
        [workspace.wabaId],
      );
    });
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'approved' });
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
