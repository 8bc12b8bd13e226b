import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NotificationReceiver } from '../../test/support/simulator/notification-receiver.js';
import { SimulatorClient } from '../../test/support/simulator/simulator-client.js';
import { SimulatorProcess } from '../../test/support/simulator/simulator-process.js';
import { PHONE_NUMBER_ID, SECOND_PHONE_NUMBER_ID, WABA_ID } from '../../test/support/simulator/simulator-rig.js';
import { waitFor } from '../../test/support/wait-for.js';

const MESSAGE = { to: '+4915112345678' };

describe('a simulator that is started again', () => {
  const program = new SimulatorProcess();
  let dataDir: string;
  let receiver: NotificationReceiver;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'simulator-restart-'));
    receiver = await new NotificationReceiver().start();
  });
  afterEach(async () => {
    await program.end('SIGKILL');
    await receiver.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterAll(() => program.dispose());

  const start = async (...args: string[]) => {
    const url = await program.start('--data-dir', dataDir, '--webhook-url', receiver.url, ...args);
    return new SimulatorClient(url, PHONE_NUMBER_ID);
  };
  const pending = async (client: SimulatorClient) => {
    const { notifications } = (await client.control('GET', 'count')).json as { notifications: { pending: number } };
    return notifications.pending > 0;
  };
  const namesOf = (id: string) => [...new Set(receiver.statuses(id).map(({ status }) => status))];

  it('after kill -9 in the middle of 500 messages reports every status of every one it answered', async () => {
    const client = await start('--status-gap-ms', '40');
    const answered: string[] = [];
    const sending = Promise.allSettled(
      Array.from({ length: 500 }, async (_, i) => {
        answered.push(await client.sendTaken({ to: `+49151${20_001_005 + i * 10}`, biz_opaque_callback_data: `${i}` }));
      }),
    );
    await receiver.until('some statuses', () => receiver.statuses().length >= 30);
    await program.end('SIGKILL');
    await sending;
    expect(answered.length).toBeGreaterThan(0);
    const complete = () => answered.every((id) => namesOf(id).length === 3);
    expect(complete()).toBe(false);

    const again = await start('--status-gap-ms', '40');
    await receiver.until('every status', complete);
    const listed = (await again.control('GET', 'messages')).json.data as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(answered));
    // Acknowledged statuses are not repeated: a third start has nothing left to report.
    await waitFor(async () => !(await pending(again)));
    await program.end('SIGTERM');
    const before = receiver.requests.length;
    const third = await start();
    const id = await third.sendTaken(MESSAGE);
    await receiver.until('read', () => namesOf(id).length === 3);
    const reported = receiver.requests
      .slice(before)
      .flatMap(({ body }) => body.entry[0]?.changes[0]?.value.statuses ?? []);
    expect(new Set(reported.map((status) => status.id))).toEqual(new Set([id]));
  });

  it('still delivers a customer message that was not acknowledged', async () => {
    receiver.answer = () => 500;
    const client = await start();
    await client.control('POST', 'inbound', { phone_number_id: PHONE_NUMBER_ID, from: '491', message: 'Grüße' });
    await receiver.until('a refused try', () => receiver.requests.length > 0);
    await program.end('SIGKILL');
    receiver.answer = () => 200;
    const again = await start();
    await receiver.until('the message', () => receiver.messages().length === 1);
    const [message] = receiver.messages();
    expect(message).toMatchObject({ from: '491', text: { body: 'Grüße' } });
    const read = { messaging_product: 'whatsapp', status: 'read', message_id: message?.id };
    expect((await again.call('POST', `/v26.0/${PHONE_NUMBER_ID}/messages`, read)).json).toEqual({ success: true });
  });

  it('keeps its templates and added numbers, takes no id twice, and remembers a reset', async () => {
    const client = await start();
    const added = { phone_number_id: '5550001', waba_id: '5550002', display_phone_number: '+44 1632 960001' };
    await client.control('POST', 'numbers', added);
    const templates = async (one: SimulatorClient) =>
      (await one.call('GET', `/v26.0/${WABA_ID}/message_templates`)).json.data;
    const before = await templates(client);
    await client.sendTaken(MESSAGE);
    await client.control('POST', 'reset');
    const first = await client.sendTaken(MESSAGE);
    await program.end('SIGKILL');

    const again = await start();
    const second = await again.sendTaken(MESSAGE, SECOND_PHONE_NUMBER_ID);
    const third = await again.sendTaken(MESSAGE, '5550001');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await templates(again)).toEqual(before);
    const listed = (await again.control('GET', 'messages')).json.data as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual([first, second, third]);
  });

  it('keeps what it writes from other users of the machine', async () => {
    dataDir = join(dataDir, 'inside');
    const client = await start();
    await client.control('POST', 'tokens', { token: 'another', valid: false });
    await client.sendTaken(MESSAGE);
    await client.upload(Buffer.from('%PDF-1.7\n'), 'application/pdf');
    const paths = [dataDir, ...readdirSync(dataDir, { recursive: true }).map((name) => join(dataDir, String(name)))];
    expect(paths.some((path) => path.endsWith('state.jsonl'))).toBe(true);
    expect(paths.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
  });

  it('makes the same ids from the same seed, and others from another', async () => {
    const first: string[] = [];
    for (const seed of ['one', 'one', 'two']) {
      const url = await program.start('--seed', seed);
      first.push(await new SimulatorClient(url, PHONE_NUMBER_ID).sendTaken(MESSAGE));
      await program.end('SIGTERM');
    }
    expect(first[1]).toBe(first[0]);
    expect(first[2]).not.toBe(first[0]);
  });

  it('ends by itself on SIGTERM, with a request still waiting for its answer', async () => {
    const client = await start();
    const waiting = client.send({ to: '+4915112340007' });
    const outcome = waiting.then(
      () => 'answered',
      () => 'cut',
    );
    await receiver.until('its statuses', () => receiver.statuses().length > 0);
    expect(await program.end('SIGTERM')).toBe(0);
    expect(await outcome).toBe('cut');
  });

  it('refuses settings that make no sense', async () => {
    await expect(program.start('--number', 'one')).rejects.toThrow('ended before it listened');
    expect(await program.end('SIGTERM')).not.toBe(0);
  });
});
