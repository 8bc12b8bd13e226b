import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { testKinds } from './kind-stage.js';
import { KINDS } from './notification-kinds.js';

describe('a notification', () => {
  const stage = testKinds(KINDS);

  it('of an erased person tells nothing', async () => {
    await stage.test.app.get(Erasure).erase(stage.workspace.organizationId, stage.scene.phone);
    const calls = KINDS.filter(({ label }) => label.startsWith("a customer's call"));
    expect(calls).toHaveLength(2);
    for (const kind of calls) await stage.come(kind);
    await stage.expectEvents([]);
  });
});
