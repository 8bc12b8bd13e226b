import { PHONE_NUMBER_ID, type SimulatorRig, startRig } from '../../../test/support/simulator/simulator-rig.js';

const TO = '4915112345678';
const NUMBER = `/v26.0/${PHONE_NUMBER_ID}`;
const ASK = { messaging_product: 'whatsapp', sync_type: 'history' };

describe('a number that is in the WhatsApp Business app', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.stop());

  const inApp = (body: object) => rig.client.control('POST', `numbers/${PHONE_NUMBER_ID}/app`, body);
  const changes = () =>
    rig.receiver.requests.flatMap(({ body }) => body.entry.flatMap((entry) => entry.changes)) as unknown as {
      field: string;
      value: Record<string, unknown> & { history?: { metadata?: object; threads?: { messages: object[] }[] }[] };
    }[];
  const notified = async (count: number) => {
    await rig.receiver.until('the notifications', () => changes().length >= count);
    return changes();
  };

  it('announces what the business sends there, and what becomes of it', async () => {
    const { json } = await inApp({ action: 'send', to: TO, text: 'See you.', statuses: ['sent', 'failed'] });
    const [echo, sent, failed] = await notified(3);
    expect(echo).toMatchObject({
      field: 'smb_message_echoes',
      value: { message_echoes: [{ id: json.id, to: TO, to_user_id: expect.any(String), text: { body: 'See you.' } }] },
    });
    expect(sent).toMatchObject({ field: 'messages', value: { statuses: [{ id: json.id, status: 'sent' }] } });
    expect(failed).toMatchObject({ value: { statuses: [{ status: 'failed', errors: [{ code: 131026 }] }] } });
    expect((await rig.client.call('GET', `${NUMBER}?fields=is_on_biz_app`)).json).toMatchObject({
      is_on_biz_app: true,
    });
  });

  it('announces contacts', async () => {
    await inApp({ action: 'contact', to: TO, name: 'Ana Lima', change: 'remove' });
    const contact = { full_name: 'Ana Lima', first_name: 'Ana', phone_number: TO };
    expect(await notified(1)).toMatchObject([
      { field: 'smb_app_state_sync', value: { state_sync: [{ type: 'contact', contact, action: 'remove' }] } },
    ]);
  });

  it('sends 20 messages a second', async () => {
    const burst = async () => {
      const answers = await Promise.all(Array.from({ length: 60 }, () => rig.client.send({ to: `+${TO}` })));
      return answers.filter(({ status }) => status === 200).length;
    };
    expect(await burst()).toBe(60);
    await inApp({ action: 'contact', to: TO });
    const taken = await burst();
    expect(taken).toBeGreaterThanOrEqual(20);
    expect(taken).toBeLessThan(60);
    expect((await rig.client.send({ to: `+${TO}` })).json.error?.code ?? 130429).toBe(130429);
  });

  it('hands its history over when it is asked for, once, in phases, and a file apart', async () => {
    expect((await rig.client.call('POST', `${NUMBER}/smb_app_data`, ASK)).json.error?.code).toBe(100);
    await inApp({ action: 'history', contacts: 2, messages: 4, notify: false });
    expect((await rig.client.call('POST', `${NUMBER}/smb_app_data`, ASK)).json).toMatchObject({
      messaging_product: 'whatsapp',
      request_id: expect.any(String),
    });
    const found = await notified(4);
    expect(found.map(({ field }) => field)).toEqual(['history', 'history', 'history', 'history']);
    expect(found.map(({ value }) => value.history?.[0]?.metadata)).toEqual([
      { phase: 0, chunk_order: 1, progress: 33 },
      { phase: 1, chunk_order: 1, progress: 67 },
      { phase: 2, chunk_order: 1, progress: 100 },
      undefined,
    ]);
    const messages = found
      .flatMap(({ value }) => value.history?.[0]?.threads ?? [])
      .flatMap((thread) => thread.messages);
    expect(messages).toHaveLength(8);
    const placeholder = messages.find((message) => (message as { type: string }).type === 'media_placeholder');
    expect(found[3]?.value.messages).toMatchObject([
      { id: (placeholder as { id: string }).id, type: 'image', image: { id: expect.any(String) } },
    ]);
    expect((await rig.client.call('POST', `${NUMBER}/smb_app_data`, ASK)).status).toBe(400);
  });

  it('says that its history is not shared', async () => {
    expect((await inApp({ action: 'history', declined: true })).json).toMatchObject({ messages: 0 });
    expect(await notified(1)).toMatchObject([
      { field: 'history', value: { history: [{ errors: [{ code: 2593109 }] }] } },
    ]);
  });
});
