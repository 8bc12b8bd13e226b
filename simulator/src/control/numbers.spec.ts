import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';

const TO = { to: '+4915112345678' };
const NUMBER = `/v26.0/${PHONE_NUMBER_ID}`;

describe('a control call about', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.stop());

  const change = (body: object, id = PHONE_NUMBER_ID) => rig.client.control('POST', `numbers/${id}`, body);
  const changes = () => rig.receiver.requests.flatMap(({ body }) => body.entry.flatMap((entry) => entry.changes));
  const notified = async (count: number) => {
    await rig.receiver.until('the notifications', () => changes().length >= count);
    return changes().map(({ field, value }) => [field, (value as unknown as { event?: string }).event]);
  };

  describe('a number', () => {
    it('changes its fields, and notifies', async () => {
      const answer = await change({ quality_rating: 'RED', messaging_limit: 'TIER_250', verified_name: 'New name' });
      expect(answer.json).toMatchObject({ quality_rating: 'RED', status: 'CONNECTED', verified_name: 'New name' });
      const fields = 'quality_rating,verified_name,whatsapp_business_manager_messaging_limit,throughput';
      expect((await rig.client.call('GET', `${NUMBER}?fields=${fields}`)).json).toEqual({
        id: PHONE_NUMBER_ID,
        quality_rating: 'RED',
        verified_name: 'New name',
        whatsapp_business_manager_messaging_limit: 'TIER_250',
        throughput: { level: 'STANDARD' },
      });
      expect(await notified(2)).toEqual([
        ['business_capability_update', undefined],
        ['phone_number_name_update', undefined],
      ]);
      expect(changes()[0]?.value).toMatchObject({ max_daily_conversations_per_business: 250 });
      await change({ quality_rating: 'GREEN', throughput: 'HIGH' });
      expect((await notified(3)).slice(2)).toEqual([['phone_number_quality_update', 'THROUGHPUT_UPGRADE']]);
    });

    it('notifies as until February 2026, where that is wanted', async () => {
      await change({ quality_rating: 'RED', messaging_limit: 'TIER_250', former_events: true });
      expect(await notified(3)).toEqual([
        ['phone_number_quality_update', 'FLAGGED'],
        ['phone_number_quality_update', 'DOWNGRADE'],
        ['business_capability_update', undefined],
      ]);
      const limits = { old_limit: 'TIER_2K', current_limit: 'TIER_250' };
      expect(changes()[1]?.value).toMatchObject({ display_phone_number: '16505550134', ...limits });
      expect(changes()[2]?.value).toMatchObject({ max_daily_conversations_per_business: 'TIER_250' });
    });

    it.each<[string, number, number, string | undefined]>([
      ['BANNED', 131031, 403, 'DISABLED_UPDATE'],
      ['RESTRICTED', 368, 403, 'ACCOUNT_RESTRICTION'],
      ['DISCONNECTED', 133010, 400, 'PARTNER_REMOVED'],
      ['PENDING', 133010, 400, undefined],
    ])('that is %s can send nothing: %i', async (status, code, http, event) => {
      await change({ status });
      const answer = await rig.client.send(TO);
      expect([answer.status, answer.json.error?.code]).toEqual([http, code]);
      expect((await rig.client.call('GET', `${NUMBER}?fields=status`)).json.status).toBe(status);
      if (event !== undefined) expect(await notified(1)).toEqual([['account_update', event]]);
      await change({ status: 'CONNECTED', notify: false });
      expect((await rig.client.send(TO)).status).toBe(200);
    });

    it('changes in silence, and keeps it over a restart', async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'simulator-numbers-'));
      const first = await startRig({ dataDir });
      await first.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, { quality_rating: 'YELLOW', notify: false });
      expect((await first.client.control('GET', 'count')).json.notifications).toMatchObject({ pending: 0 });
      await first.client.control('POST', 'tokens', { token: 'token', valid: false });
      await first.stop();
      expect(readFileSync(join(dataDir, 'state.jsonl'), 'utf8')).not.toContain('"token"');
      const second = await startRig({ dataDir });
      expect((await second.client.control('GET', `numbers/${PHONE_NUMBER_ID}`)).json.quality_rating).toBe('YELLOW');
      expect((await second.client.send(TO)).status).toBe(401);
      await second.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it.each<[string, number, object, string]>([
      ['an unknown number', 404, {}, '1'],
      ['a rating that is none', 400, { quality_rating: 'BLUE' }, PHONE_NUMBER_ID],
      ['a fact that is none', 400, { colour: 'BLUE' }, PHONE_NUMBER_ID],
    ])('says what is wrong with %s', async (_, status, body, id) => {
      const answer = await change(body, id);
      expect(answer.status).toBe(status);
      expect((answer.json.error as { message: string }).message).toMatch(/\S/);
    });
  });

  describe('a token', () => {
    it('makes it answer 190 everywhere, until it is good again', async () => {
      const calls = [
        () => rig.client.send(TO),
        () => rig.client.call('GET', NUMBER),
        () => rig.client.call('GET', `/v26.0/${WABA_ID}/message_templates`),
        () => rig.client.upload(Buffer.from('Hello'), 'text/plain'),
      ];
      const statuses = async () => {
        const answers = await Promise.all(calls.map((call) => call()));
        return answers.map(({ status, json }) => [status, json.error?.code, json.error?.error_subcode]);
      };
      await rig.client.control('POST', 'tokens', { token: 'token', valid: false });
      expect(await statuses()).toEqual(calls.map(() => [401, 190, 463]));
      await rig.client.control('POST', 'tokens', { token: 'token', valid: true });
      expect(await statuses()).toEqual(calls.map(() => [200, undefined, undefined]));
      await rig.client.control('POST', 'tokens', { token: 'token', valid: false });
      await rig.client.control('POST', 'reset');
      expect((await statuses())[0]).toEqual([200, undefined, undefined]);
      expect((await rig.client.control('POST', 'tokens', { token: 'token' })).status).toBe(400);
    });

    it('shows in debug_token', async () => {
      const debug = async (token: string) =>
        (await rig.client.call('GET', `/v26.0/debug_token?input_token=${token}`)).json.data;
      expect(await debug('token')).toMatchObject({
        is_valid: true,
        scopes: expect.arrayContaining(['whatsapp_business_messaging']),
        granular_scopes: expect.arrayContaining([{ scope: 'whatsapp_business_management', target_ids: [WABA_ID] }]),
      });
      expect(await debug('other')).toMatchObject({ is_valid: false, error: { code: 190 } });
      expect((await rig.client.call('GET', '/v26.0/debug_token')).status).toBe(400);
    });
  });

  describe('the whole platform', () => {
    it('cuts every call but the control calls while it is down, and takes nothing', async () => {
      await rig.client.control('POST', 'faults', { down: true });
      await expect(rig.client.send(TO)).rejects.toThrow(/closed|reset|terminated/i);
      await expect(rig.client.call('GET', NUMBER)).rejects.toThrow(/closed|reset|terminated/i);
      expect((await rig.client.control('GET', 'faults')).json).toMatchObject({ down: true });
      expect((await rig.client.control('GET', 'count')).json.count).toBe(0);
      await rig.client.control('POST', 'faults', { down: false });
      expect((await rig.client.send(TO)).status).toBe(200);
    });

    it('refuses connections for some time, and comes back on its port', async () => {
      expect((await rig.client.control('POST', 'faults', { down_for_ms: 250 })).status).toBe(200);
      const outcomes: string[] = [];
      const until = Date.now() + 20_000;
      while (Date.now() < until && !(outcomes.includes('ECONNREFUSED') && outcomes.at(-1) === '200')) {
        outcomes.push(
          await rig.client.call('GET', NUMBER).then(
            ({ status }) => String(status),
            (error: { code?: string }) => String(error.code),
          ),
        );
        // Not closed yet, or back again before the next call, on a machine that stood still: to be asked for once more.
        if (outcomes.at(-1) === '200' && !outcomes.includes('ECONNREFUSED')) {
          await rig.client.control('POST', 'faults', { down_for_ms: 250 }).catch(() => undefined);
        }
      }
      expect(outcomes).toContain('ECONNREFUSED');
      expect(outcomes.at(-1)).toBe('200');
    });

    it('refuses other calls than sends with any code, as often as asked for', async () => {
      await rig.client.control('POST', 'faults', { refusals: 2, refusal_code: 4 });
      expect((await rig.client.send(TO)).status).toBe(200);
      const codes = async () => {
        const { status, json } = await rig.client.call('GET', `/v26.0/${WABA_ID}/message_templates`);
        return [status, json.error?.code];
      };
      expect([await codes(), await codes(), await codes()]).toEqual([
        [429, 4],
        [429, 4],
        [200, undefined],
      ]);
    });

    it('can be stopped while it refuses', async () => {
      const other = await startRig();
      await other.client.control('POST', 'faults', { down_for_ms: 60_000 });
      await expect(
        (async () => {
          for (;;) await other.client.call('GET', NUMBER);
        })(),
      ).rejects.toThrow(/./);
      await other.stop();
    });
  });
});
