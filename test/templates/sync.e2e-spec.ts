import { jest } from '@jest/globals';
import { systemClock } from '../../src/common/clock.js';
import { Drain } from '../../src/infrastructure/http/drain.js';
import { newId } from '../../src/common/ids.js';
import { TemplateAccountsRepository } from '../../src/modules/templates/template-accounts.repository.js';
import { TemplatesRepository } from '../../src/modules/templates/templates.repository.js';
import { TemplateSync } from '../../src/modules/templates/template-sync.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { deferred } from '../support/deferred.js';
import { waitFor } from '../support/wait-for.js';
import {
  ageMirror,
  startTemplateStage,
  templateWorkspace,
  type TemplateStage,
  type TemplateWorkspace,
} from './fixture.js';
import { mirrored, whileListing } from './mirror.js';

let stage: TemplateStage;
let neighbour: TestApp;
let workspace: TemplateWorkspace;

beforeAll(async () => {
  stage = await startTemplateStage();
  neighbour = await startTestApp({
    roles: ['api'],
    env: { WHATSAPP_API_URL: stage.platform.url },
    shareWith: stage.test,
  });
});
afterAll(async () => {
  await neighbour.stop();
  await stage.stop();
});
beforeEach(async () => {
  workspace = await templateWorkspace(stage.test);
});
afterEach(() => {
  jest.restoreAllMocks();
  stage.platform.recover();
});

const TEXT = { name: 'order_update', language: 'en_US', category: 'UTILITY', body: 'Hello there, dear friend.' };

function report(event: string, occurredAt?: Date): Promise<void> {
  const [template] = stage.platform.of(workspace.wabaId);
  return workspace.notify(
    'message_template_status_update',
    {
      event,
      message_template_id: Number(template?.id),
      message_template_name: 'order_update',
      message_template_language: 'en_US',
      reason: null,
    },
    occurredAt,
  );
}

const secondsNow = (): number => Math.floor(Date.now() / 1_000);
const inSeconds = (seconds: number, now = secondsNow()): Date => new Date((now + seconds) * 1_000);

