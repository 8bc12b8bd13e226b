import { request } from 'undici';
import {
  APP_SECRET,
  PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
} from '../../../test/support/simulator/simulator-rig.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { signatureOf } from '../../../test/support/simulator/notification-receiver.js';

const to = (lastDigits: string) => ({ to: `+49151123${lastDigits}` });
const names = (rig: SimulatorRig, id: string) => rig.receiver.statuses(id).map(({ status }) => status);

describe('the recipient', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig({ slowAnswerMs: 200 });
  });
  afterAll(() => rig.stop());

  /** All that will ever come has come: a later message, which takes as long as any, is through. */
  async function afterEverything(): Promise<void> {
    const last = await rig.client.sendTaken(to('9999'));
    await rig.receiver.until('the last status', () => names(rig, last).includes('read'));
    // On a busy machine what was due before may go together with it, on a connection of its own.
    await waitFor(() => rig.simulator.courier.pending === 0);
  }

  it('of any other number gets sent, delivered and read', async () => {
    const answer = await rig.client.send({ ...to('5555'), biz_opaque_callback_data: 'try-1' });
    expect(answer.status).toBe(200);
    const id = answer.json.messages?.[0]?.id ?? '';
    expect(answer.json).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: '+491511235555', wa_id: '491511235555' }],
      messages: [{ id }],
    });
    await rig.receiver.until('read', () => names(rig, id).includes('read'));
    expect(names(rig, id)).toEqual(['sent', 'delivered', 'read']);

    const [sent, delivered, read] = rig.receiver.statuses(id);
    expect(sent).toEqual({
      id,
      status: 'sent',
      timestamp: expect.stringMatching(/^\d{10}$/),
      recipient_id: '491511235555',
      recipient_user_id: expect.stringMatching(/^DE\.\d{20}$/),
      biz_opaque_callback_data: 'try-1',
      pricing: { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' },
    });
    expect(delivered?.pricing).toBeDefined();
    expect(read?.pricing).toBeUndefined();

    const requestsWith = (data: string) => rig.receiver.requests.filter(({ bytes }) => bytes.includes(data));
    for (const { bytes, headers } of requestsWith('try-1')) {
      expect(headers['x-hub-signature-256']).toBe(signatureOf(bytes, APP_SECRET));
    }
  });

  it('0001 is sent, and nothing more', async () => {
    const id = await rig.client.sendTaken(to('0001'));
    await rig.receiver.until('sent', () => names(rig, id).length > 0);
    await afterEverything();
    expect(names(rig, id)).toEqual(['sent']);
  });

  it.each([
    ['0002', 131026, 'Message undeliverable'],
    ['0011', 131047, 'Re-engagement message'],
  ])('%s is taken, and fails with %i by notification only', async (digits, code, title) => {
    const id = await rig.client.sendTaken(to(digits));
    await afterEverything();
    const statuses = rig.receiver.statuses(id);
    expect(statuses.map(({ status }) => status)).toEqual(['failed']);
    expect(statuses[0]?.errors).toEqual([expect.objectContaining({ code, title, message: title })]);
    expect(statuses[0]?.pricing).toBeUndefined();
    expect(statuses[0]?.recipient_user_id).toBeUndefined();
    const value = rig.receiver.values().find(({ statuses: some }) => some?.some((status) => status.id === id));
    expect(value?.contacts).toBeUndefined();
  });

  it('0003 is refused at once with 131009', async () => {
    const answer = await rig.client.send(to('0003'));
    expect([answer.status, answer.json.error?.code]).toEqual([400, 131009]);
    expect(rig.simulator.messages.list(to('0003'))).toEqual([]);
  });

  it('0004 is refused twice with 429, then taken, over and over', async () => {
    const codes: (number | undefined)[] = [];
    for (let i = 0; i < 6; i++) {
      const answer = await rig.client.send(to('0004'));
      codes.push(answer.status === 429 ? answer.json.error?.code : answer.status);
    }
    expect(codes).toEqual([130429, 130429, 200, 130429, 130429, 200]);
    expect(rig.simulator.messages.list(to('0004'))).toHaveLength(2);
  });

  it('0005 is taken, its connection cut without an answer, and its statuses follow', async () => {
    await expect(rig.client.send({ ...to('0005'), biz_opaque_callback_data: 'cut' })).rejects.toMatchObject({
      code: 'UND_ERR_SOCKET',
    });
    const [taken] = rig.simulator.messages.list(to('0005'));
    expect(taken?.callback).toBe('cut');
    await rig.receiver.until('read', () => names(rig, taken?.id ?? '').includes('read'));
    expect(rig.receiver.statuses(taken?.id)[0]?.biz_opaque_callback_data).toBe('cut');
  });

  it('0006 gets 500 without a body, and is not taken', async () => {
    const answer = await rig.client.send(to('0006'));
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([500, '', '0']);
    expect(rig.simulator.messages.list(to('0006'))).toEqual([]);
  });

  it('0007 is taken at once and reported as usual, though its answer takes long', async () => {
    expect((await rig.client.send(to('0007'))).status).toBe(200);
    const slower = await startRig({ slowAnswerMs: 60_000 });
    try {
      let answered = false;
      const end = (): void => void (answered = true);
      slower.client.send({ ...to('0007'), biz_opaque_callback_data: 'slow' }).then(end, end);
      await slower.receiver.until('read', () =>
        slower.receiver
          .statuses()
          .some((status) => status.biz_opaque_callback_data === 'slow' && status.status === 'read'),
      );
      expect(answered).toBe(false);
    } finally {
      await slower.stop();
    }
  });

  it('0008 is reported twice, in reverse order, before its answer', async () => {
    const before = rig.receiver.requests.length;
    const id = await rig.client.sendTaken(to('0008'));
    // None of them is missing when its answer is there.
    expect(names(rig, id)).toEqual(['read', 'delivered', 'sent', 'read', 'delivered', 'sent']);
    const requests = rig.receiver.requests.slice(before).filter(({ bytes }) => bytes.includes(id.slice(6, 30)));
    expect(requests).toHaveLength(6);
    await afterEverything();
    expect(names(rig, id)).toHaveLength(6);
  });

  it('0009 reads without `delivered`, and pays with `read`', async () => {
    const id = await rig.client.sendTaken(to('0009'));
    await afterEverything();
    expect(names(rig, id)).toEqual(['sent', 'read']);
    expect(rig.receiver.statuses(id)[1]?.pricing).toBeDefined();
  });

  it('0010 is refused with 131056 until some time has passed since the last message', async () => {
    const strict = await startRig({ pairLimitMs: 3_600_000 });
    const real = Date.now.bind(Date);
    let aheadMs = 0;
    const clock = import.meta.jest.spyOn(Date, 'now').mockImplementation(() => real() + aheadMs);
    const codes: (number | undefined)[] = [];
    try {
      // Each that is taken restarts the wait, and the refused attempts in between do not.
      for (const minutes of [0, 0, 50, 10, 50, 10]) {
        aheadMs += minutes * 60_000;
        const answer = await strict.client.send(to('0010'));
        codes.push(answer.status === 429 ? answer.json.error?.code : answer.status);
      }
    } finally {
      clock.mockRestore();
      await strict.stop();
    }
    expect(codes).toEqual([200, 131056, 131056, 200, 131056, 200]);
  });

  it('0012 writes back at once', async () => {
    const id = await rig.client.sendTaken(to('0012'));
    await rig.receiver.until('the reply', () => rig.receiver.messages().some(({ from }) => from === '491511230012'));
    const reply = rig.receiver.messages().find(({ from }) => from === '491511230012');
    expect(reply).toMatchObject({ type: 'text', text: { body: expect.any(String) }, timestamp: expect.any(String) });
    await afterEverything();
    expect(names(rig, id)).toEqual(['sent', 'delivered', 'read']);
    const read = await rig.client.call('POST', `/v26.0/${PHONE_NUMBER_ID}/messages`, {
      messaging_product: 'whatsapp',
      status: 'read',
      message_id: reply?.id,
      typing_indicator: { type: 'text' },
    });
    expect(read.json).toEqual({ success: true });
  });

  it('is selected by the last digits of a user id too, and its number is not shown', async () => {
    const answer = await rig.client.send({ recipient: 'DE.13491208655300001' });
    expect(answer.json.contacts).toEqual([{ input: 'DE.13491208655300001', user_id: 'DE.13491208655300001' }]);
    const id = answer.json.messages?.[0]?.id ?? '';
    await afterEverything();
    expect(names(rig, id)).toEqual(['sent']);
    expect(rig.receiver.statuses(id)[0]).not.toHaveProperty('recipient_id');
    expect(rig.receiver.statuses(id)[0]?.recipient_user_id).toBe('DE.13491208655300001');
  });

  it('is answered but never reached by a user id in `to`', async () => {
    const id = await rig.client.sendTaken({ to: 'DE.13491208655305555' });
    await afterEverything();
    expect(names(rig, id)).toEqual([]);
  });

  it('of a reaction goes through the same states', async () => {
    const reaction = { message_id: 'wamid.X', emoji: '\u{1F44D}' };
    const id = await rig.client.sendTaken({ ...to('5555'), type: 'reaction', reaction });
    await rig.receiver.until('read', () => names(rig, id).includes('read'));
    expect(names(rig, id)).toEqual(['sent', 'delivered', 'read']);
  });

  it('of a template is answered with its state, and billed', async () => {
    const template = {
      name: 'order_update',
      language: { code: 'en_US' },
      components: [{ type: 'body', parameters: ['Ana', '42'].map((text) => ({ type: 'text', text })) }],
    };
    const answer = await rig.client.send({ ...to('5555'), type: 'template', template });
    expect(answer.json.messages?.[0]?.message_status).toBe('accepted');
    const id = answer.json.messages?.[0]?.id ?? '';
    await rig.receiver.until('sent', () => names(rig, id).includes('sent'));
    expect(rig.receiver.statuses(id)[0]?.pricing).toMatchObject({ type: 'regular', category: 'utility' });
  });

  it('beyond the free ones of the month is charged, or fails where nothing can be paid', async () => {
    const change = (body: object) => rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, body);
    await rig.client.control('POST', 'reset');
    await change({ free_service_messages: 1 });
    const [free, charged] = [await rig.client.sendTaken(to('5555')), await rig.client.sendTaken(to('5555'))];
    await rig.receiver.until('both', () => [free, charged].every((id) => names(rig, id).includes('sent')));
    const pricing = (id: string) => rig.receiver.statuses(id)[0]?.pricing;
    expect([pricing(free), pricing(charged)]).toEqual([
      expect.objectContaining({ type: 'free_customer_service', billable: false }),
      expect.objectContaining({ type: 'regular', billable: true, category: 'service' }),
    ]);
    await change({ payment: 'MISSING' });
    const unpaid = await rig.client.sendTaken(to('5555'));
    await rig.receiver.until('failed', () => names(rig, unpaid).includes('failed'));
    expect(rig.receiver.statuses(unpaid)[0]?.errors?.[0]?.code).toBe(131042);
    await rig.client.control('POST', 'reset');
  });

  it('a text that is only sent is free while free ones are left, and uses none up', async () => {
    await rig.client.control('POST', 'reset');
    const change = (body: object) => rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}`, body);
    await change({ free_service_messages: 1 });
    const pricingOf = async (id: string): Promise<unknown> => {
      await rig.receiver.until('sent', () => names(rig, id).includes('sent'));
      return rig.receiver.statuses(id)[0]?.pricing;
    };
    const free = { type: 'free_customer_service', billable: false };
    for (const digits of ['0001', '0001', '5555']) {
      expect(await pricingOf(await rig.client.sendTaken(to(digits)))).toMatchObject(free);
    }
    expect(await pricingOf(await rig.client.sendTaken(to('0001')))).toMatchObject({ type: 'regular', billable: true });
    await rig.client.control('POST', 'reset');
  });

  describe('a failure that was asked for', () => {
    const ask = (failure: object) => rig.client.control('POST', 'failures', failure);
    const codeOf = async (id: string): Promise<unknown> => {
      await afterEverything();
      return rig.receiver.statuses(id)[0]?.errors?.[0]?.code;
    };
    afterEach(() => rig.client.control('POST', 'reset'));

    it.each([131049, 130472, 131030, 131045, 131057, 133004])('is reported with %i, so many times', async (code) => {
      expect((await ask({ code, to: to('7777').to, times: 1 })).status).toBe(200);
      expect(await codeOf(await rig.client.sendTaken(to('8888')))).toBeUndefined();
      expect(await codeOf(await rig.client.sendTaken(to('7777')))).toBe(code);
      expect(await codeOf(await rig.client.sendTaken(to('7777')))).toBeUndefined();
    });

    it('is an answer, of one number; that of a recipient goes first, and a reset ends both', async () => {
      await ask({ code: 131031, as: 'answer', phone_number_id: PHONE_NUMBER_ID, times: 3 });
      for (let n = 0; n < 2; n++) {
        const { status, json } = await rig.client.send(to('7777'));
        expect([status, (json.error as { code: number }).code]).toEqual([403, 131031]);
      }
      await ask({ code: 131049, to: to('7777').to });
      const own = await rig.client.sendTaken(to('7777'));
      await rig.receiver.until('the failure', () => rig.receiver.statuses(own)[0]?.errors?.[0]?.code === 131049);
      await rig.client.control('POST', 'reset');
      expect(await codeOf(await rig.client.sendTaken(to('7777')))).toBeUndefined();
    });

    it('is refused without a code', async () => {
      expect((await ask({ to: '4915112345678' })).status).toBe(400);
      expect((await ask({ code: 131049, as: 'letter' })).status).toBe(400);
    });
  });

  it('to a customer who never wrote gets 131047 where the window is enforced, but not a template', async () => {
    const strict = await startRig({ enforceWindow: true });
    try {
      const closed = await strict.client.sendTaken(to('7777'));
      await strict.client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, from: '491511238888' });
      const open = await strict.client.sendTaken(to('8888'));
      const hello = { name: 'hello_world', language: { code: 'en_US' } };
      const template = await strict.client.sendTaken({ ...to('7777'), type: 'template', template: hello });
      await strict.receiver.until('all', () => strict.receiver.statuses().length === 7);
      expect(strict.receiver.statuses(closed)[0]?.errors?.[0]?.code).toBe(131047);
      expect(names(strict, open)).toEqual(['sent', 'delivered', 'read']);
      expect(names(strict, template)).toEqual(['sent', 'delivered', 'read']);
    } finally {
      await strict.stop();
    }
  });

  it('waits for 60 seconds at 0007 unless set otherwise', async () => {
    const usual = await startRig();
    const answer = request(`${usual.url}/v26.0/${PHONE_NUMBER_ID}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer token' },
      body: JSON.stringify({ messaging_product: 'whatsapp', ...to('0007'), text: { body: 'hi' } }),
      headersTimeout: 400,
    });
    await expect(answer).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
    expect(usual.simulator.options.slowAnswerMs).toBe(60_000);
    await usual.stop();
  });
});
