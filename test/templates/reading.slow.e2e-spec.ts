import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { waitFor } from '../support/wait-for.js';
import { ageMirror, startTemplateStage, templateWorkspace, type TemplateStage } from './fixture.js';

let stage: TemplateStage;

beforeAll(async () => {
  stage = await startTemplateStage({ WHATSAPP_TIMEOUT_MS: '4000' });
});
afterAll(() => stage.stop());
afterEach(() => stage.platform.recover());

describe('while the platform is down', () => {
  it('answers from the mirror while the platform is silent, and asks it no more once it has failed', async () => {
    const workspace = await templateWorkspace(stage.test);
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await ageMirror(stage.test, workspace.wabaId, 61);
    stage.platform.fate = () => ({ kind: 'silence' });
    for (let n = 0; n < 2; n++) {
      expect((await workspace.api.get(workspace.path)).status).toBe(200);
      expect(await failuresOf(workspace.wabaId)).toBe(0);
    }
    // The sync gives up when the platform's time is over; from then on no caller waits.
    await waitFor(async () => (await failuresOf(workspace.wabaId)) > 0, { what: 'the sync to fail' });
    const lists = stage.platform.lists(workspace.wabaId).length;
    for (const work of [
      () => workspace.api.get(workspace.path),
      () => workspace.api.get(`${workspace.path}/order_update`),
      () => workspace.api.post(`${workspace.path}/preview`, { template_name: 'order_update' }),
    ]) {
      expect((await work()).status).toBe(200);
    }
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(lists);
  });
});

describe('the sweep', () => {
  it('syncs many accounts, a few at a time, and does not wait for a platform that is silent', async () => {
    const workspaces = await Promise.all(Array.from({ length: 20 }, () => templateWorkspace(stage.test)));
    for (const { api, path } of workspaces) await api.get(path);
    let under = 0;
    let most = 0;
    stage.platform.fate = async () => {
      most = Math.max(most, ++under);
      // The first answers wait for a second question, which comes at once where syncs run beside each other.
      await waitFor(() => most > 1, { what: 'a second sync beside the first' });
      under--;
      return { kind: 'answer' };
    };
    for (const { wabaId } of workspaces) await ageMirror(stage.test, wabaId, 3_601);
    await waitFor(
      async () => {
        await sweep();
        return workspaces.every(({ wabaId }) => stage.platform.lists(wabaId).length > 1);
      },
      { what: 'all accounts to be synced' },
    );
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);

    stage.platform.fate = () => ({ kind: 'silence' });
    for (const { wabaId } of workspaces) await ageMirror(stage.test, wabaId, 3_601);
    // It ended before the platform's time was over for all of them, and began no more.
    expect(await sweep()).toBeLessThan(workspaces.length);
  });
});

function sweep(): Promise<number> {
  return stage.test.app.get(Sweeps).runNow('templates');
}

async function failuresOf(wabaId: string): Promise<number> {
  const [row] = await stage.test.database.query<{ failures: number }>(
    'select failures from template_account where waba_id = $1',
    [wabaId],
  );
  return row?.failures ?? 0;
}
