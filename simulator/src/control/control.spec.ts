import {
  APP_SECRET,
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
  WABA_ID,
} from '../../../test/support/simulator/simulator-rig.js';
import { waitFor } from '../../../test/support/wait-for.js';
import type { GraphAnswer } from '../../../test/support/simulator/simulator-client.js';
import { signatureOf } from '../../../test/support/simulator/notification-receiver.js';

const MESSAGE = { to: '+4915112345678' };

describe('a control call', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.stop());

  const inbound = (body: object) =>
    rig.client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, ...body });
  const faults = (body: object) => rig.client.control('POST', 'faults', body);
  const taken = (query = '') => rig.client.control('GET', `messages${query}`);
  const ids = (answer: GraphAnswer) => (answer.json.data as { id: string }[]).map(({ id }) => id);

  describe('inbound', () => {
    it('makes a text by default, with an id, a time and the customer', async () => {
      const answer = await inbound({ from: '+49 151 12345678' });
      await rig.receiver.until('the message', () => rig.receiver.messages().length === 1);
      const [request] = rig.receiver.requests;
      expect(request?.headers['x-hub-signature-256']).toBe(signatureOf(request?.bytes ?? Buffer.alloc(0), APP_SECRET));
      expect(request?.body).toEqual({
        object: 'whatsapp_business_account',
        entry: [
          {
            id: WABA_ID,
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: { display_phone_number: '16505550134', phone_number_id: PHONE_NUMBER_ID },
                  contacts: [{ profile: { name: 'Zoé 5678' }, wa_id: '4915112345678', user_id: expect.any(String) }],
                  messages: [
                    {
                      from: '4915112345678',
                      from_user_id: answer.json.user_id,
                      id: answer.json.id,
                      timestamp: expect.stringMatching(/^\d{10}$/),
                      type: 'text',
                      text: { body: 'Hello' },
                    },
                  ],
                },
              },
            ],
          },
        ],
      });
      expect(request?.bytes.includes('Zo\\u00e9')).toBe(true);
    });

    it('takes any message object, and a plain text', async () => {
      const image = { mime_type: 'image/jpeg', sha256: 'x', id: '1003' };
      await inbound({ from: '491', message: { type: 'image', image, context: { id: 'wamid.X', from: '1' } } });
      await inbound({ from: '491', message: 'Grüße' });
      await rig.receiver.until('both', () => rig.receiver.messages().length === 2);
      expect(rig.receiver.messages()).toMatchObject([
        { type: 'image', image, context: { id: 'wamid.X' } },
        { type: 'text', text: { body: 'Grüße' } },
      ]);
    });

    it('keeps an id and a time that are given, so that a repeat can be sent', async () => {
      const message = { id: 'wamid.SAME', timestamp: '1767000000', type: 'text', text: { body: 'twice' } };
      await inbound({ from: '491', message });
      await inbound({ from: '491', message });
      await rig.receiver.until('both', () => rig.receiver.messages().length === 2);
      for (const received of rig.receiver.messages()) expect(received).toMatchObject(message);
    });

    it('can hide number and profile, and knows the user id from then on', async () => {
      await inbound({ from: '4915112345678', user_id: 'DE.42', username: 'ana.l', profile_name: 'Ana' });
      await inbound({ from: '4915112345678', without_from: true, without_profile: true });
      await rig.receiver.until('both', () => rig.receiver.messages().length === 2);
      const [first, second] = rig.receiver.values();
      expect(first?.contacts).toEqual([
        { profile: { name: 'Ana', username: 'ana.l' }, wa_id: '4915112345678', user_id: 'DE.42' },
      ]);
      expect(second?.contacts).toEqual([{ user_id: 'DE.42' }]);
      expect(second?.messages?.[0]).not.toHaveProperty('from');
      expect(second?.messages?.[0]).toMatchObject({ from_user_id: 'DE.42' });

      const id = await rig.client.sendTaken(MESSAGE);
      await rig.receiver.until('sent', () => rig.receiver.statuses(id).length > 0);
      expect(rig.receiver.statuses(id)[0]?.recipient_user_id).toBe('DE.42');
    });

    it('works for a customer of whom only the user id is known', async () => {
      await inbound({ user_id: 'US.7', message: 'hi' });
      await rig.receiver.until('it', () => rig.receiver.messages().length === 1);
      expect(rig.receiver.messages()[0]).not.toHaveProperty('from');
    });

    it('sends a system message without contacts', async () => {
      await inbound({
        from: '491',
        message: { type: 'system', system: { type: 'user_changed_number', wa_id: '492' } },
      });
      await rig.receiver.until('it', () => rig.receiver.messages().length === 1);
      expect(rig.receiver.values()[0]).not.toHaveProperty('contacts');
    });

    it.each<[string, number, object]>([
      ['an unknown number', 404, { phone_number_id: '1', from: '491' }],
      ['no customer', 400, {}],
      ['a message without its content', 400, { from: '491', message: { type: 'image' } }],
      ['a message that is none', 400, { from: '491', message: [1] }],
      ['a flag that is none', 400, { from: '491', without_from: 'yes' }],
    ])('says what is wrong with %s', async (_, status, body) => {
      const answer = await inbound(body);
      expect(answer.status).toBe(status);
      expect((answer.json.error as { message: string }).message).toMatch(/\S/);
    });
  });

  describe('messages', () => {
    it('lists what was taken, in order, as it was sent', async () => {
      const body = {
        to: '+49 (151) 12345678',
        type: 'text',
        text: { body: 'é\t"x"' },
        biz_opaque_callback_data: 'a\tb',
      };
      const first = await rig.client.sendTaken(body);
      const second = await rig.client.sendTaken(MESSAGE, SECOND_PHONE_NUMBER_ID);
      const answer = await taken();
      expect(ids(answer)).toEqual([first, second]);
      expect(answer.json.data).toMatchObject([
        {
          id: first,
          to: '4915112345678',
          callback: 'a\tb',
          type: 'text',
          body: { messaging_product: 'whatsapp', ...body },
          taken_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          phone_number_id: PHONE_NUMBER_ID,
        },
        { callback: null, phone_number_id: SECOND_PHONE_NUMBER_ID },
      ]);
      expect(rig.simulator.messages.list()).toEqual(answer.json.data);
    });

    it('finds by recipient in any spelling, and by callback', async () => {
      const mine = await rig.client.sendTaken({ to: '+5531999990000', biz_opaque_callback_data: 'mine' });
      await rig.client.sendTaken({ ...MESSAGE, biz_opaque_callback_data: 'other' });
      for (const to of ['5531999990000', '%2B55%2031%2099999-0000', '553199990000']) {
        expect(ids(await taken(`?to=${to}`))).toEqual([mine]);
      }
      expect(ids(await taken('?callback=mine'))).toEqual([mine]);
      expect(ids(await taken('?to=5531999990000&callback=other'))).toEqual([]);
      expect(ids(await taken('?to=unknown'))).toEqual([]);
    });

    it('pages with limit and after, by cursor and by id', async () => {
      const all: string[] = [];
      for (let i = 0; i < 5; i++) all.push(await rig.client.sendTaken(MESSAGE));
      const first = await taken('?limit=2');
      expect(ids(first)).toEqual(all.slice(0, 2));
      expect(first.json.paging).toEqual({ after: expect.any(String), has_more: true });
      const { after } = first.json.paging as { after: string };
      expect(ids(await taken(`?limit=2&after=${after}`))).toEqual(all.slice(2, 4));
      const last = await taken(`?after=${encodeURIComponent(all[3] as string)}`);
      expect(ids(last)).toEqual(all.slice(4));
      expect(last.json.paging).toMatchObject({ has_more: false });
      expect((await taken('?limit=0')).status).toBe(400);
    });

    it('forgets the oldest beyond its bound, but counts on', async () => {
      const small = await startRig({ keepMessages: 10 });
      for (let i = 0; i < 60; i++) await small.client.sendTaken({ ...MESSAGE, biz_opaque_callback_data: String(i) });
      const kept = small.simulator.messages.list().map(({ callback }) => callback);
      expect(kept.length).toBeGreaterThanOrEqual(10);
      expect(kept.length).toBeLessThanOrEqual(26);
      expect(kept.at(-1)).toBe('59');
      expect((await small.client.control('GET', 'count')).json.count).toBe(60);
      await small.stop();
    });
  });

  describe('faults', () => {
    it('shows them all, and changes only what is given', async () => {
      expect((await faults({ latency_ms: 5 })).json).toEqual({
        drop_answers: 0,
        latency_ms: 5,
        error_rate: 0,
        statuses: 'on',
      });
      await faults({ drop_answers: true });
      await faults({ statuses: 'off' });
      const shown = (await rig.client.control('GET', 'faults')).json;
      expect(shown).toEqual({ drop_answers: 1, latency_ms: 5, error_rate: 0, statuses: 'off' });
    });

    it.each([{ drop_answers: 2 }, { latency_ms: 'long' }, { error_rate: -1 }, { statuses: 'some' }, { colour: 1 }])(
      'refuses %j',
      async (body) => {
        expect((await faults(body)).status).toBe(400);
      },
    );

    it('drop_answers cuts every answer, or a part of them; the message is taken', async () => {
      await faults({ drop_answers: 0.5 });
      const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => rig.client.send(MESSAGE)));
      const cut = outcomes.filter(({ status }) => status === 'rejected').length;
      expect(cut).toBeGreaterThan(10);
      expect(cut).toBeLessThan(50);
      expect(rig.simulator.messages.count).toBe(60);
      await faults({ drop_answers: true });
      await expect(rig.client.send(MESSAGE)).rejects.toThrow('other side closed');
      expect(rig.simulator.messages.count).toBe(61);
      expect((await rig.client.call('GET', `/v26.0/${PHONE_NUMBER_ID}`)).status).toBe(200);
    });

    it('error_rate refuses before anything happens', async () => {
      await faults({ error_rate: 1 });
      const answer = await rig.client.send(MESSAGE);
      expect([answer.status, answer.json.error?.code]).toEqual([500, 131000]);
      expect(rig.simulator.messages.count).toBe(0);
    });

    it('latency_ms delays the answer, not the message', async () => {
      await faults({ latency_ms: 20 });
      await rig.client.sendTaken(MESSAGE);
      // Longer than any test takes: it ends with the rig.
      await faults({ latency_ms: 60_000 });
      let answered = false;
      const end = (): void => void (answered = true);
      rig.client.send({ ...MESSAGE, biz_opaque_callback_data: 'late' }).then(end, end);
      await rig.receiver.until('read', () =>
        rig.receiver
          .statuses()
          .some((status) => status.biz_opaque_callback_data === 'late' && status.status === 'read'),
      );
      expect(answered).toBe(false);
    });

    it('statuses off drops them for good, also of messages taken before', async () => {
      await faults({ statuses: 'hold' });
      const early = await rig.client.sendTaken(MESSAGE);
      await faults({ statuses: 'off' });
      const silent = await rig.client.sendTaken(MESSAGE);
      const untold = () => rig.simulator.messages.page({}).messages.filter(({ doneSteps }) => doneSteps === 0);
      await waitFor(() => untold().every(({ id }) => id !== early));
      await faults({ statuses: 'on' });
      const loud = await rig.client.sendTaken(MESSAGE);
      await rig.receiver.until('read', () => rig.receiver.statuses(loud).length === 3);
      expect(rig.receiver.statuses(silent)).toEqual([]);
      expect(rig.receiver.statuses(early)).toEqual([]);
    });

    it('statuses hold keeps them until on', async () => {
      await faults({ statuses: 'hold' });
      const held = await rig.client.sendTaken(MESSAGE);
      await rig.client.control('POST', 'notify', { value: { marker: 1 } });
      await rig.receiver.until('the marker', () => rig.receiver.requests.length === 1);
      expect(rig.receiver.statuses(held)).toEqual([]);
      await faults({ statuses: 'on' });
      await rig.receiver.until('read', () => rig.receiver.statuses(held).length === 3);
      expect(rig.receiver.statuses(held).map(({ status }) => status)).toEqual(['sent', 'delivered', 'read']);
    });
  });

  it('reset forgets messages, notifications and faults, but no template and no id', async () => {
    rig.receiver.answer = () => 500;
    await faults({ latency_ms: 1, drop_answers: 0 });
    const before = await rig.client.sendTaken({ to: '+4915112340010' });
    await rig.receiver.until('a refused notification', () => rig.receiver.requests.length > 0);
    expect((await rig.client.control('POST', 'reset')).json).toEqual({ success: true });
    const about = ({ bytes }: { bytes: Buffer }) => bytes.includes(before.replaceAll('/', '\\/'));
    rig.receiver.answer = (request) => (about(request) ? 500 : 200);
    expect((await taken()).json.data).toEqual([]);
    expect((await rig.client.control('GET', 'faults')).json).toMatchObject({ latency_ms: 0 });
    // 0010 has forgotten the former message as well, and ids go on.
    const after = await rig.client.sendTaken({ to: '+4915112340010' });
    expect(after).not.toBe(before);
    await rig.receiver.until('read', () => rig.receiver.statuses(after).length === 3);
    // What was on its way when everything was forgotten may still come; nothing of it comes after that.
    const known = rig.receiver.requests.filter(about).length;
    const last = await rig.client.sendTaken(MESSAGE);
    await rig.receiver.until('read', () => rig.receiver.statuses(last).length === 3);
    expect(rig.receiver.requests.filter(about)).toHaveLength(known);
    await waitFor(() => rig.simulator.courier.pending === 0);
    expect((await rig.client.control('GET', 'count')).json).toEqual({
      count: 2,
      notifications: { pending: 0, acknowledged: 6, dropped: 0 },
      broken: { taken: 0, not_taken: 0 },
    });
    expect(rig.simulator.templates.ofAccount(WABA_ID)).toHaveLength(2);
  });

  it('notify posts any value or body, signed', async () => {
    const body = { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [] }], odd: 'é/' };
    await rig.client.control('POST', 'notify', { body });
    await rig.client.control('POST', 'notify', {
      value: { event: 'APPROVED' },
      field: 'message_template_status_update',
    });
    await rig.receiver.until('both', () => rig.receiver.requests.length === 2);
    const [first, second] = rig.receiver.requests;
    expect(first?.body).toEqual(body);
    expect(first?.headers['x-hub-signature-256']).toBe(signatureOf(first?.bytes ?? Buffer.alloc(0), APP_SECRET));
    expect(second?.body.entry).toEqual([
      {
        id: WABA_ID,
        time: expect.any(Number),
        changes: [{ value: { event: 'APPROVED' }, field: 'message_template_status_update' }],
      },
    ]);
    expect((await rig.client.control('POST', 'notify', {})).status).toBe(400);
  });

  it('numbers adds a number that can send at once', async () => {
    const number = { phone_number_id: '5550001', waba_id: '5550002', display_phone_number: '+44 1632 960001' };
    expect((await rig.client.control('POST', 'numbers', number)).json).toEqual({ success: true });
    expect((await rig.client.control('GET', 'numbers')).json.data).toContainEqual({
      ...number,
      verified_name: 'Simulated business',
    });
    await rig.client.sendTaken(MESSAGE, '5550001');
    expect(rig.simulator.templates.ofAccount('5550002')).toHaveLength(2);
    expect((await rig.client.control('POST', 'numbers', { ...number, waba_id: 'x' })).status).toBe(400);
  });

  it('health answers, and an unknown one is 404', async () => {
    expect((await rig.client.control('GET', 'health')).json).toEqual({ status: 'ok' });
    expect((await rig.client.control('GET', 'nothing')).status).toBe(404);
    expect((await rig.client.call('POST', '/_simulator/faults', '{"a"')).status).toBe(400);
  });
});