describe('a sync under way', () => {
  it('does not undo a notification', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await whileListing(stage, workspace, () => report('PAUSED', inSeconds(2)));
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'paused' });
  });

  it('does not undo a creation of ours, and its template is looked at again', async () => {
    await workspace.api.get(workspace.path);
    await whileListing(stage, workspace, () => workspace.api.post(workspace.path, TEXT));
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'pending' });
    // It is unknown which of the two is newer: the platform was asked once more, after the write.
    await waitFor(() => stage.platform.lists(workspace.wabaId).length >= 3, { what: 'the platform to be asked again' });
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(3);
  });

  it('finds the number that is connected among many that are not', async () => {
    await stage.test.database.execute(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext, created_at)
       select gen_random_uuid(), $1, $2 || '-' || n, $2, '15' || lpad(n::text, 9, '0'), 'disconnected', '\\x00',
         clock_timestamp() - interval '1 day'
       from generate_series(1, 1000) as n`,
      [workspace.organizationId, workspace.wabaId],
    );
    const key = { organizationId: workspace.organizationId, wabaId: workspace.wabaId };
    const { failure, syncedAt } = await stage.test.app.get(TemplateSync).refresh(key, { maxAgeMs: 0, waitMs: 30_000 });
    expect([failure, syncedAt]).toEqual([null, expect.any(Date)]);
  });

  it('is the only one, in however many processes', async () => {
    stage.platform.add(workspace.wabaId);
    const page = deferred();
    stage.platform.beforePage = () => page.promise;
    const elsewhere = neighbour.api.as((await keyOf(workspace.organizationId)).text);
    const asked = [
      ...[1, 2, 3].map(() => workspace.api.get(workspace.path)),
      ...[1, 2, 3].map(() => elsewhere.get(workspace.path)),
    ];
    await waitFor(() => [stage.test, neighbour].every(({ app }) => app.get(Drain).inFlight === 3));
    page.resolve();
    const answers = await Promise.all(asked);
    expect(answers.map(({ status, body }) => [status, body.data?.length])).toEqual(answers.map(() => [200, 1]));
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
  });

  it('does not begin where another one ended since the account was looked at', async () => {
    stage.platform.add(workspace.wabaId);
    const accounts = stage.test.app.get(TemplateAccountsRepository, { strict: false });
    const key = { organizationId: workspace.organizationId, wabaId: workspace.wabaId };
    const before = await accounts.get(key);
    await workspace.api.get(workspace.path);
    expect(await accounts.acquire(before, newId())).toBe(false);
    expect(await accounts.acquire(await accounts.get(key), newId())).toBe(true);
  });

  it('that was lost with its process is taken up by the next one', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await stage.test.database.execute(
      `update template_account set sync_owner = gen_random_uuid(), sync_started_at = clock_timestamp(),
         sync_until = clock_timestamp() - interval '1 second' where waba_id = $1`,
      [workspace.wabaId],
    );
    await ageMirror(stage.test, workspace.wabaId, 61);
    await workspace.api.get(workspace.path);
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(2);
  });
});

describe('notifications', () => {
  it('change the mirror at once, in whatever order and however often they come', async () => {
    stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    await ageMirror(stage.test, workspace.wabaId, 100);
    // The sweep may ask the platform where their order is unclear; it is not to help here.
    stage.platform.fate = () => ({ kind: 'cut' });
    const now = secondsNow();
    await report('PAUSED', inSeconds(-5, now));
    await report('PAUSED', inSeconds(-5, now));
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'paused' });
    await report('DISABLED', inSeconds(-1, now));
    await report('APPROVED', inSeconds(-3, now));
    await report('PAUSED', inSeconds(-5, now));
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'disabled' });
    await report('REINSTATED', inSeconds(0, now));
    expect(await mirrored(stage, workspace)).toEqual({ order_update: 'approved' });
    await report('DELETED', inSeconds(1, now));
    expect(await mirrored(stage, workspace)).toEqual({});
    await report('APPROVED', inSeconds(2, now));
    expect(await mirrored(stage, workspace)).toEqual({});
  });

  it('of quality and category change those, and nothing else', async () => {
    const template = stage.platform.add(workspace.wabaId);
    const before = await workspace.version();
    await ageMirror(stage.test, workspace.wabaId, 10);
    const identity = {
      message_template_id: Number(template.id),
      message_template_name: 'order_update',
      message_template_language: 'en-US',
    };
    template.quality_score = { score: 'YELLOW' };
    template.category = 'MARKETING';
    await workspace.notify('message_template_quality_update', {
      ...identity,
      previous_quality_score: 'GREEN',
      new_quality_score: 'YELLOW',
    });
    await workspace.notify('template_category_update', {
      ...identity,
      previous_category: 'UTILITY',
      new_category: 'MARKETING',
    });
    expect(await workspace.version()).toEqual({
      ...before,
      quality: 'YELLOW',
      category: 'MARKETING',
      updated_at: expect.any(String),
      synced_at: expect.any(String),
    });
    // Announced for tomorrow: nothing has changed yet.
    await workspace.notify('template_category_update', {
      ...identity,
      new_category: 'MARKETING',
      correct_category: 'UTILITY',
    });
    expect(await workspace.version()).toMatchObject({ category: 'MARKETING' });
  });

  it('of changed components, and of a template that is not known, make the platform be asked', async () => {
    const template = stage.platform.add(workspace.wabaId);
    await workspace.api.get(workspace.path);
    template.components = [{ type: 'BODY', text: 'Another text.' }];
    await workspace.notify('message_template_components_update', {
      message_template_id: Number(template.id),
      message_template_name: 'order_update',
      message_template_language: 'en_US',
      message_template_element: 'Another text.',
    });
    expect(await workspace.version()).toMatchObject({ components: template.components });
    const other = stage.platform.add(workspace.wabaId, { name: 'other' });
    await workspace.notify('message_template_status_update', {
      event: 'APPROVED',
      message_template_id: Number(other.id),
      message_template_name: 'other',
      message_template_language: 'en_US',
      reason: 'NONE',
    });
    expect(await workspace.version('other')).toMatchObject({ status: 'approved' });
  });

  it('reach every workspace that has the account, and none that has not', async () => {
    const other = await templateWorkspace(stage.test, workspace.wabaId);
    const stranger = await templateWorkspace(stage.test);
    for (const { wabaId } of [workspace, stranger]) stage.platform.add(wabaId);
    for (const { api, path } of [workspace, other, stranger]) await api.get(path);
    stage.platform.fate = () => ({ kind: 'cut' });
    await report('PAUSED', inSeconds(1));
    const statuses = await Promise.all(
      [workspace, other, stranger].map(async (each) => (await each.version()).status as string),
    );
    expect(statuses).toEqual(['paused', 'paused', 'approved']);
  });

  it('about nothing of ours are ignored', async () => {
    await workspace.notify('account_update', { event: 'DISABLED_UPDATE' });
    await workspace.notify('message_template_status_update', { event: 'APPROVED' });
    await workspace.notify('message_template_status_update', {
      event: 7,
      message_template_name: 'order_update',
      message_template_language: {},
    });
    expect(await mirrored(stage, workspace)).toEqual({});
  });
});

describe('what a send asks', () => {
  it('is answered from the mirror, at once after a notification', async () => {
    stage.platform.add(workspace.wabaId);
    // The clock stands: what is known is not forgotten by itself.
    const clock = jest.spyOn(systemClock, 'monotonic').mockReturnValue(systemClock.monotonic());
    const template = await workspace.forSending();
    expect(template.headerMedia).toBeNull();
    expect(template.render([{ type: 'body', parameters: [{ type: 'text', text: 'Ana' }] }])).toBe('Hello Ana.');
    expect(() => template.render([])).toThrow(
      expect.objectContaining({ code: 'TEMPLATE_PARAMETERS_MISMATCH', status: 422 }),
    );
    await report('PAUSED', inSeconds(1));
    await waitFor(
      () =>
        workspace.forSending().then(
          () => false,
          (error: unknown) =>
            expect(error).toMatchObject({ code: 'TEMPLATE_NOT_APPROVED', extra: { template_status: 'paused' } }) ===
            undefined,
        ),
      { what: 'the pause to be known' },
    );
    clock.mockRestore();
    await report('APPROVED', inSeconds(2));
    // A refusal rests on the database, never on what was known a moment ago.
    expect((await workspace.forSending()).headerMedia).toBeNull();
  });

  it('asks the platform once in a while for a template that is not known', async () => {
    for (let times = 0; times < 5; times++) {
      await expect(workspace.forSending('nothing')).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND', status: 422 });
    }
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
    stage.platform.add(workspace.wabaId);
    await ageMirror(stage.test, workspace.wabaId, 6);
    expect((await workspace.forSending()).headerMedia).toBeNull();
    // A language is a template of its own.
    await expect(workspace.forSending('order_update', 'de')).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
    await expect(workspace.forSending('order_update', 'en-US')).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
  });

  it('rests no refusal on what was read before another request had the mirror made', async () => {
    stage.platform.add(workspace.wabaId);
    const templates = stage.test.app.get(TemplatesRepository);
    const find = templates.find.bind(templates);
    let reads = 0;
    const spy = jest.spyOn(templates, 'find').mockImplementation(async (...place) => {
      const found = await find(...place);
      // The second is that before a refusal.
      if (++reads === 2) await workspace.forSending();
      return found;
    });
    try {
      expect((await workspace.forSending()).headerMedia).toBeNull();
    } finally {
      spy.mockRestore();
    }
  });

  it('costs the platform nothing while the answer is yes', async () => {
    stage.platform.add(workspace.wabaId);
    await Promise.all(Array.from({ length: 50 }, () => workspace.forSending()));
    await ageMirror(stage.test, workspace.wabaId, 3_000);
    await Promise.all(Array.from({ length: 50 }, () => workspace.forSending()));
    expect(stage.platform.lists(workspace.wabaId)).toHaveLength(1);
  });

  it('is no refusal where nothing is known yet and the platform is down', async () => {
    stage.platform.fate = () => ({ kind: 'cut' });
    await expect(workspace.forSending()).rejects.toMatchObject({ code: 'PLATFORM_UNAVAILABLE', status: 502 });
  });
});

function keyOf(organizationId: string): Promise<{ text: string }> {
  return stage.test.factories.apiKey({ organizationId });
}
